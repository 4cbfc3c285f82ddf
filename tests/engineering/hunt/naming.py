"""Tests under other names, as sketches have them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import permutations

from rspverify.engineering.hunt.formula.sketch import Sketch
from rspverify.enumeration.packed import NONE, PackedTest, _named


def named_for(shape: PackedTest, sketch: Sketch) -> Iterator[PackedTest]:
    """The shapes that differ from this one in names alone, and have the sketch."""
    if len(shape.atomic) != len(sketch.atomic):
        return
    for order in permutations(range(len(shape.threads))):
        named = _named(shape, order)
        lengths = tuple(len(thread.accesses) for thread in named.threads)
        if (lengths, tuple(it[:2] for it in named.threads)) != (sketch.lengths, sketch.places):
            continue
        for places in permutations(range(len(shape.atomic))):
            found = relocated(named, places)
            if (found.atomic, found.local) == (sketch.atomic, sketch.local) and all(
                sketch.reaches(number, each.location)
                for number, thread in enumerate(found.threads)
                for each in thread.accesses
            ):
                yield found


def relocated(shape: PackedTest, places: Sequence[int]) -> PackedTest:
    """A shape whose locations have other numbers."""
    numbers = dict(enumerate(places)) | {NONE: NONE}
    threads = tuple(
        it._replace(
            accesses=tuple(each._replace(location=numbers[each.location]) for each in it.accesses)
        )
        for it in shape.threads
    )
    atomic = tuple(shape.atomic[places.index(x)] for x in range(len(places)))
    return PackedTest(threads, atomic, tuple(sorted(numbers[x] for x in shape.local)))
