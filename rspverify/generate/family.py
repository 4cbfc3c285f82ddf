"""A family: all tests that have one of its shapes, in every choice of reach and of grouping."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product

from rspverify.generate.grouping import Grouping, groupings, groupings_on_devices
from rspverify.programs import LitmusTest, Thread, litmus_test, litmus_text, read_notation

SCOPES = ("WG", "DV", "DV.R")
FAR_SCOPES = (*SCOPES, "ALL", "ALL.R")
"""The choices of a family for several devices."""
EACH, THREAD, DATA = "s", "t", "d"
"""Letters for a choice: of each operation, one for the whole thread, and of a plain or an atomic
access to data that is declared atomic."""
_LETTER = re.compile(rf"(?<=\w\.)[{EACH}{THREAD}{DATA}](?= )")
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
    """A shape in the notation of notation.py, and the final condition of its tests.

    far: on two devices or more, with scope ALL among the choices; otherwise on one device.
    """

    notation: str
    asks: str
    far: bool = False

    def choices(self) -> Iterator[LitmusTest]:
        """Its tests with every choice for the letters of the notation, each thread alone."""
        scopes = FAR_SCOPES if self.far else SCOPES
        first, *rest = _LETTER.split(self.notation)
        keys = [self._key(each) for each in _LETTER.finditer(self.notation)]
        distinct = list(dict.fromkeys(keys))
        kinds = (("na", *scopes) if letter == DATA else scopes for letter, _ in distinct)
        atomic = self.atomic
        for chosen in product(*kinds):
            choice = dict(zip(distinct, chosen, strict=True))
            parts = (choice[key] + part for key, part in zip(keys, rest, strict=True))
            yield litmus_test(read_notation("".join([first, *parts])).threads, atomic)

    def _key(self, letter: re.Match[str]) -> tuple[str, int]:
        """What chooses for a letter: its operation, or its thread."""
        place = letter.start()
        return letter[0], self.notation.count("||", 0, place) if letter[0] == THREAD else place

    @property
    def count(self) -> int:
        """How many tests have this shape."""
        return sum(1 for _ in self.choices()) * sum(1 for _ in self.groupings())

    def groupings(self) -> Iterator[Grouping]:
        """Every grouping of its threads."""
        threads = self.notation.count("||") + 1
        return groupings_on_devices(threads) if self.far else groupings(threads)

    @property
    def atomic(self) -> frozenset[str]:
        """The locations that are declared atomic whatever is chosen."""
        test = read_notation(_LETTER.sub(SCOPES[0], self.notation))
        return frozenset(each.name for each in test.locations if each.atomic)


@dataclass(frozen=True)
class Family:
    """meaning: what its tests show, in a sentence without its full stop."""

    name: str
    meaning: str
    shapes: tuple[Shape, ...]

    def on_devices(self) -> Family:
        """The same shapes on two devices or more, with scope ALL among the choices."""
        shapes = tuple(replace(shape, far=True) for shape in self.shapes)
        return Family(f"{self.name}{_ON_DEVICES}", f"{self.meaning}, across devices", shapes)

    def counts(self) -> list[tuple[str, int]]:
        """The notation of each shape, and how many tests have it."""
        return [(shape.notation, shape.count) for shape in self.shapes]

    def tests(self) -> Iterator[Test]:
        """Every test, in an order that is always the same; titles are unique in all families."""
        family = self.name.removesuffix(_ON_DEVICES)
        for shape in self.shapes:
            comment = (
                f"Family {self.name} of `rspverify generate`: {self.meaning}."
                f" Shape: {shape.notation}."
            )
            for alone in shape.choices():
                for places in shape.groupings():
                    placed = zip(places, alone.threads, strict=True)
                    test = alone.with_threads(Thread(it, own.accesses) for it, own in placed)
                    title = f"{family}+{test.name}"
                    yield Test(title, litmus_text(test, title, comment=comment, asks=shape.asks))
