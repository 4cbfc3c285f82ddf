"""`rspverify hunt` as it is called."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from jsonschema import validate
from typer.testing import CliRunner

from rspverify.cli import app
from rspverify.engineering.hunt.by_formula import ByFormula
from rspverify.engineering.hunt.hunt import Hunt
from rspverify.limits import LimitReached

ROOT = Path(__file__).resolve().parents[2]
SCHEMA = json.loads((ROOT / "rspverify/render/hunt.schema.json").read_text())
ORIGINAL = str(ROOT / "schemes" / "original.yaml")
PROPOSED = str(ROOT / "schemes" / "proposed.yaml")
RUNNER = CliRunner()


def document(*words: str, code: int) -> dict[str, object]:
    done = RUNNER.invoke(app, ["hunt", *words, "--format", "json", "-j", "1"])
    assert done.exit_code == code, done.output
    found = json.loads(done.stdout)
    validate(found, SCHEMA)
    return found


def test_a_finding_is_shown_and_written_and_is_what_check_says(tmp_path: Path) -> None:
    done = RUNNER.invoke(
        app, ["hunt", ORIGINAL, "--events", "2", "--write", str(tmp_path), "-j", "1"]
    )
    assert done.exit_code == 1, done.output
    assert "r0=inc.WG x || st.DV.R x 10" in done.stdout
    assert "at fault: row 6" in done.stdout
    assert "original with row 6 made as strong as can be is sound for all 428" in done.stdout
    (file,) = tmp_path.iterdir()
    assert file.name == "hunt-original-row6.litmus"
    assert str(file) in done.stdout.replace("\n", "")
    again = RUNNER.invoke(app, ["check", ORIGINAL, PROPOSED, str(file)])
    assert again.exit_code == 1
    assert "UNSOUND" in again.stdout
    assert "SOUND" in again.stdout.replace("UNSOUND", "")


def test_nothing_is_written_unasked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The test is shown instead."""
    monkeypatch.chdir(tmp_path)
    words = [ORIGINAL, "--events", "2", "--first"]
    found = document(*words, code=1)["findings"][0]  # type: ignore[index]
    shown = RUNNER.invoke(app, ["hunt", *words, "-j", "1"]).stdout
    assert found["file"] is None
    assert "".join(f"    {each}".rstrip() + "\n" for each in found["text"].splitlines()) in shown
    assert "--write DIR writes it" in shown
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_says_something_else_is_left_alone(tmp_path: Path) -> None:
    other = tmp_path / "hunt-original-row6.litmus"
    other.write_text("mine")
    for _ in range(2):
        found = document(ORIGINAL, "--events", "2", "--first", "--write", str(tmp_path), code=1)
        assert found["findings"][0]["file"].endswith("row6-2.litmus")
    assert other.read_text() == "mine"
    assert len(list(tmp_path.iterdir())) == 2


def test_sound_within_bounds() -> None:
    found = document(PROPOSED, "--events", "2", "--by", "programs", code=0)
    assert found["sound"]
    assert found["by"] == "programs"
    assert found["formulas"] is None
    assert found["counted"]
    assert found["programs"] == 428
    assert found["within"] == {
        "events": 2,
        "threads": 3,
        "work-groups": 3,
        "devices": 1,
        "locations": 2,
    }
    assert found["decided"]["SOUND"] == 26


def test_by_formula_it_says_the_same() -> None:
    found = document(PROPOSED, "--events", "2", code=0)
    assert found["sound"]
    assert found["by"] == "formula"
    assert found["why_by_programs"] is None
    assert found["formulas"] == {"asked": 2, "sound": 2, "racy": 0, "allowed": 0}
    assert found["counted"]
    assert found["programs"] == 428
    assert sum(phase["to_decide"] for phase in found["phases"]) == 26
    assert set(found["decided"].values()) == {0}


def test_without_a_count_the_verdict_has_no_number() -> None:
    words = ["hunt", PROPOSED, "--events", "2", "-j", "1"]
    done = RUNNER.invoke(app, [*words, "--no-count"])
    assert done.exit_code == 0, done.output
    assert "proposed is sound for all race-free programs within 2 operations" in done.stdout
    assert "(not counted)" in done.stdout
    found = document(PROPOSED, "--events", "2", "--no-count", code=0)
    assert found["sound"]
    assert not found["counted"]
    assert found["phases"] == []


def test_both_ways_find_the_same_and_say_on_what_it_rests(tmp_path: Path) -> None:
    words = [ORIGINAL, "--events", "2", "--write", str(tmp_path)]
    one, other = (document(*words, "--by", by, code=1) for by in ("formula", "programs"))
    for key in ("program", "blamed", "mends", "open", "text"):
        assert one["findings"][0][key] == other["findings"][0][key]
    assert one["stronger"] == other["stronger"] == [6]
    done = RUNNER.invoke(app, ["hunt", *words, "-j", "1"])
    assert "none with fewer operations, or as many in fewer threads (1 formula" in done.stdout


def test_where_formulas_do_not_apply_it_says_why() -> None:
    words = [PROPOSED, "--events", "2", "--plain-on-atomic"]
    found = document(*words, code=0)
    assert found["by"] == "programs"
    assert "plain operations" in str(found["why_by_programs"])
    done = RUNNER.invoke(app, ["hunt", *words, "-j", "1"])
    assert "decided program by program: formulas have no plain operations" in done.stdout
    done = RUNNER.invoke(app, ["hunt", *words, "--by", "formula"])
    assert done.exit_code == 2
    assert "--by formula cannot be used here" in done.stderr


def test_what_is_not_decided_is_not_sound(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise MemoryError

    monkeypatch.setattr("rspverify.engineering.hunt.formula.ask.suspicious", fail)
    found = document(PROPOSED, "--events", "2", code=3)
    assert not found["sound"]
    assert found["formulas"]["sound"] == 0
    assert len(found["unknown"]) == 2
    done = RUNNER.invoke(app, ["hunt", PROPOSED, "--events", "2", "-j", "1", "--no-cache"])
    assert "but those of 2 questions not decided" in done.stdout


def test_an_interrupt_while_counting_leaves_the_verdict(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(self: ByFormula) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(ByFormula, "count", interrupted)
    done = RUNNER.invoke(app, ["hunt", PROPOSED, "--events", "2", "-j", "1"])
    assert done.exit_code == 130
    assert done.stdout.count("(not counted)") == 1


def test_an_estimate_decides_nothing() -> None:
    found = document(PROPOSED, "--events", "1", "--estimate", code=0)
    assert not found["sound"]
    assert found["phases"] == []
    assert [each["events"] for each in found["estimates"]] == [2]
    assert found["estimates"][0]["programs"] == 428  # so few parents that all are extended


def test_an_interrupt_leaves_what_is_known(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    first = ["hunt", ORIGINAL, "--events", "3", "--threads", "2", "--write", str(tmp_path)]
    finding = Hunt._found

    def interrupted(self: Hunt, program: bytes) -> None:
        finding(self, program)
        raise KeyboardInterrupt

    monkeypatch.setattr(Hunt, "_found", interrupted)
    done = RUNNER.invoke(app, [*first, "-j", "1", "--format", "json"])
    assert done.exit_code == 130
    found = json.loads(done.stdout)
    validate(found, SCHEMA)
    assert found["interrupted"]
    assert not found["complete"]
    assert len(found["findings"]) == 1
    done = RUNNER.invoke(app, [*first, "-j", "1"])
    assert "the same command goes on from here" in done.stdout


def test_the_last_sentence_names_operations_where_not_all_are_hunted_with() -> None:
    command = ["hunt", PROPOSED, "--events", "2", "-j", "1"]
    last = RUNNER.invoke(app, command).stdout.strip().splitlines()[-1]
    assert last.endswith("any number of ifs")
    some = RUNNER.invoke(app, [*command, "--operation", "st.WG"]).stdout
    assert some.strip().endswith("any number of ifs, made of st.WG")


def test_a_finding_is_shown_where_it_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    command = ["hunt", ORIGINAL, "--events", "2", "--first", "-j", "1"]
    done = RUNNER.invoke(app, [*command, "--write", str(tmp_path / "file" / "below")])
    assert done.exit_code == 2
    assert "cannot be written to" in done.stderr
    assert "at fault: row 6" in done.stdout


def test_what_was_found_before_a_limit_is_shown(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    broken = ByFormula.broken

    def lost(self: ByFormula) -> Iterator[bytes]:
        yield next(broken(self))
        raise LimitReached("a worker process was lost")

    monkeypatch.setattr(ByFormula, "broken", lost)
    arguments = [ORIGINAL, "--events", "2", "--write", str(tmp_path)]
    found = document(*arguments, code=1)
    assert len(found["findings"]) == 1  # type: ignore[arg-type]
    assert (found["stopped"], found["interrupted"]) == ("a worker process was lost", False)
    assert (found["complete"], found["sound"]) == (False, False)
    shown = RUNNER.invoke(app, ["hunt", *arguments, "-j", "1"])
    assert "r0=inc.WG x || st.DV.R x 10" in shown.stdout
    assert "not all programs within the bounds were looked at: a worker" in shown.stdout
    assert "UNKNOWN: a worker process was lost" in shown.stderr


def test_a_limit_before_anything_was_found_leaves_it_open(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def lost(self: ByFormula) -> Iterator[bytes]:
        raise LimitReached("a worker process was lost")
        yield

    monkeypatch.setattr(ByFormula, "broken", lost)
    found = document(ORIGINAL, "--events", "2", "--write", str(tmp_path), code=3)
    assert (found["findings"], found["sound"]) == ([], False)
