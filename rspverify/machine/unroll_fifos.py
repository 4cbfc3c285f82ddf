"""The fifos of the unroll engine.

An element is one occurrence: a location or a marker that one instruction enqueues, or one of the
flushes of an entry into the level below. `queued` and `gone` are known per step; which of two
elements entered first needs one copy for all steps. Only what can stand before a marker matters.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import combinations
from typing import Any

from msgspec import Struct

from rspverify.assembly import Instruction
from rspverify.machine.firings import Firings
from rspverify.machine.machine import Machine
from rspverify.machine.relevance import may_stand_before
from rspverify.machine.rules import (
    Element,
    Fifo,
    InstructionRule,
    Marker,
    Rule,
    Without,
)
from rspverify.smt import FALSE, TRUE, Term, all_of, any_of, variable


class Occurrence(Struct, frozen=True, eq=False):
    """One element that a rule may enqueue; `turn` counts the firings of a rule that may repeat."""

    fifo: Fifo
    element: Element
    rule: Rule
    turn: int

    @property
    def marks(self) -> bool:
        """Whether it is a flush marker."""
        return isinstance(self.element, Marker)

    @property
    def instruction(self) -> Instruction | None:
        """The instruction that enqueues it; None for a flush."""
        return self.rule.instruction if isinstance(self.rule, InstructionRule) else None


Firing = Mapping[Any, tuple[Rule, Term]]


class UnrollFifos:
    """The fifos of a machine, in the state that the unrolling has reached."""

    def __init__(self, machine: Machine, rules: list[Rule], alone: bool) -> None:
        self._alone = alone
        self._machine = machine
        self.occurrences = list(_relevant(machine, rules))
        self._queued: dict[Occurrence, Term] = dict.fromkeys(self.occurrences, FALSE)
        self._gone: dict[Occurrence, Term] = dict.fromkeys(self.occurrences, FALSE)
        self._older: dict[tuple[Occurrence, Occurrence], Term] = {}
        self._by_fifo: dict[Fifo, list[Occurrence]] = {}
        for each in self.occurrences:
            self._by_fifo.setdefault(each.fifo, []).append(each)
        self._unordered: list[tuple[Occurrence, Occurrence]] = []
        for members in self._by_fifo.values():
            for a, b in combinations(members, 2):
                self._order(a, b)

    def _order(self, a: Occurrence, b: Occurrence) -> None:
        first, second = a.instruction, b.instruction
        if a.rule is b.rule:
            known = TRUE if a.turn < b.turn else FALSE
        elif first is not None and second is not None and first.thread == second.thread:
            known = TRUE if first.index < second.index else FALSE
        else:
            known = variable("older")
            self._unordered.append((a, b))
        self._older[a, b], self._older[b, a] = known, ~known

    def unmarked(self, rule: InstructionRule, guards: Mapping[int, Term]) -> Iterator[Term]:
        """That none of the thread's own markers is in a fifo where it waits for them."""
        instruction = rule.instruction
        waited = [it.fifos for it in rule.guards if isinstance(it, Without)]
        for each in self.occurrences:
            mark = each.instruction
            if not any(each.fifo in fifos for fifos in waited):
                continue
            if each.marks and mark and mark.thread == instruction.thread:
                if mark.index < instruction.index:
                    yield ~guards[mark.index] | self._gone[each]

    def settle(self, state: Mapping[Any, Any]) -> Iterator[Term]:
        """Before a step: elements may leave, several at once, if fifos dequeue by themselves."""
        if not self._alone:
            return
        before = dict(self._gone)
        for each in self.occurrences:
            queued = self._queued[each]
            if queued is not FALSE and self._may_ever_leave(each, state):
                self._gone[each] = variable("gone") if before[each] is not TRUE else TRUE
        for each in self.occurrences:
            if self._gone[each] is not before[each]:
                leaves = self._gone[each] & ~before[each]
                yield before[each].implies(self._gone[each])
                yield leaves.implies(self._may_leave(each, state))

    def _may_ever_leave(self, each: Occurrence, state: Mapping[Any, Any]) -> bool:
        return all(literal is not FALSE for literal in self._wanted(each, state))

    def _wanted(self, each: Occurrence, state: Mapping[Any, Any]) -> Iterator[Term]:
        """What must hold for an element to leave when it is the oldest."""
        for bit, value in self._machine.shapes.leaving[each.fifo, each.element].literals:
            yield state[bit] if value else ~state[bit]

    def _may_leave(self, each: Occurrence, state: Mapping[Any, Any]) -> Term:
        """It is in the fifo, nothing older is, and its entry is not DIRTY."""
        conditions = [self._queued[each], *self._wanted(each, state)]
        for other in self._by_fifo[each.fifo]:
            if other is not each:
                conditions.append(
                    any_of((~self._queued[other], ~self._older[other, each], self._gone[other]))
                )
        return all_of(conditions)

    def dequeues(self) -> dict[Occurrence, Term]:
        """A term for each dequeue that may be the coming step; none if fifos dequeue alone."""
        if self._alone:
            return {}
        return {
            each: variable("dequeue")
            for each in self.occurrences
            if self._queued[each] is not FALSE
        }

    def dequeue_rules(self, dequeues: Mapping[Occurrence, Term]) -> Iterator[tuple[Rule, Term]]:
        """The dequeues of a step as rules of the machine, joined where two elements are alike."""
        by_rule: dict[tuple[Fifo, Element], list[Term]] = {}
        for each, term in dequeues.items():
            by_rule.setdefault((each.fifo, each.element), []).append(term)
        for leaves, terms in by_rule.items():
            yield self._machine.shapes.leaving[leaves], any_of(terms)

    def advance(
        self,
        state: Mapping[Any, Any],
        fires: Firing,
        dequeues: Mapping[Occurrence, Term],
    ) -> Iterator[Term]:
        """What the step changes: elements enter, in an order that is the same ever after."""
        for each, term in dequeues.items():
            yield term.implies(all_of((~self._gone[each], self._may_leave(each, state))))
        entering = {
            each: fires[each.rule.key][1] & self._turn(each)
            for each in self.occurrences
            if each.rule.key in fires
        }
        for a, b in self._unordered:
            enters = entering.get(b, FALSE)
            if enters is not FALSE:
                yield enters.implies(self._older[a, b].iff(self._queued[a]))
        for each, term in dequeues.items():
            self._gone[each] = self._gone[each] | term
        for each, enters in entering.items():
            self._queued[each] = self._queued[each] | enters

    def _turn(self, each: Occurrence) -> Term:
        """That a firing of its rule is the one that enqueues this element."""
        if each.instruction is not None:
            return TRUE
        earlier = [
            self._queued[other]
            for other in self._by_fifo[each.fifo]
            if other.rule is each.rule and other.turn < each.turn
        ]
        return all_of([*earlier, ~self._queued[each]])


def _relevant(machine: Machine, rules: list[Rule]) -> Iterator[Occurrence]:
    """The elements that can stand before a marker, and the markers."""
    every = list(_occurrences(machine, rules))
    markers = [each for each in every if each.marks]
    for each in every:
        if each.marks or any(
            marker.fifo == each.fifo and may_stand_before(each.rule, marker.rule)
            for marker in markers
        ):
            yield each


def _occurrences(machine: Machine, rules: list[Rule]) -> Iterator[Occurrence]:
    firings = Firings(machine)
    for rule in rules:
        for enqueue in rule.enqueues:
            for turn in range(firings.of(rule)):
                yield Occurrence(enqueue.fifo, enqueue.element, rule, turn)
