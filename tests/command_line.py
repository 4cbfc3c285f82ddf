"""Commands as users run them, in this process."""

from __future__ import annotations

import json
from typing import Any

import jsonschema
from typer.testing import CliRunner, Result

from rspverify.cli import app
from rspverify.render.schemas import place


def run(*words: object) -> Result:
    """What a command line prints, and its exit code."""
    return CliRunner().invoke(app, [str(each) for each in words])


def document(*words: object, code: int | None = None) -> Any:
    """What a command prints as JSON, which is as its schema says. code: with which it must end."""
    result = run(*words, "--format", "json")
    assert code in (None, result.exit_code), result.output
    found = json.loads(result.stdout)
    name = "compare-models" if words[:2] == ("compare", "--models") else str(words[0])
    jsonschema.validate(found, json.loads(place(name).read_text()))
    return found
