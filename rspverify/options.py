"""How the parameters of a question are given: one declaration for every way of asking it.

A field of a record is an `option` or an `argument`. The command line, the schemas of YAML files,
and the checks of what Python gives read it from there.
"""

from __future__ import annotations

import builtins
import dataclasses
import sys
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import MISSING, dataclass, field
from enum import Enum
from functools import cache
from inspect import get_annotations, isclass
from types import MappingProxyType, UnionType
from typing import Any, TypeVar, Union, get_args, get_origin

from msgspec import Struct

from rspverify.records import replace
from rspverify.source import require
from rspverify.wording import alternatives

T = TypeVar("T")


class Option(Struct, frozen=True):
    """An option of a command line; positional: an argument, which stands there without a name.

    name: by default that of the field, `--max-length` for `max_length`; several stand apart by
    blanks. least, most: bounds of a number. late: its default depends on other settings, as its
    help says. local: it is about where a command runs, so that no suite can choose it. commas:
    words are joined by commas. negates: it says that a field which is true is false. completes:
    what a shell completes, as `scheme` or `test`. with_tests: of its words the first are schemes,
    and those behind them the tests of the field `tests`.
    """

    help: str
    name: str = ""
    metavar: str | None = None
    least: float | None = None
    most: float | None = None
    late: bool = False
    local: bool = False
    commas: bool = False
    negates: bool = False
    completes: str | None = None
    positional: bool = False
    with_tests: bool = False


class Declared(Struct, frozen=True):
    """A field that can be given. kind: its type, of a list that of its items."""

    name: str
    option: Option
    kind: type
    several: bool
    default: Any

    @property
    def required(self) -> bool:
        """Whether it has no default."""
        return self.default is MISSING


@dataclass(frozen=True)
class Parameters:
    """What a question asks. Raises InputError where a number is out of its bounds."""

    def __post_init__(self) -> None:
        require_bounds(self)


def option(default: T, help: str, **how: Any) -> T:
    """A field that is an option: its default, its help, and the fields of Option."""
    return field(default=default, metadata={"way": Option(help, **how)})


def argument(help: str, default: Any = MISSING, **how: Any) -> Any:
    """A field that is an argument: its help, and the fields of Option."""
    return field(default=default, metadata={"way": Option(help, positional=True, **how)})


def require_bounds(record: object) -> None:
    """Raises InputError where a field is less than its least number, or more than its most."""
    for name, it in declared(type(record)).items():
        value, least, most = getattr(record, name), it.option.least, it.option.most
        if value is not None and least is not None:
            fits = least <= value and (most is None or value <= most)
            called = it.option.name.split()[0]
            require(fits, f"{called} must be {expected(it.kind, it.option)}, not {value}")


def expected(kind: type, option: Option) -> str:
    """What the value of an option must be, in words."""
    if choices := choices_of(kind):
        return alternatives(choices)
    if kind not in (int, float):
        return option.metavar or "a text"
    what = "a whole number" if kind is int else "a number"
    if option.least is not None and option.most is not None:
        return f"{what} from {option.least:g} to {option.most:g}"
    return what if option.least is None else f"{what}, {option.least:g} or more"


def choices_of(kind: type) -> list[str]:
    """The words of an enumeration; none of any other type."""
    return [str(each.value) for each in kind] if issubclass(kind, Enum) else []


def declared(record: Any, *, positional: bool = False) -> Mapping[str, Declared]:
    """The fields of a record that are options, or arguments, in their order."""
    found: Callable[..., Mapping[str, Declared]] = _declared
    return found(record, positional)


@cache
def _declared(record: Any, positional: bool) -> Mapping[str, Declared]:
    found = {}
    for each in dataclasses.fields(record):
        option = each.metadata.get("way")
        if option is not None and option.positional == positional:
            if not option.name:
                option = replace(option, name=f"--{each.name.replace('_', '-')}")
            place = next(it for it in record.__mro__ if each.name in get_annotations(it))
            names = _Names(vars(sys.modules[place.__module__]))
            hint = eval(str(each.type), {}, names)
            found[each.name] = Declared(each.name, option, *_kind(hint), each.default)
    return MappingProxyType(found)


class _Names(dict[str, Any]):
    """The names of a module; what is there for type checkers alone is given as a text."""

    def __getitem__(self, name: str) -> Any:
        found = self.get(name, getattr(builtins, name, str))
        return str if isinstance(found, str) else found


def _kind(hint: Any) -> tuple[type, bool]:
    """The type of what a command line gives for a field, and whether it gives many."""
    union = get_origin(hint) in (Union, UnionType)
    kinds = [it for it in get_args(hint) if it is not type(None)] if union else [hint]
    lists = [get_args(it)[0] for it in kinds if isclass(get_origin(it))]
    first = (lists or kinds)[0]
    plain = isclass(first) and issubclass(first, int | float | Enum)
    return first if plain else str, bool(lists)


def words_of(
    record: object, taken: Collection[str] | None = None, always: Collection[str] = ()
) -> Iterator[str]:
    """The words of a command line that make a record; of what is the default only `always`.

    taken: the fields that the command has options for, by name; None for all.
    """
    for name, it in declared(type(record)).items():
        value = getattr(record, name)
        if (taken is None or name in taken) and (name in always or value != it.default):
            words = value if it.several else [value]
            joined = ",".join(map(str, words))
            yield from [it.option.name] if isinstance(value, bool) else [it.option.name, joined]


def listed(option: str, words: str) -> list[str]:
    """The words that an option joins by commas; none where it is empty. Raises InputError."""
    parts = [each.strip() for each in words.split(",")] if words else []
    require(all(parts), f"{option} must have a word before and after each comma, not {words!r}")
    return parts
