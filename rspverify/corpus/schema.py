"""JSON Schemas of suite.yaml and of what is expected, for editors: made of what readers go by.

What depends on other files, such as whether a scheme is there, the readers say alone.
"""

from __future__ import annotations

from collections.abc import Sequence

from rspverify.answers import ANSWERS
from rspverify.convert import Schema
from rspverify.corpus.expected import BOUND
from rspverify.corpus.expected import KEYS as EXPECTED_KEYS
from rspverify.corpus.suite import EXPECTED, KEYS, SETTINGS, Kind, takes
from rspverify.options import choices_of, declared
from rspverify.scheme.schema import DRAFT, TEXT
from rspverify.soundness.settings import Settings
from rspverify.verdict import ProgressWord, Word

_TYPES = {bool: "boolean", int: "integer", float: "number"}


def suite_schema() -> Schema:
    """The schema of a suite.yaml."""
    columns = {"anyOf": [TEXT, {"type": "array", "items": TEXT, "minItems": 1}]}
    about: dict[str, Schema] = {
        "about": {**TEXT, "description": "What its tests are for, in a sentence."},
        Kind.SCHEMES: {**columns, "description": "Files of schemes, by path from this folder."},
        Kind.MODELS: {**columns, "description": "Memory models, by name or .cat file."},
        Kind.MACHINES: {**columns, "description": "Machines, by name or .machine file."},
        Kind.SCHEDULERS: {**columns, "description": "Schedulers, as of `progress --scheduler`."},
        "expected": {**TEXT, "default": EXPECTED, "description": "The file of what is expected."},
        "default": {
            "type": "boolean",
            "default": False,
            "description": "Whether `check SCHEME` without tests means these.",
        },
    }
    settings = {key: _setting(name) for key, name in SETTINGS.items()}
    others = [_of_kind(kind) for kind in Kind if kind is not Kind.SCHEMES]
    return {
        "$schema": DRAFT,
        "title": "A suite of rspverify",
        "type": "object",
        "properties": {key: about[key] for key in KEYS} | settings,
        "required": ["about"],
        "additionalProperties": False,
        "oneOf": [{"required": [each]} for each in Kind],
        "allOf": others,
    }


def _of_kind(kind: Kind) -> Schema:
    """What a suite that is not of schemes must not have."""
    alone = {key: False for key, name in SETTINGS.items() if not takes(kind, name)}
    return {
        "if": {"required": [kind]},
        "then": {"properties": {**alone, "default": {"const": False}}},
    }


def _setting(name: str) -> Schema:
    setting = declared(Settings)[name]
    about: Schema = {"description": setting.option.help}
    if choices := choices_of(setting.kind):
        return {"enum": choices, **about}
    if setting.kind is str:
        return {**TEXT, **about}
    least = {} if setting.option.least is None else {"minimum": setting.option.least}
    return {"type": _TYPES[setting.kind], **least, **about}


def expected_schema() -> Schema:
    """The schema of what is expected of tests under schemes, by models or on machines."""
    verdict = _claim(tuple(Word))
    entry: Schema = {
        "type": "object",
        "properties": {"verdict": verdict, "progress": {"enum": list(ProgressWord)}},
        "required": ["verdict"],
        "additionalProperties": False,
    }
    of_scheme = {"anyOf": [*verdict["anyOf"], entry]}
    words = {Kind.SCHEMES: of_scheme, Kind.MODELS: _claim(ANSWERS)}
    keys = {EXPECTED_KEYS[kind]: _by_test(each) for kind, each in words.items()}
    return {
        "$schema": DRAFT,
        "title": "What rspverify is expected to say of tests",
        "type": "object",
        "properties": {
            "model": {**TEXT, "description": "The memory model of the verdicts."},
            **keys,
        },
        "additionalProperties": False,
        "oneOf": [{"required": [key]} for key in keys],
        "if": {"required": [EXPECTED_KEYS[Kind.MODELS]]},
        "then": {"properties": {"model": False}},
    }


def _by_test(word: Schema) -> Schema:
    """By test, its path from the folder of the file; and by scheme, model or machine."""
    row = {"type": "object", "additionalProperties": word}
    return {"type": "object", "additionalProperties": row}


def _claim(words: Sequence[str]) -> Schema:
    """A word, or one that holds within bounds."""
    bounds = f"{BOUND.pattern}( and {BOUND.pattern})*"
    pattern = f"^({'|'.join(words)}) within {bounds}$"
    return {"anyOf": [{"enum": list(words)}, {"type": "string", "pattern": pattern}]}
