"""A family: all tests that have one of its shapes, in every choice of reach and of grouping."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product

from rspverify.generate.grouping import Grouping, groupings, groupings_on_devices
from rspverify.generate.notation import Access, Threads, read_shape
from rspverify.generate.writer import litmus_text

SCOPES = ("WG", "DV", "DV.R")
FAR_SCOPES = (*SCOPES, "ALL", "ALL.R")
"""The choices of a family for several devices."""
EACH, THREAD, DATA = "s", "t", "d"
"""Letters for a choice: of each operation, one for the whole thread, and of a plain or an atomic
access to data that is declared atomic."""
_ON_DEVICES = "-devices"


def _choices(scopes: tuple[str, ...]) -> dict[str, tuple[str, ...]]:
    return {EACH: scopes, THREAD: scopes, DATA: ("na", *scopes)}


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

    def choices(self) -> Iterator[Threads]:
        """The operations with every choice of reach for the letters of the notation."""
        threads = read_shape(self.notation)
        choices = _choices(FAR_SCOPES if self.far else SCOPES)
        keys = list(
            dict.fromkeys(
                _key(thread, place, access)
                for thread, accesses in enumerate(threads)
                for place, access in enumerate(accesses)
                if access.reach in choices
            )
        )
        for chosen in product(*(choices[letter] for letter, _, _ in keys)):
            reach = dict(zip(keys, chosen, strict=True))
            yield tuple(
                tuple(
                    access.reaching(reach.get(_key(thread, place, access), access.reach))
                    for place, access in enumerate(accesses)
                )
                for thread, accesses in enumerate(threads)
            )

    @property
    def count(self) -> int:
        """How many tests have this shape."""
        return sum(1 for _ in self.choices()) * sum(1 for _ in self.groupings())

    def groupings(self) -> Iterator[Grouping]:
        """Every grouping of its threads."""
        threads = len(read_shape(self.notation))
        return groupings_on_devices(threads) if self.far else groupings(threads)

    @property
    def atomic(self) -> frozenset[str]:
        """The locations that are declared atomic whatever is chosen."""
        accesses = (access for thread in read_shape(self.notation) for access in thread)
        return frozenset(access.location for access in accesses if access.reach != "na")


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
        for shape in self.shapes:
            for threads in shape.choices():
                for grouping in shape.groupings():
                    title = f"{self._stem(threads)}{grouping.suffix}"
                    text = litmus_text(
                        title,
                        threads,
                        grouping,
                        comment=f"Family {self.name} of `rspverify generate`: {self.meaning}."
                        f" Shape: {shape.notation}.",
                        asks=shape.asks,
                        atomic=shape.atomic,
                    )
                    yield Test(title, text)

    def _stem(self, threads: Threads) -> str:
        bodies = ("-".join(access.name for access in thread) for thread in threads)
        return "+".join([self.name.removesuffix(_ON_DEVICES), *bodies])


def _key(thread: int, place: int, access: Access) -> tuple[str, int, int]:
    """What chooses the reach of an operation: itself, or its thread."""
    return (access.reach, thread, -1 if access.reach == THREAD else place)
