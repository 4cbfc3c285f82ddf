"""Answers as JSON and back, and the schemas of JSON: one way for all of them, by msgspec.

An answer is a frozen dataclass of plain data: its fields are the keys. `to_json` writes what a
command answers; `keep` and `read` are for the cache. What is read back may come from a damaged or a
foreign file, so everything is held to its type, and no name in the data is ever looked up.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from enum import StrEnum
from functools import cache
from inspect import cleandoc
from typing import Annotated, Any, TypeVar, get_type_hints

import msgspec
from msgspec import Meta

from rspverify import __version__
from rspverify.records import fields_of, is_record

T = TypeVar("T")
Kind = TypeVar("Kind", bound=StrEnum)

Count = Annotated[int, Meta(ge=0)]
Place = Annotated[int, Meta(ge=1)]
"""A line, a column, a row or a place in a code: all count from 1."""
Seconds = Annotated[float, Meta(ge=0)]
Bounds = Mapping[str, Count]
"""Every bound that an answer depends on, by name; empty means exact."""
Code = tuple[str, ...]
"""The instructions of a row, in order."""

_ONLY = "only"
"""Marks, while a schema is made, a mapping that has no other keys."""
_GROUP = Meta(extra_json_schema={"group": True})
Group = Annotated[T, _GROUP]
"""Fields that belong together: in JSON they stand among those of the class that has the group."""

Schema = dict[str, Any]
"""A JSON Schema."""
_WIDTH = 96
_REFERENCE = re.compile(r'"#/\$defs/([^"]+)"')
_MARKS = ("default", _ONLY)
_DIGITS = 4
"""Every fraction in an answer is a time in seconds, shown to so many decimals."""


def one_of(*values: str | None) -> Meta:
    """Of a word that a wider type allows, only these."""
    return Meta(extra_json_schema={"enum": list(values)})


def with_keys(*keys: str, perhaps: Iterable[str] = ()) -> Meta:
    """Of a mapping to counts: it has these keys, perhaps some others, and no more."""
    count = {"type": "integer", "minimum": 0}
    known = [*map(str, keys), *perhaps]
    extra = {"properties": dict.fromkeys(known, count), "required": list(map(str, keys))}
    return Meta(extra_json_schema={**extra, _ONLY: True})


def counts(kind: type[Kind], found: Iterable[Kind]) -> Mapping[Kind, int]:
    """How many of each word there are, or a count by word: none is left out."""
    some = Counter(found)
    return {**some, **{each: 0 for each in kind if each not in some}}


def to_json(answer: object) -> str:
    """The document of an answer, in which every key is always present; the version comes first."""
    document = {"version": __version__, **_plain(answer)}
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def _plain(value: Any) -> Any:
    """A value with groups among the fields beside them, and rounded times."""
    if is_record(value):
        found: dict[str, Any] = {}
        groups = _groups(value.__class__)
        for each in fields_of(value):
            part = _plain(getattr(value, each))
            found |= part if each in groups else {each: part}
        return found
    if isinstance(value, Mapping):
        return {str(key): _plain(each) for key, each in value.items()}
    if isinstance(value, tuple):
        return [_plain(each) for each in value]
    if isinstance(value, float):
        return round(value, _DIGITS)
    return msgspec.to_builtins(value)


@cache
def _groups(kind: type) -> frozenset[str]:
    hints = get_type_hints(kind, include_extras=True)
    return frozenset(
        name for name, hint in hints.items() if _GROUP in getattr(hint, "__metadata__", ())
    )


_COMPACT = json.JSONEncoder(separators=(",", ":"))


def keep(answer: object) -> str:
    """An answer as a text that `read` reads, of ASCII alone."""
    return _COMPACT.encode(msgspec.to_builtins(answer, str_keys=True))


def read(kind: type[T], text: str) -> T:
    """The value of a type that `keep` has written so. Raises ValueError for any other text."""
    try:
        found = msgspec.convert(json.loads(text), kind)
        if keep(found) == text:
            return found
    except RecursionError:
        raise ValueError("it is too deep") from None
    raise ValueError("a value must be written as it would be written anew")


def schema(kind: type, title: str) -> Schema:
    """The JSON Schema of an answer's document: all keys required and no others, docstrings told."""
    (root,), parts = msgspec.json.schema_components([kind], ref_template="#/$defs/{name}")
    closed = {name: _closed(part, parts) for name, part in parts.items()}
    whole = closed[_name(root)]
    whole["properties"] = {"version": {"type": "string"}, **whole["properties"]}
    whole["required"] = ["version", *whole["required"]]
    used = _used(whole, closed)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": title,
        **whole,
        "$defs": {name: part for name, part in closed.items() if name in used},
    }


def _closed(part: Mapping[str, Any], parts: Mapping[str, Any]) -> dict[str, Any]:
    """The schema of a type by name, as our documents have it."""
    found = {key: each for key, each in part.items() if key != "title"}
    if "description" in found:
        found["description"] = cleandoc(found["description"])
    if "properties" in found:
        told = [found["description"], *_told(found["properties"], parts)]
        found["description"] = "\n\n".join(told)
        found["properties"] = _properties(found["properties"], parts)
        found["required"] = list(found["properties"])
        found["additionalProperties"] = False
    return found


def _properties(given: Mapping[str, Any], parts: Mapping[str, Any]) -> dict[str, Any]:
    """The properties of an object; those of groups among them, and no defaults."""
    found: dict[str, Any] = {}
    for name, each in given.items():
        if "group" in each:
            inner = parts[_name(each)] if "$ref" in each else each
            found |= _properties(inner["properties"], parts)
        else:
            found[name] = {key: value for key, value in each.items() if key not in _MARKS}
            if _ONLY in each:
                found[name]["additionalProperties"] = False
    return found


def _told(given: Mapping[str, Any], parts: Mapping[str, Any]) -> Iterator[str]:
    """What groups say of themselves."""
    for each in given.values():
        if "group" in each and "$ref" in each:
            inner = parts[_name(each)]
            yield cleandoc(inner["description"])
            yield from _told(inner["properties"], parts)


def _name(reference: Mapping[str, Any]) -> str:
    return str(reference["$ref"].rpartition("/")[2])


def laid_out(document: Schema) -> str:
    """The text of a schema, in which what fits into a line is on one line."""
    return _laid_out(document, "") + "\n"


def _laid_out(value: Any, indent: str) -> str:
    line = json.dumps(value, ensure_ascii=False)
    if len(indent + line) <= _WIDTH or not value or not isinstance(value, dict | list):
        return line
    deeper = indent + "  "
    if isinstance(value, list):
        parts, (start, end) = [_laid_out(each, deeper) for each in value], "[]"
    else:
        parts = [f"{json.dumps(key)}: {_laid_out(each, deeper)}" for key, each in value.items()]
        start, end = "{}"
    return f"{start}\n{deeper}" + f",\n{deeper}".join(parts) + f"\n{indent}{end}"


def _used(whole: Any, parts: Mapping[str, Any]) -> set[str]:
    """The names of all that a schema refers to, however indirectly."""
    found: set[str] = set()
    waiting = [whole]
    while waiting:
        named = set(_REFERENCE.findall(json.dumps(waiting.pop()))) - found
        found |= named
        waiting += [parts[name] for name in named]
    return found
