"""The schemas that are shipped are those that the types of the answers give."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest
from typer.testing import CliRunner

from rspverify.cli import app
from rspverify.render.schemas import DOCUMENTS, place, text

FIG4 = "litmus/rsp/paper/Fig4.litmus"
ORIGINAL, PROPOSED = "schemes/original.yaml", "schemes/proposed.yaml"
RUNS = {
    "check": [ORIGINAL, PROPOSED, FIG4, "litmus/rsp/paper/Ex3.litmus", "--progress"],
    "compare": [ORIGINAL, PROPOSED, FIG4],
    "hunt": [ORIGINAL, "--events", "2", "--no-count"],
    "mutate": [PROPOSED, FIG4, "--widen"],
    "outcomes": [FIG4, "--scheme", ORIGINAL],
    "repair": [ORIGINAL, FIG4, "--rows", "2", "--hunt-events", "0", "--than", PROPOSED],
    "selftest": ["--programs", "2", "--outcomes", "-j", "1"],
}


@pytest.mark.parametrize("command", DOCUMENTS)
def test_what_is_shipped_is_what_the_types_give(command: str) -> None:
    assert place(command).read_text() == text(command), "run `make schemas`"
    jsonschema.Draft202012Validator.check_schema(json.loads(text(command)))


def test_every_schema_is_of_a_command() -> None:
    assert {each.name for each in place("").parent.glob("*.json")} == {
        place(command).name for command in DOCUMENTS
    }


@pytest.mark.parametrize("command", DOCUMENTS)
def test_what_a_command_writes_is_as_its_schema_says(
    command: str, root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(root)
    folder = {"selftest": ["-o", str(tmp_path)]}
    arguments = [command, *RUNS[command], *folder.get(command, []), "--format", "json"]
    document = json.loads(CliRunner().invoke(app, arguments).stdout)
    jsonschema.validate(document, json.loads(place(command).read_text()))
    assert next(iter(document)) == "version"
    assert isinstance(document["version"], str)
