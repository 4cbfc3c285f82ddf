"""What is read back of code is what that does when it is executed (executing.py)."""

from pathlib import Path

import pytest

from tests.compilers.executing import ASSEMBLED, require, wrong


@pytest.mark.parametrize(
    ("cpu", "word"),
    [
        *((it, it) for it in ASSEMBLED),
        *((it, f"{it}@{by}") for it, (by, _, _) in ASSEMBLED.items()),
        ("aarch64", "aarch64+lse+rcpc"),
    ],
)
def test_functions_do_what_is_read_back(cpu: str, word: str, tmp_path: Path) -> None:
    require(*ASSEMBLED[cpu][:2])
    assert wrong(cpu, word, 7, 24, tmp_path) == []


@pytest.mark.parametrize(
    ("cpu", "old", "new"),
    [
        ("x86-64", "xadd", "xchg"),
        ("x86-64", "\tje\t", "\tjne\t"),
        ("aarch64", "\tadd\tw", "\tsub\tw"),
        ("riscv64", "amoor.w", "amoxor.w"),
    ],
)
def test_a_difference_is_found(cpu: str, old: str, new: str, tmp_path: Path) -> None:
    require(*ASSEMBLED[cpu][:2])
    assert wrong(cpu, cpu, 7, 60, tmp_path, lambda text: text.replace(old, new))
