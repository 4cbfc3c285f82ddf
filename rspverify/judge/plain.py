"""Plain data as JSON and back: frozen dataclasses as lists of their fields, in order.

What is read back may come from a damaged or a foreign file, so everything is held to its type, and
no name in the data is ever looked up.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from enum import StrEnum
from functools import cache
from types import NoneType, UnionType
from typing import Any, TypeVar, Union, cast, get_args, get_origin, get_type_hints

T = TypeVar("T")


def to_plain(value: Any) -> Any:
    """A value as lists, mappings with words as keys, strings, numbers, booleans and None."""
    if is_dataclass(value) and not isinstance(value, type):
        return [to_plain(getattr(value, field.name)) for field in fields(value)]
    if isinstance(value, Mapping):
        return {str(key): to_plain(each) for key, each in value.items()}
    if isinstance(value, tuple):
        return [to_plain(each) for each in value]
    if isinstance(value, StrEnum):
        return value.value
    if value is None or isinstance(value, bool | int | float | str):
        return value
    raise TypeError(f"a {type(value).__name__} has no plain form")


def from_plain(kind: type[T], data: Any) -> T:
    """The value of a type that has this plain form. Raises ValueError if there is none."""
    read: Callable[[Any], T] = _reader(cast(Any, kind))
    return read(data)


@cache
def _reader(kind: Any) -> Callable[[Any], Any]:
    """How to read one type; made once for each."""
    origin, arguments = get_origin(kind), get_args(kind)
    if is_dataclass(kind):
        return _dataclass_reader(kind)
    if origin in (Union, UnionType):
        (inner,) = [each for each in arguments if each is not NoneType]
        read = _reader(inner)
        return lambda data: None if data is None else read(data)
    if origin is tuple and arguments[1:] == (...,):
        read = _reader(arguments[0])
        return lambda data: tuple([read(each) for each in _held(list, data)])
    if origin is tuple:
        readers = [_reader(each) for each in arguments]
        return lambda data: tuple(_each(readers, data))
    if origin is Mapping:
        read = _reader(arguments[1])
        return lambda data: {key: read(each) for key, each in _held(dict, data).items()}
    if issubclass(kind, StrEnum):
        return lambda data: kind(_held(str, data))
    if kind in (bool, int, float, str):
        return lambda data: _held(kind, data)
    raise TypeError(f"{kind} has no plain form")


def _dataclass_reader(kind: Any) -> Callable[[Any], Any]:
    hints = get_type_hints(kind)
    readers = [_reader(hints[field.name]) for field in fields(kind)]
    return lambda data: kind(*_each(readers, data))


def _each(readers: list[Callable[[Any], Any]], data: Any) -> list[Any]:
    if len(_held(list, data)) != len(readers):
        raise ValueError(f"{len(readers)} parts were expected, not {len(data)}")
    return [read(each) for read, each in zip(readers, data, strict=True)]


def _held(kind: type, data: Any) -> Any:
    if type(data) is not kind:
        raise ValueError(f"{kind.__name__} was expected, not {type(data).__name__}")
    return data
