"""A family: all tests that have one of its shapes, in every choice of reach and of grouping."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product

from rspverify.generate.grouping import Grouping, groupings, groupings_on_devices
from rspverify.programs import LitmusTest, Thread, litmus_test, litmus_text, read_notation

_SCOPES = ("WG", "DV", "DV.R")
_FAR_SCOPES = (*_SCOPES, "ALL", "ALL.R")
_LETTER = re.compile(r"(?<=\w\.)[std](?= )")
"""A choice: `s` of each operation, `t` one for the whole thread, and `d` of a plain or an atomic
access to data that is declared atomic."""
_ON_DEVICES = "-devices"


@dataclass(frozen=True)
class Test:
    """A test that is not yet a file."""

    title: str
    text: str

    @property
    def file(self) -> str:
        """The name of its file."""
        return f"{self.title}.litmus"


@dataclass(frozen=True)
class Shape:
    """A shape in the notation of notation.py, and the final condition of its tests."""

    notation: str
    asks: str

    def choices(self, scopes: tuple[str, ...]) -> Iterator[LitmusTest]:
        """Its tests with every choice for the letters of the notation, each thread alone."""
        first, *rest = _LETTER.split(self.notation)
        keys = [self._key(each) for each in _LETTER.finditer(self.notation)]
        distinct = list(dict.fromkeys(keys))
        kinds = (("na", *scopes) if letter == "d" else scopes for letter, _ in distinct)
        any_test = read_notation(_LETTER.sub(scopes[0], self.notation))
        atomic = {each.name for each in any_test.locations if each.atomic}
        for chosen in product(*kinds):
            choice = dict(zip(distinct, chosen, strict=True))
            parts = (choice[key] + part for key, part in zip(keys, rest, strict=True))
            yield litmus_test(read_notation("".join([first, *parts])).threads, atomic)

    def _key(self, letter: re.Match[str]) -> tuple[str, int]:
        """What chooses for a letter: its operation, or its thread."""
        place = letter.start()
        return letter[0], self.notation.count("||", 0, place) if letter[0] == "t" else place


@dataclass(frozen=True)
class Family:
    """meaning: what its tests show, in a sentence without its full stop.

    far: on two devices or more, with scope ALL among the choices; otherwise on one device.
    """

    name: str
    meaning: str
    shapes: tuple[Shape, ...]
    far: bool = False

    def on_devices(self) -> Family:
        """The same shapes on two devices or more."""
        name, meaning = f"{self.name}{_ON_DEVICES}", f"{self.meaning}, across devices"
        return replace(self, name=name, meaning=meaning, far=True)

    def counts(self) -> list[tuple[str, int]]:
        """The notation of each shape, and how many tests have it."""
        return [
            (it.notation, sum(len(found) for _, found in self._grouped(it))) for it in self.shapes
        ]

    def tests(self) -> Iterator[Test]:
        """Every test, in an order that is always the same; titles are unique in all families."""
        family = self.name.removesuffix(_ON_DEVICES)
        told = f"Family {self.name} of `rspverify generate`: {self.meaning}."
        for shape in self.shapes:
            comment = f"{told} Shape: {shape.notation}."
            for alone, found in self._grouped(shape):
                for places in found:
                    placed = zip(places, alone.threads, strict=True)
                    test = alone.with_threads(Thread(it, own.accesses) for it, own in placed)
                    title = f"{family}+{test.name}"
                    yield Test(title, litmus_text(test, title, comment=comment, asks=shape.asks))

    def _grouped(self, shape: Shape) -> Iterator[tuple[LitmusTest, tuple[Grouping, ...]]]:
        """Each choice of a shape, and every grouping of its threads."""
        find = groupings_on_devices if self.far else groupings
        for alone in shape.choices(_FAR_SCOPES if self.far else _SCOPES):
            yield alone, tuple(find(len(alone.threads)))
