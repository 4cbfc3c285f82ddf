"""`generate rows`: for each row of a compiler's table, the smallest programs that need it.

rows.yaml has the tests, and says how it is read.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import chain, product
from pathlib import Path
from string import Template

import msgspec
from msgspec import Struct

from rspverify.litmus.program import LOCAL
from rspverify.programs.notation import read_notation
from rspverify.programs.writer import litmus_text

NAME = "rows"
_MEANING = "for each row of a table, the smallest programs that need it"

_Alternative = Mapping[str, str | Sequence[str]]
_Values = Mapping[str, str]


class Test(Struct, frozen=True):
    """A test that is not yet a file."""

    title: str
    text: str

    @property
    def file(self) -> str:
        """The name of its file."""
        return f"{self.title}.litmus"


class RowTest(Struct, frozen=True):
    """A test in the notation. conditions: of its outcome, all of them."""

    title: str
    notation: str
    conditions: tuple[str, ...]

    def written(self) -> Test:
        """The test as a file."""
        comment = f"Family {NAME} of `rspverify generate`: {_MEANING}."
        wrong = r" /\ ".join(self.conditions)
        text = litmus_text(
            read_notation(self.notation), self.title, comment=comment, asks=f"exists ({wrong})"
        )
        return Test(self.title, text)


class RowFamily(Struct, frozen=True):
    """The family of all these tests. Its operations, scopes and memories are those of rows, so
    that there is nothing to choose."""

    name: str = NAME
    meaning: str = _MEANING

    def counts(self) -> list[tuple[str, int]]:
        """Each kind of tests by the beginning of their titles, and their number."""
        kinds = (each.title.split("-")[0] for each in row_tests())
        return [(f"{kind}-…", many) for kind, many in Counter(kinds).items()]

    @property
    def most(self) -> int:
        """The number of tests."""
        return len(row_tests())

    def tests(self) -> Iterator[Test]:
        """Every test, in an order that is always the same."""
        yield from (each.written() for each in row_tests())


class _Group(Struct, frozen=True, forbid_unknown_fields=True):
    """Tests of one text. each: its axes, by name or as they are. memories: of locations, where they
    may be local. expected: the value of e, by which a compare-exchange expects it."""

    title: str
    each: Sequence[str | Sequence[_Alternative]]
    threads: Sequence[str]
    asks: Sequence[str]
    at: str = "$at"
    memories: Mapping[str, str] = {}
    expected: int = 0


class _File(Struct, frozen=True, forbid_unknown_fields=True):
    """What rows.yaml says."""

    names: _Values
    also: Mapping[str, Mapping[str, _Values]]
    axes: Mapping[str, Sequence[_Alternative]]
    groups: Sequence[_Group]

    def tests(self) -> Iterator[RowTest]:
        """Every test."""
        for group in self.groups:
            axes = (self.axes[each] if isinstance(each, str) else each for each in group.each)
            for way in product(*(list(chain.from_iterable(map(_single, axis))) for axis in axes)):
                yield _test(group, self._meanings(dict(chain.from_iterable(map(dict.items, way)))))

    def _meanings(self, given: _Values) -> _Values:
        """What names mean in a test: what it gives, what that brings with it, and what is usual."""
        found = dict(self.names)
        for name, value in {**self.names, **given}.items():
            found |= self.also.get(name, {}).get(value, {})
        return {**found, **given}


def _single(alternative: _Alternative) -> Iterator[dict[str, str]]:
    """The alternatives with one value for each name."""
    choices = ([it] if isinstance(it, str) else it for it in alternative.values())
    for chosen in product(*choices):
        yield dict(zip(alternative, chosen, strict=True))


def _test(group: _Group, meanings: _Values) -> RowTest:
    def text(template: str) -> str:
        while "$" in template:
            template = Template(template).substitute(meanings)
        return template

    threads = " || ".join(map(text, group.threads))
    local = [x for x, memory in group.memories.items() if text(memory) == LOCAL]
    parts = [threads, text(group.at), *(f"(local {x})" for x in local)]
    if group.expected and " e " in threads:
        parts.append(f"(e={group.expected})")
    asks = tuple(filter(None, map(text, group.asks)))
    return RowTest(text(group.title), " ".join(filter(None, parts)), asks)


@cache
def row_tests() -> tuple[RowTest, ...]:
    """Every test of the family in the notation."""
    text = Path(__file__).with_name("rows.yaml").read_text(encoding="utf-8")
    return tuple(msgspec.yaml.decode(text, type=_File).tests())
