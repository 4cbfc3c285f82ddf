"""`check --compiler` as users meet it: tests compiled whole, in the place of a scheme."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
import yaml
from command_line import run

from rspverify.wording import counted

TESTS = "litmus/amdgpu"
MP, WRC = f"{TESTS}/MP-dv.litmus", f"{TESTS}/WRC-wg-dv.litmus"
C_MP = "litmus/targets/synchronisation/MP.litmus"
C_CAS = "litmus/targets/compare-exchange/MP+by-cas.sc-rlx.litmus"
GFX9 = "amdgpu:gfx900"


@pytest.fixture
def llc(tmp_path: Path) -> Path:
    """A program that compiles as llvmlite does, but for what `edit` says."""
    path = tmp_path / "llc"
    emit = Path(sys.modules["rspverify"].__file__ or "").with_name("compilers") / "emit.py"
    path.write_text(
        f"""#!/bin/sh
case $1 in
  --version) echo "  LLVM version 99.1"; echo "    amdgcn - AMD GCN GPUs";;
  *) {sys.executable} -P {emit} gfx900 "" "" | sed -f {tmp_path}/edit;;
esac
"""
    )
    path.chmod(0o755)
    (tmp_path / "edit").write_text("")
    return path


def test_it_is_held_to_what_is_expected_whichever_program_compiles(
    tmp_path: Path, llc: Path
) -> None:
    """A compiler that loses an invalidation is not as expected, and is decided anew."""
    expected = str(tmp_path / "expected.yaml")
    given = ["check", "--compiler", GFX9, MP, "--expect", expected]
    assert run(*given, "--refresh").exit_code == 0
    assert run(*given, "--llc", str(llc)).exit_code == 0
    (tmp_path / "edit").write_text("/buffer_wbinvl1/d\n")
    result = run(*given, "--llc", str(llc))
    assert result.exit_code == 1
    assert "UNSOUND" in result.stdout and "1:r0=1 1:r1=0" in result.stdout


def test_it_is_compared_with_its_table(tmp_path: Path, llc: Path) -> None:
    same = run("check", "--compiler", GFX9, MP, "--compare-table")
    assert same.exit_code == 0, same.output
    assert same.stdout.endswith("compiler and table agree on every verdict\n")
    # Between labels, as operations of a table are, everything stays.
    (tmp_path / "edit").write_text("/read/!{/wbinvl1/{N;/cmp/!b;s/.*\\n//}}\n")
    other = run("check", "--compiler", GFX9, "--llc", str(llc), MP, "--compare-table")
    assert other.exit_code == 1, other.output
    assert f"{MP}: {GFX9} is UNSOUND, its table SOUND\n" in other.stdout


def test_a_patched_compiler_is_compared_with_its_base(tmp_path: Path, llc: Path) -> None:
    """Comments are no code; a lost invalidation is a regression; words that name none are refused."""
    patched = f"{GFX9}@{llc}"
    (tmp_path / "edit").write_text("s/$/ ; a comment/\n")
    same = run("compare", "--compiler", GFX9, patched, MP, "--fail-on-regression")
    assert same.exit_code == 0, same.output
    assert "1 become the same code under both, and were not decided" in same.stdout
    (tmp_path / "edit").write_text("/buffer_wbinvl1/d\n")
    worse = run("compare", "--compiler", GFX9, patched, MP, WRC, "--fail-on-regression")
    assert worse.exit_code == 1, worse.output
    assert "1 worse" in worse.stdout and "UNSOUND" in worse.stdout


def test_a_compiler_is_mutated(llc: Path, tmp_path: Path) -> None:
    """Of what tests become, not of a table: a compiler that loses a line has one mutant less."""
    whole = run("mutate", f"{GFX9}@{llc}", MP)
    assert "  load DV,N  (1 test)\n    global_load_dword r x glc  the access" in whole.stdout
    assert "    buffer_wbinvl1_vol         needed " in whole.stdout
    assert "write DIR" not in whole.stdout and "hunt" not in whole.stdout
    (tmp_path / "edit").write_text("/buffer_wbinvl1/d\n")
    broken = run("mutate", f"{GFX9}@{llc}", MP)
    assert "no test says anything of rows 1–4" in broken.stdout


def test_programs_are_hunted_through_a_compiler(llc: Path) -> None:
    """Each is compiled; remote operations are left out, no row is told of, and no lemma used."""
    given = ["hunt", f"{GFX9}@{llc}", "--events", "2", "--threads", "2", "--format", "json"]
    result = run(*given, "--operation", "st.DV", "--operation", "ld.DV", "--operation", "st.DV.R")
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    assert (found["sound"], found["by"], found["idle_rows"]) == (True, "programs", [])
    assert [it["operation"] for it in found["left_out"]] == ["st.DV.R"]
    assert sum(it["to_decide"] for it in found["phases"]) == found["programs"]


@pytest.mark.parametrize(("number", "tests"), [(0, (WRC,)), (1, (C_MP, C_CAS))])
def test_the_workflow_of_the_example(
    number: int, tests: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What it asks of whole code, by llvmlite and with few of the tests, comes out as expected."""
    folder = Path("examples/compiler").absolute()
    workflow = yaml.safe_load((folder / ".github/workflows/nightly.yml").read_text())
    given = workflow["jobs"]["whole-tests"]["strategy"]["matrix"]["include"][number]
    compilers = given["compiler"].split()
    words = [it for each in compilers for it in ("--compiler", each)]
    words += ["--model", given["model"]] if "model" in given else []
    monkeypatch.chdir(folder)
    result = run("check", *words, *tests, "--expect", given["expect"])
    assert result.exit_code == 0, result.output
    assert f"{counted(len(tests), 'test')}, {len(compilers)} schemes, " in result.stdout
    assert f"every verdict is as in {given['expect']}\n" in result.stdout


def test_the_example_expects_something_of_every_test_that_ships() -> None:
    expected = yaml.safe_load(Path("examples/compiler/expected.yaml").read_text())["verdicts"]
    assert {Path(it) for it in expected} == set(Path(TESTS).glob("*.litmus"))
    expected = yaml.safe_load(Path("examples/compiler/processors.yaml").read_text())["verdicts"]
    folders = ("synchronisation", "compare-exchange", "seq_cst")
    every = {it for each in folders for it in Path("litmus/targets", each).glob("*.litmus")}
    assert {Path(it) for it in expected} == every


def test_a_compiler_for_a_processor_is_compared_with_its_table() -> None:
    test = "litmus/targets/seq_cst/SB.litmus"
    result = run("check", "--compiler", "aarch64", test, "--compare-table", "--model", "rc11")
    assert result.exit_code == 0, result.output
    assert "llvm-aarch64" in result.stdout
    assert result.stdout.endswith("compiler and table agree on every verdict\n")


def test_compilers_of_one_name_have_tables_of_their_own() -> None:
    test, python = "litmus/targets/seq_cst/SB.litmus", f"aarch64@{sys.executable}"
    given = [it for each in ("aarch64", python) for it in ("--compiler", each)]
    result = run("check", *given, test, "--compare-table", "--model", "rc11", "--format", "json")
    assert result.exit_code == 0, result.output
    names = {it["scheme"] for it in json.loads(result.stdout)["results"]}
    assert {"aarch64", python, "llvm-aarch64"} < names and len(names) == 4


def test_the_table_of_a_compiler_for_a_processor_is_mutated(tmp_path: Path) -> None:
    given = ["mutate", "aarch64", "litmus/targets/synchronisation/MP.litmus", "--model", "rc11"]
    result = run(*given, "--format", "json", "--write", str(tmp_path / "mutants"))
    assert result.exit_code == 1, result.output
    found = json.loads(result.stdout)["mutants"]
    assert [it["code"] for it in found if it["verdict"] == "UNSOUND"] == [["STR v,[x]"]]
    written = {it.stem for it in (tmp_path / "mutants").iterdir()}
    assert written == {f"llvm-aarch64-{it['name']}" for it in found}
