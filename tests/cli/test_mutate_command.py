"""`rspverify mutate` as users meet it: forms, exit codes, files, bad input, interruption."""

from __future__ import annotations

import shlex
from functools import partial
from pathlib import Path

import command_line
import pytest
from typer.testing import CliRunner

from rspverify.cli import app

pytestmark = pytest.mark.usefixtures("in_repository")
run = partial(command_line.run, "mutate", "--no-proof")
document = partial(command_line.document, "mutate", "--no-proof", "-j", "1")
KEPT = pytest.mark.usefixtures("one_cache")

PROPOSED = "schemes/proposed.yaml"
FIG4 = "litmus/rsp/paper/Fig4.litmus"
ATOMIC = "litmus/rsp/RMW/RMW+inc.DV+st.DV.R.litmus"


@KEPT
def test_json_has_a_list_of_mutants() -> None:
    found = document(PROPOSED, FIG4, ATOMIC, "--widen")
    mutants = found["mutants"]
    assert isinstance(mutants, list)
    assert len(mutants) == 46
    assert {each["verdict"] for each in mutants} == {"UNSOUND", "STUCK", "SURVIVES"}
    keys = ("row", "instruction", "mutation", "verdict", "test")
    assert tuple(mutants[1][key] for key in keys) == (2, "INV_L1 WG", "drop", "UNSOUND", "Fig4")
    stuck = [tuple(each[key] for key in keys) for each in mutants if each["verdict"] == "STUCK"]
    assert stuck == [(6, "UL_rmw DV", "drop", "STUCK", "RMW+inc.DV+st.DV.R")]
    wider = found["wider"]
    assert isinstance(wider, list)
    assert [(it["row"], it["instruction"], it["words"], it["cost"]) for it in wider][:2] == [
        (2, "INV_L1 WG", "widen to DV", 30),
        (3, "INV_L1 WG", "widen to DV", 30),
    ]


@KEPT
def test_mutants_can_be_written_and_explained(tmp_path: Path) -> None:
    found = document(PROPOSED, FIG4, ATOMIC, "--write", str(tmp_path / "mutants"))
    assert len(list((tmp_path / "mutants").glob("*.yaml"))) == 46
    commands = {each["name"]: each["command"] for each in found["mutants"]}  # type: ignore[attr-defined]
    unsound = shlex.split(commands["row2-2-drop"])[1:]
    shown = CliRunner().invoke(app, unsound)
    assert shown.stdout.startswith("Fig4 under proposed-row2-2-drop (model opencl-rsp): UNSOUND")
    stuck = CliRunner().invoke(app, shlex.split(commands["row6-7-drop"])[1:])
    assert "SOUND, STUCK" in stuck.stdout.splitlines()[0]
    hunting = commands["row3-2-drop"].split()
    written = tmp_path / "mutants/proposed-row3-2-drop.yaml"
    assert hunting == ["rspverify", "hunt", str(written), "--first"]
    assert CliRunner().invoke(app, [*hunting[1:], "--estimate", "--events", "1"]).exit_code == 0
    again = run(PROPOSED, FIG4, "--write", str(tmp_path / "mutants"))
    assert again.exit_code == 1
    assert "rspverify hunt" in again.stdout


@KEPT
def test_options_that_a_hunt_for_a_row_needs_are_said(tmp_path: Path) -> None:
    full = "schemes/proposed-full.yaml"
    found = document(full, FIG4, "--write", str(tmp_path))
    rows = found["rows"]
    assert isinstance(rows, list)
    assert [row["row"] for row in rows if row["hunt"] == []] == [1, 2, 3, 9, 10, 14, 15, 20, 21]
    assert [row["row"] for row in rows if row["hunt"] is None] == [23]
    assert {row["row"]: row["hunt"] for row in rows}[4] == ["--kinds", "na,ld,st,F"]
    commands = {each["name"]: each["command"] for each in found["mutants"]}  # type: ignore[attr-defined]
    words = commands["row26-1-drop"].split()
    assert words[-2:] == ["--kinds", "na,ld,st,F"]
    shown = run(full, FIG4).stdout
    assert "of row 26: rspverify hunt MUTANT --first --kinds na,ld,st,F\n" in shown
    hunted = CliRunner().invoke(app, [*words[1:], "--events", "1"])
    assert "made of ld.na, st.na, ld.WG, st.WG, ld.DV, st.DV, F.ar.WG, F.ar.DV" in hunted.stdout


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    mine = tmp_path / "proposed-row2-2-drop.yaml"
    mine.write_text("mine")
    result = run(PROPOSED, FIG4, "--write", str(tmp_path))
    assert result.exit_code == 2
    assert f"{mine}: must be the scheme of this name, or not exist" in result.stderr
    assert [each.name for each in tmp_path.iterdir()] == [mine.name]
    assert mine.read_text() == "mine"


def test_a_scheme_with_mistakes_gets_the_messages_of_check(tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.yaml"
    wrong.write_text("name: w\nrows:\n  - {op: lod, scope: dv, code: [LD r x, INV_L1 XX]}\n")
    result = run(str(wrong), FIG4)
    check = CliRunner().invoke(app, ["check", str(wrong), FIG4])
    assert result.exit_code == check.exit_code == 2
    assert result.stderr == check.stderr != ""
