"""Answers as JSON, as the cache keeps them, and as schemas: each claim on a small answer."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Any

import jsonschema
import pytest

from rspverify import __version__
from rspverify.convert import (
    Bounds,
    Count,
    Group,
    Place,
    Seconds,
    counts,
    keep,
    one_of,
    read,
    schema,
    to_json,
    with_keys,
)


class Colour(StrEnum):
    """A colour."""

    RED = "RED"
    BLUE = "BLUE"


@dataclass(frozen=True)
class Where:
    """A place.

    line: counts from 1.
    """

    line: Place
    file: str | None = None


@dataclass(frozen=True)
class Answer:
    """An answer.

    within: its bounds.
    """

    where: Group[Where]
    colours: Group[Annotated[Mapping[Colour, Count], with_keys(*Colour)]]
    colour: Colour
    never_red: Annotated[Colour | None, one_of(Colour.BLUE, None)]
    pairs: tuple[tuple[int, str], ...]
    others: tuple[Where, ...]
    within: Annotated[Bounds, with_keys("steps", perhaps=["ifs"])]
    seconds: Seconds


ANSWER = Answer(
    Where(3, "Café"),
    counts(Colour, [Colour.RED, Colour.RED]),
    Colour.BLUE,
    None,
    ((1, "a"),),
    (Where(7),),
    {"steps": 4},
    0.123456,
)
DOCUMENT = {
    "version": __version__,
    "line": 3,
    "file": "Café",
    "RED": 2,
    "BLUE": 0,
    "colour": "BLUE",
    "never_red": None,
    "pairs": [[1, "a"]],
    "others": [{"line": 7, "file": None}],
    "within": {"steps": 4},
    "seconds": 0.1235,
}


def test_a_document_has_every_key_groups_among_the_others_and_rounded_times() -> None:
    text = to_json(ANSWER)
    assert list(json.loads(text).items()) == list(DOCUMENT.items())
    assert "Café" in text and text.endswith("}\n") and text.startswith('{\n  "version"')


def test_what_is_kept_is_read_again() -> None:
    assert read(Answer, keep(ANSWER)) == ANSWER
    assert read(Colour, keep(Colour.RED)) is Colour.RED


def test_counts_leave_no_word_out_and_keep_the_order_of_those_that_are_there() -> None:
    assert list(counts(Colour, [Colour.BLUE]).items()) == [(Colour.BLUE, 1), (Colour.RED, 0)]


@pytest.fixture
def made() -> dict[str, Any]:
    return schema(Answer, "an answer")


def test_a_schema_allows_what_is_written(made: dict[str, Any]) -> None:
    jsonschema.Draft202012Validator.check_schema(made)
    jsonschema.validate(DOCUMENT, made)
    assert made["title"] == "an answer"
    told = "An answer.\n\nwithin: its bounds.\n\nA place.\n\nline: counts from 1."
    assert made["description"] == told
    assert made["$defs"]["Where"]["description"] == "A place.\n\nline: counts from 1."


@pytest.mark.parametrize("key", DOCUMENT)
def test_it_requires_every_key(made: dict[str, Any], key: str) -> None:
    less = {name: value for name, value in DOCUMENT.items() if name != key}
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(less, made)


@pytest.mark.parametrize(
    "other",
    [
        {"more": 1},
        {"line": 0},
        {"line": None},
        {"RED": -1},
        {"colour": "GREEN"},
        {"colour": None},
        {"never_red": "RED"},
        {"pairs": [[1, "a", 2]]},
        {"others": [{"line": 1}]},
        {"others": [{"line": 1, "file": None, "more": 1}]},
        {"within": {}},
        {"within": {"steps": 1, "other": 1}},
        {"seconds": -1},
    ],
)
def test_it_allows_nothing_else(made: dict[str, Any], other: dict[str, Any]) -> None:
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({**DOCUMENT, **other}, made)
