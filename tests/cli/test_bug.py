"""`report --bug` and `--keep-code`: what a tracker of a compiler is told."""

from __future__ import annotations

from pathlib import Path

import pytest
from command_line import run

pytestmark = pytest.mark.usefixtures("in_one_process")

MP = "litmus/amdgpu/MP-dv.litmus"
DROPPED = "litmus/devices/MP/MP+inc.DV-st.ALL+ld.ALL-ld.DV@0--1.litmus"


def test_a_report_has_all_that_a_tracker_needs(tmp_path: Path) -> None:
    file = tmp_path / "bug.md"
    early = "amdgpu-gfx942+WRITE_BACK_AFTER_OWN_STORES=off"
    result = run("report", "--bug", "amdgpu:gfx942", MP, "--machine", early, "-o", str(file))
    assert result.exit_code == 1, result.output
    text = file.read_text()
    for part in (
        "MP-dv is UNSOUND under amdgpu:gfx942",
        "\nCompiler: LLVM ",
        "\nOpenCL MP-dv\n",
        "while global&#95;store&#95;dword x 1 is on the way",
        "| <code>buffer&#95;wbl2 sc1</code> | A write-back writes dirty lines of the L2 back. |",
        "<code>s&#95;waitcnt vmcnt(0); buffer&#95;wbl2 sc1; s&#95;waitcnt vmcnt(0); global",
        "\nrow 7, store DV,N (release)\n",
        "compiled by llc -mtriple=amdgcn-amd-amdhsa -mcpu=gfx942 -O2",
        'store atomic i32 1, ptr addrspace(1) %x1 syncscope("agent-one-as") release, align 4',
        "\tglobal_store_dword v[2:3], v4, off sc1\n",
        f"\nrspverify explain amdgpu:gfx942 {MP} --machine {early}\n",
    ):
        assert part in text, part


def test_where_the_table_is_right_the_compiler_has_left_something_out() -> None:
    """A wait behind a write-back that the row has, and the whole program has not."""
    text = run("report", "--bug", "amdgpu:gfx90a", DROPPED).stdout
    assert "llvm-gfx90a, by which the same compiler translates operations one by one" in text
    by_row = "<code>buffer&#95;wbl2<br>s&#95;waitcnt vmcnt(0)<br>global&#95;store&#95;dword y r<"
    assert by_row in text
    (step,) = (
        line for line in text.splitlines() if "STORE(global&#95;store&#95;dword y 1)" in line
    )
    assert "while buffer&#95;wbl2 is on the way" in step


def test_of_a_scheme_it_has_no_compiler() -> None:
    text = run("report", "--bug", "original", "Fig4").stdout
    assert "Fig4 is UNSOUND under original" in text and "row 2, load DV,N" in text
    mended = "<code>INV&#95;L1 WG; LD r x; INV&#95;L1 WG</code>"
    assert mended in text, "the cheapest, as the paper has it"
    assert "The IR" not in text and "Compiler" not in text


def test_what_is_sound_needs_no_change() -> None:
    result = run("report", "--bug", "proposed", "Fig4")
    assert result.exit_code == 0
    assert "None is needed: no execution is wrong." in result.stdout


def test_the_code_of_each_test_is_kept(tmp_path: Path) -> None:
    kept = tmp_path / "code"
    run("check", "--compiler", "amdgpu:gfx900", MP, "--keep-code", str(kept))
    assert sorted(each.name for each in kept.iterdir()) == [
        "MP-dv.amdgpu-gfx900.ll",
        "MP-dv.amdgpu-gfx900.s",
    ]
    assert "define void @P0(" in (kept / "MP-dv.amdgpu-gfx900.ll").read_text()
    assert "global_store_dword" in (kept / "MP-dv.amdgpu-gfx900.s").read_text()


def test_tests_of_one_name_are_all_compiled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is kept of each has its path; the table has the rows that any of them needs."""
    texts = [Path(each).read_text() for each in (MP, "litmus/amdgpu/SB-sc-dv.litmus")]
    monkeypatch.chdir(tmp_path)
    for folder, text in zip("ab", texts, strict=True):
        Path(folder).mkdir()
        Path(folder, "one.litmus").write_text(text)
    words = ("check", "--compiler", "amdgpu:gfx900", "--compare-table", "a", "b")
    result = run(*words, "--keep-code", "kept")
    assert result.exit_code == 0, result.output
    assert "compiler and table agree on every verdict" in result.stdout
    kept = {each.name for each in Path("kept").iterdir()}
    assert kept == {f"{it}-one.amdgpu-gfx900.{end}" for it in "ab" for end in ("ll", "s")}


def test_a_check_writes_a_page_for_what_should_not_be(tmp_path: Path) -> None:
    """Each has a name of its own; what is sound, and what is expected, has none."""
    folder = tmp_path / "bugs"
    words = ("check", "original", "proposed", "Fig4", "Fig5")
    result = run(*words, "--bug", str(folder))
    assert result.exit_code == 1, result.output
    assert sorted(it.name for it in folder.iterdir()) == ["Fig4.original.md", "Fig5.original.md"]
    assert "Fig4 is UNSOUND under original" in (folder / "Fig4.original.md").read_text()
    expected = str(tmp_path / "expected.yaml")
    run(*words, "--expect", expected, "--refresh")
    held = run(*words, "--expect", expected, "--bug", str(tmp_path / "none"))
    assert held.exit_code == 0 and not list((tmp_path / "none").iterdir())
