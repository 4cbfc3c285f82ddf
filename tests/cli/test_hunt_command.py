"""`rspverify hunt` as it is called."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import command_line
import pytest
from jsonschema import validate

from rspverify.engineering.hunt.by_formula import ByFormula
from rspverify.engineering.hunt.hunt import Hunt
from rspverify.limits import LimitReached

ROOT = Path(__file__).resolve().parents[2]
SCHEMA = json.loads((ROOT / "rspverify/render/hunt.schema.json").read_text())
ORIGINAL, PROPOSED = (str(ROOT / f"schemes/{name}.yaml") for name in ("original", "proposed"))
TWO = ("--events", "2")
run = partial(command_line.run, "hunt", "-j", "1", "--no-proof")
KEPT = pytest.mark.usefixtures("one_cache")


def document(*words: str, code: int) -> dict[str, Any]:
    done = run(*words, "--format", "json")
    assert done.exit_code == code, done.output
    found: dict[str, Any] = json.loads(done.stdout)
    validate(found, SCHEMA)
    return found


@KEPT
def test_a_finding_is_shown_and_written_and_is_what_check_says(tmp_path: Path) -> None:
    done = run(ORIGINAL, *TWO, "--write", tmp_path)
    assert done.exit_code == 1, done.output
    assert "r0=inc.WG x || st.DV.R x 10" in done.stdout
    assert "at fault: row 6" in done.stdout
    assert "original with row 6 made as strong as can be is sound for all 428" in done.stdout
    (file,) = tmp_path.iterdir()
    assert file.name == "hunt-original-row6.litmus"
    assert str(file) in done.stdout.replace("\n", "")
    again = command_line.run("check", ORIGINAL, PROPOSED, file)
    assert again.exit_code == 1 and " UNSOUND " in again.stdout
    assert "SOUND" in again.stdout.replace("UNSOUND", "")


@KEPT
def test_nothing_is_written_unasked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The test is shown instead."""
    monkeypatch.chdir(tmp_path)
    words = (ORIGINAL, *TWO, "--first")
    (found,) = document(*words, code=1)["findings"]
    shown = run(*words).stdout
    assert found["file"] is None
    assert "".join(f"    {each}".rstrip() + "\n" for each in found["text"].splitlines()) in shown
    assert "--write DIR writes it" in shown
    assert list(tmp_path.iterdir()) == []


@KEPT
def test_a_file_that_says_something_else_is_left_alone(tmp_path: Path) -> None:
    other = tmp_path / "hunt-original-row6.litmus"
    other.write_text("mine")
    for _ in range(2):
        found = document(ORIGINAL, *TWO, "--first", "--write", str(tmp_path), code=1)
        assert found["findings"][0]["file"].endswith("row6-2.litmus")
    assert other.read_text() == "mine"
    assert len(list(tmp_path.iterdir())) == 2


@KEPT
def test_sound_within_bounds_by_either_way() -> None:
    one, other = (document(PROPOSED, *TWO, "--by", by, code=0) for by in ("programs", "formula"))
    for found, by in ((one, "programs"), (other, "formula")):
        assert found["sound"] and found["counted"]
        assert (found["by"], found["programs"], found["why_by_programs"]) == (by, 428, None)
    bounds = {"events": 2, "threads": 3, "work-groups": 3, "devices": 1, "locations": 2}
    assert one["within"] == bounds
    assert (one["formulas"], one["decided"]["SOUND"]) == (None, 26)
    assert other["formulas"] == {"asked": 2, "sound": 2, "racy": 0, "allowed": 0}
    assert sum(phase["to_decide"] for phase in other["phases"]) == 26
    assert set(other["decided"].values()) == {0}


@KEPT
def test_without_a_count_the_verdict_has_no_number() -> None:
    done = run(PROPOSED, *TWO, "--no-count")
    assert done.exit_code == 0, done.output
    assert "proposed is sound for all race-free programs within 2 operations" in done.stdout
    assert "(not counted)" in done.stdout
    found = document(PROPOSED, *TWO, "--no-count", code=0)
    assert (found["sound"], found["counted"], found["phases"]) == (True, False, [])


@KEPT
def test_both_ways_find_the_same_and_say_on_what_it_rests(tmp_path: Path) -> None:
    words = (ORIGINAL, *TWO, "--write", str(tmp_path))
    one, other = (document(*words, "--by", by, code=1) for by in ("formula", "programs"))
    for key in ("program", "blamed", "mends", "open", "text"):
        assert one["findings"][0][key] == other["findings"][0][key]
    assert one["stronger"] == other["stronger"] == [6]
    assert (
        "none with fewer operations, or as many in fewer threads (1 formula" in run(*words).stdout
    )


@KEPT
def test_where_formulas_do_not_apply_it_says_why() -> None:
    words = (PROPOSED, *TWO, "--plain-on-atomic")
    found = document(*words, code=0)
    assert found["by"] == "programs"
    assert "plain operations" in str(found["why_by_programs"])
    why = "decided program by program: formulas have no plain operations"
    assert why in run(*words).stdout
    done = run(*words, "--by", "formula")
    assert done.exit_code == 2
    assert "--by formula cannot be used here" in done.stderr


def test_what_is_not_decided_is_not_sound(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise MemoryError

    monkeypatch.setattr("rspverify.engineering.hunt.formula.ask.suspicious", fail)
    found = document(PROPOSED, *TWO, code=3)
    assert (found["sound"], found["formulas"]["sound"], len(found["unknown"])) == (False, 0, 2)
    done = run(PROPOSED, *TWO, "--no-cache")
    assert "but those of 2 questions not decided" in done.stdout


@KEPT
def test_an_estimate_decides_nothing() -> None:
    found = document(PROPOSED, "--events", "1", "--estimate", code=0)
    assert not found["sound"]
    assert found["phases"] == []
    assert [each["events"] for each in found["estimates"]] == [2]
    assert found["estimates"][0]["programs"] == 428  # so few parents that all are extended


def test_an_estimate_ends_where_a_size_takes_too_long(monkeypatch: pytest.MonkeyPatch) -> None:
    from rspverify.enumeration import estimate

    monkeypatch.setattr(estimate, "_PATIENCE", 0.0)
    assert document(PROPOSED, "--events", "3", "--estimate", code=0)["estimates"] == []


@KEPT
def test_the_last_sentence_names_operations_where_not_all_are_hunted_with() -> None:
    last = run(PROPOSED, *TWO).stdout.strip().splitlines()[-1]
    assert last.endswith("any number of ifs")
    some = run(PROPOSED, *TWO, "--operation", "st.WG").stdout
    assert some.strip().endswith("any number of ifs, made of st.WG")


@KEPT
def test_a_finding_is_shown_where_it_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    done = run(ORIGINAL, *TWO, "--first", "--write", tmp_path / "file" / "below")
    assert done.exit_code == 2
    assert "cannot be written to" in done.stderr
    assert "at fault: row 6" in done.stdout


# ---- what stops it -------------------------------------------------------------------------------


def test_an_interrupt_while_counting_leaves_the_verdict(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(self: ByFormula) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(ByFormula, "count", interrupted)
    done = run(PROPOSED, *TWO)
    assert done.exit_code == 130
    assert done.stdout.count("(not counted)") == 1


def test_an_interrupt_leaves_what_is_known(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    words = (ORIGINAL, "--events", "3", "--threads", "2", "--write", str(tmp_path))
    finding = Hunt._found

    def interrupted(self: Hunt, program: bytes) -> None:
        finding(self, program)
        raise KeyboardInterrupt

    monkeypatch.setattr(Hunt, "_found", interrupted)
    found = document(*words, code=130)
    assert (found["interrupted"], found["complete"], len(found["findings"])) == (True, False, 1)
    assert "the same command goes on from here" in run(*words).stdout


@pytest.mark.parametrize("first", [True, False])
def test_what_was_found_before_a_limit_is_shown(
    first: bool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    broken = ByFormula.broken

    def lost(self: ByFormula) -> Iterator[bytes]:
        if first:
            yield next(broken(self))
        raise LimitReached("a worker process was lost")

    monkeypatch.setattr(ByFormula, "broken", lost)
    words = (ORIGINAL, *TWO, "--write", str(tmp_path))
    found = document(*words, code=1 if first else 3)
    assert len(found["findings"]) == first
    assert (found["stopped"], found["interrupted"]) == ("a worker process was lost", False)
    assert (found["complete"], found["sound"]) == (False, False)
    if first:
        shown = run(*words)
        assert "r0=inc.WG x || st.DV.R x 10" in shown.stdout
        assert "not all programs within the bounds were looked at: a worker" in shown.stdout
        assert "UNKNOWN: a worker process was lost" in shown.stderr
