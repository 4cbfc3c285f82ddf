"""What is read of code is what is read of it when another tool has written it (disassembled.py)."""

from pathlib import Path

import pytest

from rspverify.litmus.reader import read_program
from rspverify.source import read_source
from tests.compilers.disassembled import differences, disassembler
from tests.compilers.executing import ASSEMBLED, functions, require

TESTS = sorted(Path("litmus/targets").glob("s*/*.litmus"))
WORDS = [
    *((it, it) for it in ASSEMBLED),
    *((it, f"{it}-O0") for it in ("aarch64", "riscv64", "armv7")),
    ("aarch64", "aarch64+lse+rcpc"),
    ("x86-64", "x86-64-O0@gcc"),
    ("armv7", "armv7@arm-linux-gnueabihf-gcc"),
    ("aarch64", "aarch64@aarch64-linux-gnu-gcc"),
]


@pytest.mark.parametrize(("cpu", "word"), WORDS)
def test_a_disassembler_says_the_same(cpu: str, word: str, tmp_path: Path) -> None:
    require(ASSEMBLED[cpu][0], disassembler(cpu))
    programs = [read_program(read_source(it)) for it in TESTS[::4]] + functions(7, 6)
    number, different = differences(cpu, word, programs, tmp_path)
    assert number >= len(programs) - 2 and different == []


@pytest.mark.parametrize(
    ("cpu", "old", "new"),
    [
        ("aarch64", "\tldar\t", "\tldr\t"),
        ("aarch64", "\tb.ne\t", "\tb.eq\t"),
        ("x86-64", "\txchg\t", "\tmov\t"),
        ("riscv64", "\tfence\tr, rw", "\tnop"),
        ("armv7", "\tstrex\t", "\tnop\t@"),
    ],
)
def test_a_difference_is_found(cpu: str, old: str, new: str, tmp_path: Path) -> None:
    require(ASSEMBLED[cpu][0], disassembler(cpu))
    programs = [read_program(read_source(it)) for it in TESTS]
    programs += functions(7, 20)
    _, different = differences(cpu, cpu, programs, tmp_path, lambda text: text.replace(old, new))
    assert different
