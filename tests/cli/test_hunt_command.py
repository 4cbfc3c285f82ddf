"""`rspverify hunt` as it is called."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from jsonschema import validate
from typer.testing import CliRunner

from rspverify.cli import app
from rspverify.engineering.hunt.hunt import Hunt

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


def test_a_file_that_says_something_else_is_left_alone(tmp_path: Path) -> None:
    other = tmp_path / "hunt-original-row6.litmus"
    other.write_text("mine")
    for _ in range(2):
        found = document(ORIGINAL, "--events", "2", "--first", "--write", str(tmp_path), code=1)
        assert found["findings"][0]["file"].endswith("row6-2.litmus")
    assert other.read_text() == "mine"
    assert len(list(tmp_path.iterdir())) == 2


def test_sound_within_bounds() -> None:
    found = document(PROPOSED, "--events", "2", code=0)
    assert found["sound"]
    assert found["programs"] == 428
    assert found["within"] == {
        "events": 2,
        "threads": 3,
        "work-groups": 3,
        "devices": 1,
        "locations": 2,
    }
    assert found["decided"]["SOUND"] == 26


def test_an_estimate_decides_nothing() -> None:
    found = document(PROPOSED, "--events", "1", "--estimate", code=0)
    assert not found["sound"]
    assert found["phases"] == []
    assert [each["events"] for each in found["estimates"]] == [2]
    assert found["estimates"][0]["programs"] == 428  # so few parents that all are extended


def test_an_interrupt_leaves_what_is_known(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    first = ["hunt", ORIGINAL, "--events", "3", "--threads", "2", "--write", str(tmp_path)]
    finding = Hunt._finding

    def interrupted(self: Hunt, program: bytes) -> bool:
        finding(self, program)
        raise KeyboardInterrupt

    monkeypatch.setattr(Hunt, "_finding", interrupted)
    done = RUNNER.invoke(app, [*first, "-j", "1", "--format", "json"])
    assert done.exit_code == 130
    found = json.loads(done.stdout)
    validate(found, SCHEMA)
    assert found["interrupted"]
    assert not found["complete"]
    assert len(found["findings"]) == 1
    done = RUNNER.invoke(app, [*first, "-j", "1"])
    assert "the same command goes on from here" in done.stdout


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--operation", "ld.na", "--operation", "mov.WG"], "an operation must be one of ld.na"),
        (["--write", __file__], "must be a folder to write programs to"),
    ],
)
def test_mistakes_are_said(words: list[str], message: str) -> None:
    done = RUNNER.invoke(app, ["hunt", PROPOSED, "--events", "1", *words])
    assert done.exit_code == 2
    assert message in done.stderr


def test_the_last_sentence_names_operations_where_not_all_are_hunted_with() -> None:
    command = ["hunt", PROPOSED, "--events", "2", "-j", "1"]
    last = RUNNER.invoke(app, command).stdout.strip().splitlines()[-1]
    assert last.endswith("any number of ifs")
    some = RUNNER.invoke(app, [*command, "--operation", "st.WG"]).stdout
    assert some.strip().endswith("any number of ifs, made of st.WG")
