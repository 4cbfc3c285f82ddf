"""`rspverify hunt` as it is called."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path

import command_line
import pytest

from rspverify.engineering.hunt.by_formula import ByFormula
from rspverify.engineering.hunt.hunt import Hunt
from rspverify.limits import LimitReached

ROOT = Path(__file__).resolve().parents[2]
ORIGINAL, PROPOSED = (str(ROOT / f"schemes/{name}.yaml") for name in ("original", "proposed"))
TWO = ("--events", "2")
HUNT = ("hunt", "-j", "1", "--no-proof")
run = partial(command_line.run, *HUNT)
document = partial(command_line.document, *HUNT)
KEPT = pytest.mark.usefixtures("one_cache")


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
def test_both_ways_find_the_same_and_say_on_what_it_rests(tmp_path: Path) -> None:
    words = (ORIGINAL, *TWO, "--write", str(tmp_path))
    one, other = (document(*words, "--by", by, code=1) for by in ("formula", "programs"))
    for key in ("program", "blamed", "mends", "open", "text"):
        assert one["findings"][0][key] == other["findings"][0][key]
    assert one["stronger"] == other["stronger"] == [6]
    assert (
        "none with fewer operations, or as many in fewer threads (1 formula" in run(*words).stdout
    )


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
