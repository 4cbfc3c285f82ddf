"""A model that lets an initial value stay where it was overwritten is told."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from rspverify.axiomatic.cat import load_model, read_model
from rspverify.axiomatic.catalogue import shipped_models
from rspverify.axiomatic.final_values import notes_on_final_values
from rspverify.cli import app
from rspverify.source import Source

TEST = "OpenCL t\n{ [x]=0; }\nP0@wg 0, dev 0 (global int* x) { *x = 1; }\n"


def told(text: str) -> list[str]:
    """Of which locations it is said."""
    notes = notes_on_final_values(read_model(Source("t.cat", f'"t"\n{text}\n'), "t.cat"))
    return [
        each.split(" location")[0].removeprefix("t.cat: the initial value of ") for each in notes
    ]


@pytest.mark.parametrize(
    ("text", "locations"),
    [
        ("let fr0 = rf^-1; mo\nacyclic sb | rf | mo | fr0 as Sc", ["a plain"]),
        ("let hb = po | rf\nacyclic hb | mo as Hb", ["a plain"]),
        ("let mo = 0\nempty rf & mo as Rf", ["a plain", "an atomic"]),
        ("let hb = sb | rf\nacyclic hb | mo as Hb", []),
        ("let ghb = (sb | rf)+\nacyclic ghb as Hb", []),
        ("acyclic po | rf | co as Sc", []),
        ('include "cos.cat"\nacyclic po | rf | co | fr as Sc', []),
        ('include "opencl-rsp.cat"', []),
    ],
)
def test_of_which_locations_it_is_said(text: str, locations: list[str]) -> None:
    assert told(text) == locations


def test_nothing_is_said_of_what_ships() -> None:
    assert [
        note for name in shipped_models() for note in notes_on_final_values(load_model(name))
    ] == []


@pytest.mark.parametrize("before", ["po", "sb"])
def test_it_is_said_where_it_happens(before: str, tmp_path: Path) -> None:
    model, test = tmp_path / "m.cat", tmp_path / "t.litmus"
    model.write_text(f'"m"\nlet hb = {before} | rf\nacyclic hb as Hb\n')
    test.write_text(TEST)
    shown = CliRunner().invoke(app, ["outcomes", "--model", str(model), str(test)])
    note = "note: m.cat: the initial value of a plain location may be left in the end though it was"
    assert shown.stderr.startswith(note) == (before == "po")
    assert ("0   allowed" in shown.stdout) == (before == "po")
