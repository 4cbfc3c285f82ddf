"""Random machines, as text in their language: the paper's, with another choice here and there.

Many have steps of the shapes that every engine knows, and some have not: an engine must refuse
such a machine, or be right about it. machines.yaml has what they are made of.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from string import Template

import msgspec
from msgspec import Struct, field

from rspverify.architecture.architecture import Architecture
from rspverify.architecture.reader import read_architecture
from rspverify.records import replace
from rspverify.source import Source

PATH = "random.machine"
"""What the file of a random machine is called where it has no other name."""

_KEPT = 64


class RandomMachine(Struct, frozen=True):
    """A machine by what is chosen otherwise than the paper does."""

    chosen: Mapping[str, str] = field(default_factory=dict)

    def __hash__(self) -> int:
        return hash(tuple(sorted(self.chosen.items())))

    def __str__(self) -> str:
        return ", ".join(f"{what} {how}" for what, how in self.chosen.items()) or "rsp"

    def simpler(self) -> Iterator[RandomMachine]:
        """The machines in which one choice less is another than the paper's."""
        for gone in self.chosen:
            yield RandomMachine({it: how for it, how in self.chosen.items() if it != gone})

    @property
    def text(self) -> str:
        """Its file."""
        says = {what: usual for what, (usual, *_) in CHOICES.items()} | dict(self.chosen)
        items = filter(None, (_text(item, says) for item in _FILE.items))
        return "\n".join([f'machine random "{self}"'.replace("'", ""), "include rsp", *items, ""])

    @property
    def architecture(self) -> Architecture:
        """What its file says."""
        return _read(self.text)


@lru_cache(maxsize=_KEPT)
def _read(text: str) -> Architecture:
    return replace(read_architecture(Source(PATH, text)), path=PATH)


def random_machine(rng: random.Random) -> RandomMachine:
    """A machine with a few choices of its own."""
    many = min(len(CHOICES), rng.choice((1, 1, 2, 2, 3, 3, 4, 5, 7)))
    chosen = rng.sample(list(CHOICES), many)
    return RandomMachine({what: rng.choice(CHOICES[what][1:]) for what in chosen})


# ---- what they are made of -----------------------------------------------------------------------

_Choices = Mapping[str, Sequence[str]]


class _Part(Struct, frozen=True, array_like=True):
    """A text that is there where each of some choices is one of those, and none of others is."""

    text: str
    where: _Choices = {}
    unless: _Choices = {}


_Parts = str | Sequence[str | _Part]


class _Item(Struct, frozen=True, forbid_unknown_fields=True, rename={"where": "if"}):
    """An item of a file, by its head and its sections; it is left out where it lists nothing."""

    head: _Parts
    where: _Choices = {}
    unless: _Choices = {}
    listed: _Parts = ()
    cells: _Parts = ()
    when: _Parts = ()
    do: _Parts = ()


class _File(Struct, frozen=True, forbid_unknown_fields=True):
    """What machines.yaml says."""

    choices: dict[str, tuple[str, ...]]
    names: Mapping[str, Mapping[str, Mapping[str, str]]]
    items: Sequence[_Item]


_FILE = msgspec.yaml.decode(Path(__file__).with_name("machines.yaml").read_bytes(), type=_File)

CHOICES = _FILE.choices
"""What is chosen: what may be, first as the paper has it."""


def _text(item: _Item, says: Mapping[str, str]) -> str:
    """An item; nothing if it is left out."""
    listed, cells = _said(item.listed, says), _said(item.cells, says)
    lists_nothing = (item.listed or item.cells) and not (listed or cells)
    if lists_nothing or not _there(item, says):
        return ""
    text = "".join(_said(item.head, says))
    for parts, begin, between, end in (
        (listed, " ", ", ", ""),
        (cells, " {\n  ", "\n  ", "\n}"),
        (_said(item.when, says), "\n  when ", ", ", ""),
        (_said(item.do, says), "\n  do   ", "; ", ""),
    ):
        text += begin + between.join(parts) + end if parts else ""
    return text


def _said(parts: _Parts, says: Mapping[str, str]) -> list[str]:
    """The texts of the parts that are there."""
    names: dict[str, str] = {}
    for what, texts in _FILE.names.items():
        names |= texts[says[what]]
    listed = [parts] if isinstance(parts, str) else parts
    every = (it if isinstance(it, _Part) else _Part(it) for it in listed)
    found = (Template(it.text).substitute(names) for it in every if _there(it, says))
    return list(filter(None, found))


def _there(it: _Part | _Item, says: Mapping[str, str]) -> bool:
    wanted = all(says[what] in words for what, words in it.where.items())
    return wanted and not any(says[what] in words for what, words in it.unless.items())
