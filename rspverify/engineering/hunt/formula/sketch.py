"""Sketches: how long threads are, where they run, who shares which place, which locations are
atomic."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations_with_replacement, compress, permutations

from rspverify.architecture import Architecture
from rspverify.assembly import Placement, ThreadId
from rspverify.enumeration.space import Space
from rspverify.generate.grouping import groupings
from rspverify.machine.placements import placements
from rspverify.machine.sharing import shared_with_effect


@dataclass(frozen=True)
class Sketch:
    """lengths, groups: of each thread, how many operations, and its work-group; atomic: of each
    location, whether it is declared so. placement: of places of the machine of which programs do
    not say who is in them, the one that each thread is in.
    """

    lengths: tuple[int, ...]
    groups: tuple[int, ...]
    atomic: tuple[bool, ...]
    placement: Placement = ()

    def __str__(self) -> str:
        lengths = " + ".join(map(str, self.lengths))
        kinds = ", ".join("atomic" if each else "plain" for each in self.atomic)
        groups = ", ".join(map(str, self.groups))
        places = "".join(
            f", {kind} {', '.join(map(str, numbers))}" for kind, numbers in self.placement
        )
        return f"threads of {lengths} operations in work-groups {groups}{places}, locations {kinds}"

    @property
    def threads(self) -> tuple[ThreadId, ...]:
        """Where each thread runs."""
        return tuple(ThreadId(0, group, number) for number, group in enumerate(self.groups))


def sketches(
    space: Space, events: int, threads: int, machine: Architecture | None = None
) -> tuple[Sketch, ...]:
    """The sketches of the programs with so many operations and threads that must be decided.

    Such a program (Sort.CORE, lemmas.py) has a location that is written and accessed from two
    work-groups, so there are two, unless one alone may go wrong (`again`); and each location is
    accessed by two threads, which takes as many operations, unless a seq_cst operation accesses it,
    or it is the only one of a single thread. Sketches that differ in the names of threads,
    work-groups or places alone are one. machine: for every placement that matters on it.
    """
    return tuple(
        Sketch(lengths, groups, atomic, placement)
        for lengths in _lengths(events, threads, events)
        for groups in _groupings(lengths, apart=not space.again)
        if max(groups) < space.workgroups
        for atomic in _kinds(space)
        if len(atomic) <= _most_locations(space, lengths, len(atomic))
        for placement in _placements(lengths, groups, machine)
    )


def _most_locations(space: Space, lengths: tuple[int, ...], wanted: int) -> int:
    """As many locations, up to those wanted, as so long threads can access as they must."""
    if space.has_seq_cst:
        return sum(lengths)
    if len(lengths) == 1:
        return 1
    return sum(min(length, wanted) for length in lengths) // 2


def _placements(
    lengths: tuple[int, ...], groups: tuple[int, ...], machine: Architecture | None
) -> Iterator[Placement]:
    """Every placement that matters, once up to the names of threads that are alike."""
    if machine is None or not machine.kinds.open:
        yield ()
        return
    whole = Sketch(lengths, groups, ())
    seen: set[Placement] = set()
    for each in placements(machine.kinds, whole.threads, shared_with_effect(machine)):
        if each not in seen:
            seen |= set(_alike(each, lengths, groups))
            yield each


def _alike(
    placement: Placement, lengths: tuple[int, ...], groups: tuple[int, ...]
) -> Iterator[Placement]:
    """A placement with threads exchanged that are equally long, and whose work-groups are alike."""
    for order in permutations(range(len(lengths))):
        if tuple(lengths[it] for it in order) == lengths:
            if _renamed(tuple(groups[it] for it in order)) == _renamed(groups):
                yield tuple(
                    (kind, _renamed(tuple(numbers[it] for it in order)))
                    for kind, numbers in placement
                )


def _renamed(places: tuple[int, ...]) -> tuple[int, ...]:
    """Places, numbered as they come."""
    names: dict[int, int] = {}
    return tuple(names.setdefault(each, len(names)) for each in places)


def _lengths(events: int, threads: int, most: int) -> Iterator[tuple[int, ...]]:
    """So many operations in so many threads, none longer than the one before."""
    if threads == 1:
        if 1 <= events <= most:
            yield (events,)
        return
    for first in range(min(events, most), 0, -1):
        for rest in _lengths(events - first, threads - 1, first):
            yield (first, *rest)


def _groupings(lengths: tuple[int, ...], *, apart: bool) -> Iterator[tuple[int, ...]]:
    """Which threads share a work-group, once up to the names of equally long ones. apart: not
    all do."""
    seen = set()
    for places in groupings(len(lengths)):
        groups = tuple(group for _, group in places)
        members = [sorted(compress(lengths, map(each.__eq__, groups))) for each in set(groups)]
        kind = tuple(map(tuple, sorted(members)))
        if (len(members) > 1 or not apart) and kind not in seen:
            seen.add(kind)
            yield groups


def _kinds(space: Space) -> Iterator[tuple[bool, ...]]:
    """Which locations are atomic: of those kinds that some operation accesses."""
    kinds = sorted({not access.plain for access in space.accesses})
    for count in range(1, space.locations + 1):
        yield from combinations_with_replacement(kinds, count)
