"""The schemas that are shipped are those that the types of the answers give."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest
from typer.testing import CliRunner

from rspverify.cli import app
from rspverify.render.schemas import DOCUMENTS, NAMES, place, text

pytestmark = pytest.mark.usefixtures("in_one_process")

FIG4 = "litmus/rsp/paper/Fig4.litmus"
ORIGINAL, PROPOSED = "schemes/original.yaml", "schemes/proposed.yaml"
RUNS = {
    "check": [ORIGINAL, PROPOSED, FIG4, "litmus/rsp/paper/Ex3.litmus", "--progress"],
    "compare": [ORIGINAL, PROPOSED, FIG4],
    "compare-models": [
        "opencl-hrf",
        "opencl-rsp",
        "--events=2",
        "--scopes=WG,DV.R",
        "--kinds=ld,st",
    ],
    "explain": ["proposed", FIG4],
    "extract": ["riscv64", "--operators", "add"],
    "fuzz": ["c11-x86", "--model", "rc11", "--programs", "2", "-j", "1"],
    "hunt": [ORIGINAL, "--events", "2", "--no-count"],
    "mutate": ["tests/render/needless.yaml", FIG4, "--widen"],
    "outcomes": [FIG4, "--scheme", ORIGINAL],
    "progress": [FIG4, "--scheduler", "obe", "--scheduler", "fair"],
    "prove": [ORIGINAL, PROPOSED],
    "repair": [ORIGINAL, FIG4, "--rows", "2", "--hunt-events", "0", "--than", PROPOSED],
    "selftest": ["--programs", "1", "--outcomes", "-j", "1"],
}


@pytest.mark.parametrize("name", NAMES)
def test_what_is_shipped_is_what_the_types_and_readers_give(name: str) -> None:
    assert place(name).read_text() == text(name), "run `make schemas`"
    document = json.loads(text(name))
    jsonschema.validators.validator_for(document).check_schema(document)


def test_every_schema_is_made() -> None:
    shipped = {each.name for each in place("").parent.glob("*.json")}
    assert shipped == {place(name).name for name in NAMES}


def test_a_command_shows_them(tmp_path: Path) -> None:
    assert CliRunner().invoke(app, ["show", "--schema", "scheme"]).stdout == text("scheme")
    file = tmp_path / "scheme.schema.json"
    CliRunner().invoke(app, ["show", "--schema", "scheme", "-o", str(file)])
    assert file.read_text() == text("scheme")


@pytest.mark.parametrize("command", DOCUMENTS)
def test_what_a_command_writes_is_as_its_schema_says(
    command: str, root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(root)
    folder = {it: ["-o", str(tmp_path)] for it in ("fuzz", "selftest")}
    words = command.replace("-", " --").split()
    arguments = [*words, *RUNS[command], *folder.get(command, []), "--format", "json"]
    document = json.loads(CliRunner().invoke(app, arguments).stdout)
    jsonschema.validate(document, json.loads(place(command).read_text()))
    assert next(iter(document)) == "version"
    assert isinstance(document["version"], str)
