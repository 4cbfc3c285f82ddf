"""Sketches: how long threads are, where they run, who shares which place, which locations are
atomic, and in whose memory they are."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from itertools import (
    chain,
    combinations_with_replacement,
    compress,
    count,
    cycle,
    permutations,
)

from msgspec import Struct

from rspverify.architecture.architecture import Architecture
from rspverify.assembly.program import Placement, ThreadId
from rspverify.enumeration.space import Space
from rspverify.enumeration.tables import distance
from rspverify.generate.grouping import Grouping, groupings, groupings_on_devices
from rspverify.litmus.program import GLOBAL, LOCAL, Kind
from rspverify.machine.placements import placements
from rspverify.machine.reductions import shared_with_effect

Owners = tuple[tuple[int, ...], ...]
"""Of each location the threads in whose local memory it is; none where it is in global memory."""


class Sketch(Struct, frozen=True):
    """lengths, places: of each thread, how many operations, and its device and work-group on that;
    atomic: of each location, whether it is declared so. placement: of places of the machine of
    which programs do not say who is in them, the one that each thread is in. owners: of each
    location the threads of the work-group in whose local memory it is, none of one in global
    memory.
    """

    lengths: tuple[int, ...]
    places: Grouping
    atomic: tuple[bool, ...]
    placement: Placement = ()
    owners: Owners = ()

    def __str__(self) -> str:
        lengths = " + ".join(map(str, self.lengths))
        kinds = ", ".join(
            ("atomic" if each else "plain")
            + (f" local to {_listed(f'P{it}' for it in sorted(owners))}" if owners else "")
            for each, owners in zip(self.atomic, self.owners or cycle([()]), strict=False)
        )
        devices, groups = (_listed(each) for each in zip(*self.places, strict=True))
        where = f"in work-groups {groups}"
        if any(device for device, _ in self.places):
            where = f"on devices {devices} {where}"
        where += "".join(f", {kind} {_listed(numbers)}" for kind, numbers in self.placement)
        return f"threads of {lengths} operations {where}, locations {kinds}"

    @property
    def threads(self) -> tuple[ThreadId, ...]:
        """Where each thread runs."""
        return tuple(ThreadId(*place, number) for number, place in enumerate(self.places))

    @property
    def local(self) -> tuple[int, ...]:
        """The locations that are in local memory."""
        return tuple(x for x, owners in enumerate(self.owners) if owners)

    def reaches(self, thread: int, location: int) -> bool:
        """Whether a thread may access a location."""
        return location not in self.local or thread in self.owners[location]

    def apart(self, one: int, other: int) -> int:
        """How far two threads are from each other, as `distance` says it."""
        return distance(self.places[one], self.places[other])


def _listed(numbers: Iterable[object]) -> str:
    return ", ".join(map(str, numbers))


def sketches(
    space: Space, events: int, threads: int, machine: Architecture | None = None
) -> tuple[Sketch, ...]:
    """The sketches of the programs with so many operations and threads that must be decided.

    Such a program (Sort.CORE, lemmas.py) has a location that is written and accessed from two
    work-groups, so there are two, unless one alone may go wrong (`again`); and each location is
    accessed by two threads, which takes as many operations, unless a seq_cst operation accesses it,
    or it is the only one of a single thread. Sketches that differ in the names of threads,
    devices, work-groups or places alone are one. machine: for every placement that matters on it.
    """
    return tuple(
        Sketch(lengths, places, atomic, placement, owners if any(owners) else ())
        for lengths in _lengths(events, threads, events)
        for places in _groupings(lengths, space)
        for atomic, owners in _kinds(space, places)
        if len(atomic) <= _most_locations(space, lengths, len(atomic))
        for placement in _placements(lengths, places, machine, atomic, owners)
    )


def _most_locations(space: Space, lengths: tuple[int, ...], wanted: int) -> int:
    """As many locations, up to those wanted, as so long threads can access as they must."""
    if space.has_seq_cst:
        return sum(lengths)
    if len(lengths) == 1:
        return 1
    return sum(min(length, wanted) for length in lengths) // 2


def _placements(
    lengths: tuple[int, ...],
    places: Grouping,
    machine: Architecture | None,
    atomic: tuple[bool, ...],
    owners: Owners,
) -> Iterator[Placement]:
    """Every placement that matters, once up to the names of threads that are alike."""
    if machine is None or not machine.kinds.open:
        yield ()
        return
    whole = Sketch(lengths, places, ())
    numbers = range(len(lengths))
    owned = _owned(atomic, owners, numbers)
    alike = [
        order
        for order in permutations(numbers)
        if tuple(lengths[it] for it in order) == lengths
        if _said(tuple(places[it] for it in order)) == _said(places)
        if _owned(atomic, owners, order) == owned
    ]
    seen: set[Placement] = set()
    for each in placements(machine.kinds, whole.threads, shared_with_effect(machine)):
        first = min(_exchanged(each, order) for order in alike)
        if first not in seen:
            seen.add(first)
            yield each


def _exchanged(placement: Placement, order: Sequence[int]) -> Placement:
    """A placement with its threads in an order."""
    return tuple((kind, _renamed(tuple(those[it] for it in order))) for kind, those in placement)


def _owned(
    atomic: Sequence[bool], owners: Owners, order: Sequence[int]
) -> list[tuple[bool, list[int]]]:
    """The locations by kind and owners, threads being in this order, whatever they are called."""
    return sorted(
        (each, [place for place, thread in enumerate(order) if thread in those])
        for each, those in zip(atomic, owners, strict=True)
    )


def _said(places: Grouping) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Who shares a device, and who a work-group."""
    return _renamed(tuple(device for device, _ in places)), _renamed(places)


def _renamed(places: tuple[Hashable, ...]) -> tuple[int, ...]:
    """Places, numbered as they come."""
    names: dict[Hashable, int] = {}
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


def _groupings(lengths: tuple[int, ...], space: Space) -> Iterator[Grouping]:
    """Which threads share a work-group, and which of these a device, once up to the names of
    equally long threads. Not all share one, unless a work-group alone may go wrong."""
    seen = set()
    threads = len(lengths)
    for places in chain(groupings(threads), groupings_on_devices(threads)):
        groups = {it: tuple(sorted(compress(lengths, map(it.__eq__, places)))) for it in places}
        devices = {device for device, _ in groups}
        kind = tuple(
            sorted(tuple(sorted(groups[it] for it in groups if it[0] == each)) for each in devices)
        )
        within = len(groups) <= space.workgroups and len(devices) <= space.devices
        if within and (len(groups) > 1 or space.again) and kind not in seen:
            seen.add(kind)
            yield places


def _kinds(space: Space, places: Grouping) -> Iterator[tuple[tuple[bool, ...], Owners]]:
    """Which locations are atomic, of those kinds that some operation accesses, and which are in the
    local memory of whom: of a work-group of several threads, unless what one thread alone accesses
    may matter."""
    accesses = (it for it in space.accesses if it.kind is not Kind.FENCE)
    atomic = sorted({not access.plain for access in accesses})
    groups = [frozenset(compress(count(), map(it.__eq__, places))) for it in dict.fromkeys(places)]
    alone = space.has_seq_cst or len(places) == 1
    owners: list[Iterable[int]] = [()] if GLOBAL in space.memories else []
    if LOCAL in space.memories:
        owners += [tuple(sorted(it)) for it in groups if alone or len(it) > 1]
    kinds = [(each, tuple(those)) for each in atomic for those in owners]
    for number in range(1, space.locations + 1):
        for chosen in combinations_with_replacement(kinds, number):
            if not all(any(not its or it in its for _, its in chosen) for it in range(len(places))):
                continue  # A thread that reaches none has fences alone.
            yield tuple(each for each, _ in chosen), tuple(those for _, those in chosen)
