"""JSON Schemas of suite.yaml and of what is expected, for editors: made of what readers go by.

What depends on other files, such as whether a scheme is there, the readers say alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rspverify.answers import ANSWERS
from rspverify.convert import Schema
from rspverify.corpus.expected import BOUND
from rspverify.corpus.suite import EXPECTED, SETTINGS, Kind, takes
from rspverify.options import choices_of, declared
from rspverify.schedulers import Unit
from rspverify.scheme.schema import filled
from rspverify.soundness.settings import Settings
from rspverify.verdict import ProgressWord, Word

_FILE = Path(__file__).with_suffix(".yaml")
_TYPES = {bool: "boolean", int: "integer", float: "number", str: ["string", "number", "boolean"]}


def suite_schema() -> Schema:
    """The schema of a suite.yaml."""
    return _schemas()["suite"]


def expected_schema() -> Schema:
    """The schema of what is expected of tests under schemes, by models or on machines."""
    return _schemas()["expected"]


def _schemas() -> dict[str, Schema]:
    values = {
        "expected": EXPECTED,
        "one_kind": [{"required": [each]} for each in Kind],
        "of_kinds": [_of_kind(kind) for kind in Kind],
        "units": list(Unit),
        "verdicts": list(Word),
        "bounded_verdict": _bounded(tuple(Word)),
        "progress": list(ProgressWord),
        "answers": list(ANSWERS),
        "bounded_answer": _bounded(ANSWERS),
    }
    found = filled(_FILE, values)
    found["suite"]["properties"] |= {key: _setting(name) for key, name in SETTINGS.items()}
    return found


def _of_kind(kind: Kind) -> Schema:
    """What a suite of a kind must not have."""
    alone: Schema = {key: False for key, name in SETTINGS.items() if not takes(kind, name)}
    if kind is not Kind.SCHEMES:
        alone |= {"default": {"const": False}, "optional": False}
    if kind is not Kind.SCHEDULERS:
        alone |= {"unit": False}
    return {"if": {"required": [kind]}, "then": {"properties": alone}}


def _setting(name: str) -> Schema:
    setting = declared(Settings)[name]
    about: Schema = {"description": setting.option.help}
    if choices := choices_of(setting.kind):
        return {"enum": choices, **about}
    least = {} if setting.option.least is None else {"minimum": setting.option.least}
    return {"type": _TYPES[setting.kind], **least, **about}


def _bounded(words: Sequence[str]) -> str:
    """The pattern of a word with the switches that decide, and the bounds within which it holds."""
    decide = r"( if \w[\w+]*( or \w[\w+]*)*)?"
    return f"^({'|'.join(words)}){decide}( within {BOUND.pattern}( and {BOUND.pattern})*)?$"
