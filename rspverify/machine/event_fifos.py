"""The fifos of the events engine: when a flush marker lets its thread go on.

Only locations that may stand before a marker matter. Each leaves at some time, in fifo order, when
its entry is CLEAN. Where an entry has just one write it is CLEAN for good from that write's flush
on, so that the location leaves as good as then; otherwise its leaving is an event of its own.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from rspverify.machine.event import Event, PossibleEvents
from rspverify.machine.event_order import EventOrder
from rspverify.machine.relevance import may_stand_before
from rspverify.machine.rules import Bit, Element, Fifo, Marker, Without
from rspverify.machine.shapes import Shape
from rspverify.smt.term import FALSE, TRUE, Term, all_of, any_of


class Enqueued(Struct, frozen=True):
    """An element that an event puts into a fifo, the `place`-th of its elements."""

    fifo: Fifo
    element: Element
    by: Event
    place: int


def enqueued(by: Event) -> list[Enqueued]:
    """The elements that an event puts into fifos, in order."""
    return [
        Enqueued(each.fifo, each.element, by, place) for place, each in enumerate(by.rule.enqueues)
    ]


class EventFifos:
    """The elements of all fifos that can hold somebody up.

    leaving: a location that may stand before a marker → its leaving; where that may be at different
    times, it is one more of the possible events.
    """

    def __init__(self, possible: PossibleEvents) -> None:
        self._possible = possible
        every = [element for each in possible.all for element in enqueued(each)]
        self._markers = [
            each
            for each in every
            if isinstance(each.element, Marker) and any(True for _ in self._followers(each))
        ]
        self._waiting: dict[Fifo, list[Enqueued]] = {}
        self.leaving: dict[Enqueued, Event] = {}
        for each in every:
            if isinstance(each.element, Marker):
                continue
            if any(_may_stand_before(each, marker) for marker in self._markers):
                self._waiting.setdefault(each.fifo, []).append(each)
                self.leaving[each] = self._leaves(each)

    def constraints(self, order: EventOrder) -> Iterator[Term]:
        """Locations leave in order, and threads wait for their markers."""
        for elements in self._waiting.values():
            for each in elements:
                if self.leaving[each].shape is Shape.LEAVES:
                    for other in elements:
                        if other is not each:
                            yield self._first(order, other, each, self.leaving[each])
        for marker in self._markers:
            marks = order.happens(marker.by)
            for following in self._followers(marker):
                goes_on = order.happens(following)
                for each in self._waiting.get(marker.fifo, ()):
                    first = self._first(order, each, marker, following)
                    yield any_of((~marks, first))
                if goes_on is TRUE or goes_on is marks:
                    break

    def remaining(self, order: EventOrder, following: Event) -> Iterator[tuple[Enqueued, Term]]:
        """What may stand before a marker that an instruction waits for, and that it does so still.

        The instruction is the next of its thread, so that all before it have been executed.
        """
        for marker in self._markers:
            if following in self._followers(marker):
                marks = order.happens(marker.by)
                for each in self._waiting.get(marker.fifo, ()):
                    entered = self._entered(order, each, marker)
                    yield each, all_of((marks, entered, order.absent(self.leaving[each])))

    def _entered(self, order: EventOrder, one: Enqueued, other: Enqueued) -> Term:
        """That one entered, before another."""
        if one.by is other.by:
            return order.happens(one.by) if one.place < other.place else FALSE
        return order.happens(one.by) & order.before(one.by, other.by)

    def _first(self, order: EventOrder, one: Enqueued, other: Enqueued, what: Event) -> Term:
        """If one entered before another, something waits until it has left."""
        leaving = self.leaving[one]
        entered = self._entered(order, one, other)
        left = order.happens(leaving) & order.before(leaving, what)
        return any_of((order.absent(what), ~entered, left))

    def _followers(self, marker: Enqueued) -> Iterator[Event]:
        """The instructions that come after a marker in its thread, and wait for it."""
        for code in self._possible.code:
            if marker.by in code:
                for each in code[code.index(marker.by) + 1 :]:
                    if any(
                        isinstance(guard, Without) and marker.fifo in guard.fifos
                        for guard in each.rule.guards
                    ):
                        yield each

    def _leaves(self, each: Enqueued) -> Event:
        """Its leaving; the flush of its entry where there can be no other write to it."""
        possible = self._possible
        rule, clean = possible.shapes.leaving[each.fifo, each.element], self.wanted_clean(each)
        if len(clean) == 1 and len(rule.guards) == 2 and clean[0] not in possible.unsetting:
            flushes = possible.flushes.get((each.by, clean[0]), ())
            if len(possible.setting.get(clean[0], ())) == 1 and len(flushes) == 1:
                return flushes[0]
        return possible.add_dequeue(each.by, each.fifo, each.element)

    def wanted_clean(self, each: Enqueued) -> list[Bit]:
        """The bits that must be false for it to leave."""
        rule = self._possible.shapes.leaving[each.fifo, each.element]
        return [bit for bit, value in rule.literals if not value]


def _may_stand_before(each: Enqueued, marker: Enqueued) -> bool:
    if each.by is marker.by:
        return each.fifo == marker.fifo and each.place < marker.place
    return each.fifo == marker.fifo and may_stand_before(each.by.rule, marker.by.rule)
