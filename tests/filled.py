"""Answers with one text in every place where a text may be."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import is_dataclass
from enum import Enum
from types import NoneType, UnionType
from typing import Annotated, Any, TypeVar, Union, get_args, get_origin, get_type_hints

from msgspec import Struct

from rspverify.records import fields_of

T = TypeVar("T")


def filled(kind: type[T], text: str) -> T:
    """A value of a type, with all of its optional parts: numbers are 1, texts are this one."""
    return _filled(kind, text)


def _filled(kind: Any, text: str) -> Any:
    origin, inner = get_origin(kind), get_args(kind)
    if origin is Annotated:
        return _filled(inner[0], text)
    if origin in (Union, UnionType):
        return _filled(next(each for each in inner if each is not NoneType), text)
    if origin is tuple:
        return tuple(_filled(each, text) for each in inner if each is not ...)
    if origin is not None and issubclass(origin, Mapping):
        key, value = inner
        keys = (
            list(key) if isinstance(key, type) and issubclass(key, Enum) else [_filled(key, text)]
        )
        return {each: _filled(value, text) for each in keys}
    if is_dataclass(kind) or issubclass(kind, Struct):
        hints = get_type_hints(kind, include_extras=True)
        return kind(**{each: _filled(hints[each], text) for each in fields_of(kind)})
    if issubclass(kind, Enum):
        return next(iter(kind))
    return {str: text, int: 1, float: 0.5, bool: True}[kind]
