"""The fifos of the unroll engine.

Each element has a term for «it has entered» and one for «it has left», which are known per step.
Which of two elements entered first needs one copy for all steps. Only elements that can stand
before a marker matter.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import combinations
from typing import Any

from msgspec import Struct

from rspverify.machine.firings import Firings
from rspverify.machine.machine import Machine
from rspverify.machine.relevance import may_stand_before
from rspverify.machine.rules import Dequeue, Element, Fifo, Guard, Marker, Oldest, Rule, Without
from rspverify.smt.term import FALSE, TRUE, Term, all_of, any_of, variable


class Occurrence(Struct, frozen=True, eq=False):
    """An element that a rule may enqueue; `turn` counts the firings of a rule that may repeat."""

    fifo: Fifo
    element: Element
    rule: Rule
    turn: int


Firing = Mapping[Any, tuple[Rule, Term]]
"""By key of a rule, the rule, and that it fires."""


class UnrollFifos:
    """The fifos of a machine, in the state that the unrolling has reached."""

    def __init__(self, machine: Machine, rules: list[Rule]) -> None:
        self._leaving = machine.shapes.leaving
        self._elements = list(_relevant(machine, rules))
        self._entered: dict[Occurrence, Term] = dict.fromkeys(self._elements, FALSE)
        self._gone: dict[Occurrence, Term] = dict.fromkeys(self._elements, FALSE)
        self._older: dict[tuple[Occurrence, Occurrence], Term] = {}
        self._by_fifo: dict[Fifo, list[Occurrence]] = {}
        for each in self._elements:
            self._by_fifo.setdefault(each.fifo, []).append(each)
        self._unordered: list[tuple[Occurrence, Occurrence]] = []
        for members in self._by_fifo.values():
            for a, b in combinations(members, 2):
                self._order(a, b)

    def _order(self, a: Occurrence, b: Occurrence) -> None:
        if a.rule is b.rule:
            known = TRUE if a.turn <= b.turn else FALSE
        elif not may_stand_before(b.rule, a.rule):
            known = TRUE
        elif not may_stand_before(a.rule, b.rule):
            known = FALSE
        else:
            known = variable("older")
            self._unordered.append((a, b))
        self._older[a, b], self._older[b, a] = known, ~known

    @property
    def leaving(self) -> list[Rule]:
        """The steps by which elements leave."""
        every = ((each.fifo, each.element) for each in self._elements)
        return [self._leaving[each] for each in dict.fromkeys(every)]

    def holds(self, guard: Oldest | Without) -> Term:
        """That a guard of a fifo holds."""
        if isinstance(guard, Oldest):
            its = self._by_fifo.get(guard.fifo, ())
            return any_of(self._first(each) for each in its if each.element == guard.element)
        return all_of(
            ~self._entered[each] | self._gone[each]
            for fifo in guard.fifos
            for each in self._by_fifo.get(fifo, ())
            if guard.elements is None or each.element in guard.elements
        )

    def _first(self, each: Occurrence) -> Term:
        """That an element is the oldest of its fifo."""
        return all_of([self._entered[each], ~self._gone[each], *self._none_older(each)])

    def _none_older(self, each: Occurrence) -> Iterator[Term]:
        for other in self._by_fifo[each.fifo]:
            if other is not each:
                entered, older = self._entered[other], self._older[other, each]
                yield any_of((~entered, ~older, self._gone[other]))

    def settle(self, holds: Callable[[Guard], Term]) -> Iterator[Term]:
        """Between two steps elements leave, several at once. holds: that a guard of cells does."""
        before = dict(self._gone)
        leaves: dict[Occurrence, list[Term]] = {}
        for each, entered in self._entered.items():
            rule = self._leaving[each.fifo, each.element]
            may = [entered, *(holds(it) for it in rule.guards if not isinstance(it, Oldest))]
            if FALSE not in may and before[each] is not TRUE:
                self._gone[each], leaves[each] = variable("gone"), may
        for each, may in leaves.items():
            gone = self._gone[each]
            yield before[each].implies(gone)
            yield (gone & ~before[each]).implies(all_of([*may, *self._none_older(each)]))

    def advance(self, fires: Firing) -> Iterator[Term]:
        """The changes of a step: the oldest elements leave, and others enter."""
        leaving = [
            (each, term & self._first(each))
            for rule, term in fires.values()
            for update in rule.updates
            if isinstance(update, Dequeue)
            for each in self._by_fifo.get(update.fifo, ())
        ]
        for each, leaves in leaving:
            self._gone[each] |= leaves
        entering = {
            each: fires[each.rule.key][1] & self._turn(each)
            for each in self._elements
            if each.rule.key in fires
        }
        for a, b in self._unordered:
            enters = entering.get(b, FALSE)
            if enters is not FALSE:
                yield enters.implies(self._older[a, b].iff(self._entered[a]))
        for each, enters in entering.items():
            self._entered[each] |= enters

    def _turn(self, each: Occurrence) -> Term:
        """That the next firing of its rule enqueues this element."""
        earlier = [
            self._entered[other]
            for other in self._by_fifo[each.fifo]
            if other.rule is each.rule and other.turn < each.turn
        ]
        return all_of([*earlier, ~self._entered[each]])


def _relevant(machine: Machine, rules: list[Rule]) -> Iterator[Occurrence]:
    """The elements that can stand before a marker, and the markers."""
    firings = Firings(machine)
    every = [
        Occurrence(enqueue.fifo, enqueue.element, rule, turn)
        for rule in rules
        for enqueue in rule.enqueues
        for turn in range(firings.of(rule))
    ]
    markers = [each for each in every if isinstance(each.element, Marker)]
    for each in every:
        if each in markers or any(
            marker.fifo == each.fifo and may_stand_before(each.rule, marker.rule)
            for marker in markers
        ):
            yield each
