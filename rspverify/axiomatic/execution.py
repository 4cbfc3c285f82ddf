"""One candidate execution: what a solver's assignment chooses among all of a program."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property

from rspverify.axiomatic.candidates import Candidates
from rspverify.axiomatic.event import Event, Part
from rspverify.litmus.program import Kind, Operation, Order, Scope
from rspverify.relation.terms import EventSet, Relation
from rspverify.smt.solver import Model, Solver
from rspverify.smt.term import Term, all_of
from rspverify.verdict import Event as ShownEvent
from rspverify.verdict import Outcome

Pair = tuple[int, int]


class Execution:
    """A candidate execution. A place is the number of an event among those that are executed."""

    def __init__(self, candidates: Candidates, assignment: Model) -> None:
        self.candidates = candidates
        self._assignment = assignment

    @cached_property
    def _place(self) -> Mapping[int, int]:
        executed = self.candidates.executed
        indices = [it.index for it in self.candidates.events if self.chosen(executed[it.index])]
        return {index: place for place, index in enumerate(indices)}

    @cached_property
    def events(self) -> tuple[Event, ...]:
        """The executed events, a compare-exchange that fails as the load that it is."""
        return tuple(self._as_it_is(self.candidates.events[index]) for index in self._place)

    def _as_it_is(self, event: Event) -> Event:
        writing = self.candidates.writing.get(event.index)
        fails = event.failed is not None and (writing is None or not self.chosen(writing))
        return event.failed if event.failed is not None and fails else event

    @property
    def outcome(self) -> Outcome:
        """The values that are read, and left in the end."""
        it = self.candidates
        happens = it.happens.items()
        reads = [(i, self._value(it.reads[i])) for i, term in happens if self.chosen(term)]
        memory = [(place.name, self._value(it.final[place.name])) for place in it.program.locations]
        return Outcome(tuple(reads), tuple(memory))

    @property
    def shown(self) -> tuple[ShownEvent, ...]:
        """The executed events, as users see them."""
        return tuple(map(self._shown, self.events))

    def _shown(self, event: Event) -> ShownEvent:
        values, it = self.candidates, event.operation
        read = self._value(values.read[event.index]) if event.reads else None
        written = self._value(values.written[event.index]) if event.writes else None
        name = "" if event.location is None else event.location.name
        thread = None if event.thread is None else event.thread.index
        line = None if it is None else it.span.line
        return ShownEvent(thread, line, label(event, read, written), name)

    def chosen(self, term: Term) -> bool:
        """Whether a term holds."""
        return self._assignment[term]

    def _value(self, choice: Mapping[int, Term]) -> int:
        return next(value for value, term in choice.items() if self.chosen(term))

    def places_of(self, thread: int) -> tuple[int, ...]:
        """The places of the events of a thread, in the order of its code."""
        return tuple(
            place
            for place, event in enumerate(self.events)
            if event.thread is not None and event.thread.index == thread
        )

    def place(self, index: int) -> int:
        """The place of an executed event, by its index."""
        return self._place[index]

    def members(self, those: EventSet) -> frozenset[int]:
        """The places of a set."""
        return frozenset(self._place[event] for event, term in those.items() if self.chosen(term))

    def pairs(self, relation: Relation) -> tuple[Pair, ...]:
        """The pairs of places of a relation, ascending."""
        chosen = (pair for pair, term in relation.items() if self.chosen(term))
        return tuple(sorted((self._place[a], self._place[b]) for a, b in chosen))


def executions(
    candidates: Candidates, solver: Solver, alternatives: Iterable[Term] = ()
) -> Iterator[Execution]:
    """The executions that a solver finds, one for each way to choose values, rf and mo.

    alternatives: further terms of which one holds in each execution, and which of them tells two
    apart. The solver is left without solutions.
    """
    telling = [*candidates.identifying(), *alternatives]
    while (found := solver.find()) is not None:
        execution = Execution(candidates, found)
        yield execution
        same = [term for term in telling if execution.chosen(term)]
        same += [~term for term in candidates.executed.values() if not execution.chosen(term)]
        solver.add(~all_of(same))


# ---- how an event is written: `R[DV,R](x, 1)`, `F[WG](acquire)` ----------------------------------


USUAL = {
    Kind.LOAD: (Order.ACQUIRE,),
    Kind.STORE: (Order.RELEASE,),
    Kind.RMW: (Order.ACQUIRE, Order.RELEASE, Order.ACQ_REL),
}
"""The orders of the paper's atomics (§2.2), which go without saying where there is a scope."""

_PARTS = {Part.ENTRY: " entry", Part.EXIT: " exit"}


def label(event: Event, read: int | None, written: int | None) -> str:
    """The event with what it reads and writes, None where it does not."""
    it = event.operation
    values = [str(value) for value in (read, written) if value is not None]
    if it is None and not event.initial:
        return "start"
    if it is None:
        return f"W({event.at.name}, {', '.join(values)}) initial"
    if it.kind is Kind.BARRIER:
        kind = "barrier" if it.meets is Scope.WG else "device barrier"
        return f"{kind} {it.label}{_PARTS.get(event.part, '')}"
    letter = {Kind.FENCE: "F", Kind.LOCK: "Lock", Kind.UNLOCK: "Unlock"}.get(it.kind)
    if letter is None:
        letter = "RMW" if event.reads and event.writes else "W" if event.writes else "R"
    local = " local" if event.location is not None and event.location.region == "local" else ""
    if event.location is not None:
        inside = [event.location.name]
    else:
        inside = sorted(it.regions) if it.scope is not None else []
    brackets = f"({', '.join(inside + values)})" if inside or values else ""
    return f"{letter}{_annotation(it)}{brackets}{local}"


def _annotation(it: Operation) -> str:
    """Order, scope and remote flag in brackets; `[na]` for a plain access; in assembly its sets."""
    if it.instruction is not None:
        words = sorted(it.tags.read | it.tags.write)
        return f"[{','.join(words)}]" if words else ""
    if it.order is None:
        return "" if it.kind in (Kind.LOCK, Kind.UNLOCK) else "[na]"
    words = [] if it.scope and it.order in USUAL.get(it.kind, ()) else [it.order.value]
    if it.scope is not None:
        words.append(it.scope.value)
        if it.kind is not Kind.FENCE:
            words.append("R" if it.remote else "N")
    return f"[{','.join(words)}]"
