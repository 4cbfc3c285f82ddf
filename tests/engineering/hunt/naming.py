"""Tests under other names, as sketches have them."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import permutations

from rspverify.engineering.hunt.formula.sketch import Sketch
from rspverify.enumeration.packed import NONE, PackedTest, PackedThread


def named_for(shape: PackedTest, sketch: Sketch) -> Iterator[PackedTest]:
    """The shapes that differ from this one in names alone, and have the sketch."""
    count = len(shape.threads)
    if count != len(sketch.lengths) or len(shape.atomic) != len(sketch.atomic):
        return
    for order in permutations(range(count)):
        threads = [shape.threads[each] for each in order]
        devices: dict[int, int] = {}
        groups: dict[int, list[int]] = {}
        named = []
        for thread in threads:
            device = devices.setdefault(thread.device, len(devices))
            its = groups.setdefault(device, [])
            its += [] if thread.group in its else [thread.group]
            named.append((device, its.index(thread.group)))
        lengths = tuple(len(thread.accesses) for thread in threads)
        if lengths != sketch.lengths or tuple(named) != sketch.places:
            continue
        number = {old: new for new, old in enumerate(order)} | {-1: -1}
        for places in permutations(range(len(shape.atomic))):
            atomic = tuple(shape.atomic[places.index(x)] for x in range(len(places)))
            named_at = dict(enumerate(places)) | {NONE: NONE}
            local = tuple(sorted(places[x] for x in shape.local))
            if (atomic, local) == (sketch.atomic, sketch.local):
                found = PackedTest(
                    tuple(
                        PackedThread(
                            *place,
                            tuple(
                                it._replace(
                                    location=named_at[it.location],
                                    of=number[it.of],
                                    expects=number[it.expects],
                                )
                                for it in thread.accesses
                            ),
                        )
                        for thread, place in zip(threads, named, strict=True)
                    ),
                    atomic,
                    local,
                )
                if all(
                    sketch.reaches(t, each.location)
                    for t, its in enumerate(found.threads)
                    for each in its.accesses
                ):
                    yield found
