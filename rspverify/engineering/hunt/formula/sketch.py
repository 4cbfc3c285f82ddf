"""Sketches: how long threads are, where they run, and which locations are atomic."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations_with_replacement, compress

from rspverify.enumeration.space import Space
from rspverify.generate.grouping import groupings


@dataclass(frozen=True)
class Sketch:
    """lengths, groups: of each thread, how many operations, and its work-group; atomic: of each
    location, whether it is declared so."""

    lengths: tuple[int, ...]
    groups: tuple[int, ...]
    atomic: tuple[bool, ...]

    def __str__(self) -> str:
        lengths = " + ".join(map(str, self.lengths))
        kinds = ", ".join("atomic" if each else "plain" for each in self.atomic)
        groups = ", ".join(map(str, self.groups))
        return f"threads of {lengths} operations in work-groups {groups}, locations {kinds}"


def sketches(space: Space, events: int, threads: int) -> tuple[Sketch, ...]:
    """The sketches of the programs with so many operations and threads that must be decided.

    Such a program (Sort.CORE, lemmas.py) has a location that is written and accessed from two
    work-groups, so there are two; and each location is accessed by two threads, which takes as many
    operations. Sketches that differ in the names of threads or work-groups alone are one.
    """
    return tuple(
        Sketch(lengths, groups, atomic)
        for lengths in _lengths(events, threads, events)
        for groups in _groupings(lengths)
        if max(groups) < space.workgroups
        for atomic in _kinds(space)
        if 2 * len(atomic) <= sum(min(length, len(atomic)) for length in lengths)
    )


def _lengths(events: int, threads: int, most: int) -> Iterator[tuple[int, ...]]:
    """So many operations in so many threads, none longer than the one before."""
    if threads == 1:
        if 1 <= events <= most:
            yield (events,)
        return
    for first in range(min(events, most), 0, -1):
        for rest in _lengths(events - first, threads - 1, first):
            yield (first, *rest)


def _groupings(lengths: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    """Which threads share a work-group, but not all: once up to the names of equally long ones."""
    seen = set()
    for places in groupings(len(lengths)):
        groups = tuple(group for _, group in places)
        members = [sorted(compress(lengths, map(each.__eq__, groups))) for each in set(groups)]
        kind = tuple(map(tuple, sorted(members)))
        if len(members) > 1 and kind not in seen:
            seen.add(kind)
            yield groups


def _kinds(space: Space) -> Iterator[tuple[bool, ...]]:
    """Which locations are atomic: of those kinds that some operation accesses."""
    kinds = sorted({not access.plain for access in space.accesses})
    for count in range(1, space.locations + 1):
        yield from combinations_with_replacement(kinds, count)
