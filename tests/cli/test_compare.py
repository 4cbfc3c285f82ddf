"""`rspverify compare` as users meet it."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import command_line
import pytest

from rspverify.engineering.compare import comparer

pytestmark = pytest.mark.usefixtures("in_repository", "in_one_process")
run = partial(command_line.run, "compare")
document = partial(command_line.document, "compare")

ORIGINAL, PROPOSED = "schemes/original.yaml", "schemes/proposed.yaml"
FIG4, EX1 = "litmus/rsp/paper/Fig4.litmus", "litmus/rsp/paper/Ex1.litmus"
ALL_SCOPE = "litmus/rsp/multi-device"


def test_json_is_as_its_schema_says(tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.litmus"
    wrong.write_text("OpenCL wrong\n{ }\nP0 (global int* x) { *x = ; }\n")
    racy = "litmus/rsp/MP/MP+st.na-st.WG+ld.DV-ld.na.litmus"
    tests = ("litmus/rsp/paper", racy, ALL_SCOPE, str(wrong))
    found = document(ORIGINAL, PROPOSED, *tests, "--progress")
    summary = found["summary"]
    parts = (found["tests"], found["untouched"], found["left_out"])
    assert summary["tests"] == summary["compared"] == sum(map(len, parts))
    assert sum(summary[each] for each in ("SAME", "BETTER", "WORSE", "UNKNOWN")) == len(parts[0])
    assert [each["verdict"] for each in found["left_out"]] == ["ERROR"]
    proof = found["old"].pop("proof")
    assert len(proof["broken"]) == 6 and not found["new"]["proof"]["broken"]
    assert found["old"] == {
        "file": ORIGINAL,
        "name": "original",
        "machine": "rsp",
        "machine_file": None,
        "target": False,
    }
    by_name = {each["test"]: each for each in found["tests"]}
    assert by_name["Fig4"]["change"] == "BETTER"
    (lost,) = by_name["Fig4"]["outcomes"]["lost"]
    assert lost["registers"] == {"1:r0": 1, "1:r1": 0} and lost["allowed"] is False
    assert by_name["MP+st.na-st.WG+ld.DV-ld.na"]["outcomes"] is None  # it races
    assert [row["same"] for row in found["rows"]] == [n in (1, 4, 5, 7) for n in range(1, 10)]
    assert document(ORIGINAL, PROPOSED, FIG4, "--limit-outcomes", "1")["tests"][0]["outcomes"] == {
        "gained": None,
        "lost": None,
        "reached_old": None,
        "reached_new": None,
        "unknown": "more than 1 outcomes",
        "internal": None,
    }


def test_costs_of_ones_own(tmp_path: Path) -> None:
    costs = tmp_path / "costs.yaml"
    costs.write_text("FLU_L1 DV: 7\nLD: 0\n")
    edited = tmp_path / "edited.yaml"
    text = Path(PROPOSED).read_text()
    edited.write_text(text.replace("LD r x, FLU_L1 DV, INV_L1 WG", "LD r x, INV_L1 WG"))
    found = document(PROPOSED, edited, EX1, "--costs", costs)
    row = found["rows"][2]
    assert (row["old"]["cost"], row["new"]["cost"]) == (0 + 7 + 10, 0 + 10)
    assert found["costs"] == str(costs)


def test_all_mistakes_are_said_at_once(tmp_path: Path) -> None:
    costs = tmp_path / "costs.yaml"
    costs.write_text("FLU_L1: 7\n")
    scheme = tmp_path / "s.yaml"
    scheme.write_text("name: s\nrows:\n  - {op: load, scope: na, code: [LOAD r x]}\n")
    result = run(str(scheme), "nowhere.yaml", "nowhere", "--costs", str(costs))
    assert result.exit_code == 2
    for message in ("costs.yaml:1:1: ", "s.yaml:3:34: ", "nowhere.yaml: ", "nowhere: no such"):
        assert message in result.stderr
    assert "Traceback" not in result.output
    assert result.stdout == ""


def test_an_internal_error_is_reported(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("planted")

    tests = [str(Path(each).resolve()) for each in (ORIGINAL, PROPOSED, FIG4)]
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(comparer, "changed_outcomes", fail)
    result = run(*tests, "-j", "1")
    assert result.exit_code == 70
    assert "internal error: " in result.stdout
    (report,) = tmp_path.glob("rspverify-report-*")
    assert "rspverify compare " in (report / "README.md").read_text()


def test_a_long_table_shows_the_rows_that_change(tmp_path: Path) -> None:
    old, new = Path("schemes/amdgpu/gfx942.yaml"), tmp_path / "gfx942.yaml"
    code = "buffer_wbl2 sc1, s_waitcnt vmcnt(0), global_store_dword x r sc1"
    text = old.read_text()
    assert text.count(code) == 1
    new.write_text(text.replace(code, code.removeprefix("buffer_wbl2 sc1, ")))
    words = (str(old), str(new), "litmus/amdgpu/MP-wg.litmus")
    for form in ("text", "markdown"):
        short = run(*words, "--format", form).stdout.replace("&#95;", "_")
        assert "rows with the same code under both: a text lists them with --all." in short
        assert "buffer_wbl2" in short and "ds_read" not in short
    every = run(*words, "--all").stdout
    assert "rows with the same code" not in every and "ds_read" in every
    assert "ds_read" in run(*words, "--format", "html").stdout
