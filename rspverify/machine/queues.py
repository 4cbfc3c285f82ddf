"""The fifos of the events engine: when a flush marker lets its thread go on.

Only locations that may stand before a marker matter. Each leaves at some time, in fifo order, when
its entry is CLEAN. Where an entry has just one write it is CLEAN for good from that write's flush
on, so that the location leaves as good as then; otherwise its leaving is a happening of its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rspverify.machine.happening import Happening, Happenings
from rspverify.machine.rules import Cache, Marker
from rspverify.smt import FALSE, TRUE, Term, all_of, any_of

if TYPE_CHECKING:
    from rspverify.machine.events import Events


@dataclass(frozen=True, eq=False)
class Element:
    """What a happening puts into a fifo: the `place`-th of what it enqueues."""

    cache: Cache
    element: str | Marker
    by: Happening
    place: int


class Queues:
    """The elements of all fifos that can hold somebody up.

    Adds to the happenings the leaving of each location that may leave at different times.
    """

    def __init__(self, happenings: Happenings) -> None:
        self._happenings = happenings
        every = [
            Element(enqueue.cache, enqueue.element, each, place)
            for each in happenings.all
            for place, enqueue in enumerate(each.enqueues)
        ]
        self._markers = [
            each
            for each in every
            if isinstance(each.element, Marker) and any(True for _ in self._followers(each))
        ]
        self._waiting: dict[Cache, list[Element]] = {}
        self._leaving: dict[Element, Happening] = {}
        for each in every:
            if isinstance(each.element, Marker):
                continue
            if any(self._may_stand_before(each, marker) for marker in self._markers):
                self._waiting.setdefault(each.cache, []).append(each)
                self._leaving[each] = self._leaves(each)

    def constraints(self, events: Events) -> Iterator[Term]:
        """Locations leave in order, and threads wait for their markers."""
        for elements in self._waiting.values():
            for each in elements:
                if self._leaving[each].rule.step == "DEQLOC":
                    for other in elements:
                        if other is not each:
                            yield self._first(events, other, each, self._leaving[each])
        for marker in self._markers:
            marks = events.happens[marker.by.number]
            for following in self._followers(marker):
                goes_on = events.happens[following.number]
                for each in self._waiting.get(marker.cache, ()):
                    first = self._first(events, each, marker, following)
                    yield any_of((~marks, first))
                if goes_on is TRUE or goes_on is marks:
                    break

    def remaining(self, events: Events, following: Happening) -> Iterator[tuple[Element, Term]]:
        """What may stand before a marker that an instruction waits for, and that it does so still.

        The instruction is the next of its thread, so that all before it have been executed.
        """
        for marker in self._markers:
            if following in self._followers(marker):
                marks = events.happens[marker.by.number]
                for each in self._waiting.get(marker.cache, ()):
                    entered = self._entered(events, each, marker)
                    left = events.happens[self._leaving[each].number]
                    yield each, all_of((marks, entered, ~left))

    def leaving(self, by: Happening, place: int) -> Happening | None:
        """When what a happening enqueued leaves; None where nobody needs to know."""
        found = (
            what for each, what in self._leaving.items() if (each.by, each.place) == (by, place)
        )
        return next(found, None)

    def _entered(self, events: Events, one: Element, other: Element) -> Term:
        """That one entered, before another."""
        if one.by is other.by:
            return events.happens[one.by.number] if one.place < other.place else FALSE
        return events.happens[one.by.number] & events.before(one.by, other.by)

    def _first(self, events: Events, one: Element, other: Element, what: Happening) -> Term:
        """If one entered before another, something waits until it has left."""
        leaving = self._leaving[one]
        entered = self._entered(events, one, other)
        left = events.happens[leaving.number] & events.before(leaving, what)
        return any_of((events.absent(what), ~entered, left))

    def _followers(self, marker: Element) -> Iterator[Happening]:
        """The instructions that come after a marker in its thread."""
        for code in self._happenings.code:
            if marker.by in code:
                yield from code[code.index(marker.by) + 1 :]

    def _may_stand_before(self, each: Element, marker: Element) -> bool:
        if each.cache != marker.cache:
            return False
        if each.by is marker.by:
            return each.place < marker.place
        first, second = each.by.rule.instruction, marker.by.rule.instruction
        if first is None or second is None or first.thread != second.thread:
            return True
        return first.index < second.index

    def _leaves(self, each: Element) -> Happening:
        """Its leaving; the flush of its entry where there can be no other write to it."""
        assert isinstance(each.element, str)
        entry = (each.cache, each.element)
        if len(self._happenings.dirtying[entry]) == 1:
            return self._happenings.flushes[each.by, entry]
        return self._happenings.add_dequeue(each.by, entry)
