"""The consistent executions with one outcome, by brute force over rf and mo.

An outcome tells every value that is read, and so which operations are executed and what they
write: what is left to choose is the write that each read reads from, among those of its location
and value, and an order of the writes of each atomic location. This is the check on the symbolic
encoding (executions.py, candidates.py), with which it shares the reading of the model: the base
names of the vocabulary, and which definition a name stands for (interpretation.py). What operators
and axioms mean, and how an execution is put together, it has for itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import reduce
from itertools import product
from operator import or_
from typing import Any

from msgspec import Struct

from rspverify.axiomatic.event import Event, Part, events_of
from rspverify.axiomatic.model import MemoryModel
from rspverify.axiomatic.plan import ATOMIC, Check, Plan, plan_of
from rspverify.axiomatic.vocabulary import CO, RELATIONS, RF, SETS
from rspverify.limits import LimitReached, Limits
from rspverify.litmus.program import Program
from rspverify.relation.concrete import Rows, Value, members
from rspverify.value import evaluate
from rspverify.verdict import Outcome

MOST = 200_000
"""After so many candidates, partial ones included, the enumeration gives up."""

_CLOCK = 256
"""Candidates between two looks at the clock."""


Relations = Mapping[str, frozenset[tuple[int, int]]]
"""By name, as pairs of indices among events_of(program, model)."""


def consistent_execution(
    program: Program, model: MemoryModel, outcome: Outcome, limits: Limits, most: int = MOST
) -> Relations | None:
    """A consistent execution with an outcome, as its rf and mo; None if there is none.

    Whether the program has the values is not asked (docs/semantics.md, Values): an outcome that
    a machine reaches has no others. Raises LimitReached after too many candidates, or too late.
    """
    reads, memory = dict(outcome.reads), dict(outcome.memory)
    return ConsistentExecutions(program, model).first(reads, memory, limits, most)


class ConsistentExecutions:
    """The same for values after values of a program: what its events are is calculated once."""

    def __init__(self, program: Program, model: MemoryModel) -> None:
        self._program, self._plan = program, plan_of(model)
        self._events = events_of(program, model)
        self._known: dict[tuple[int, ...], list[Any]] = {}

    def first(
        self,
        reads: Mapping[int, int],
        memory: Mapping[str, int],
        limits: Limits,
        most: int = MOST,
    ) -> Relations | None:
        """A consistent execution in which reads, by operation, and locations in the end have these
        values; one that is not named may end with any."""
        run = _run(self._program, self._events, reads, memory)
        if run is None:
            return None
        key = tuple(it.index if it is self._events[it.index] else ~it.index for it in run.events)
        plan = self._plan
        if key not in self._known:
            fixed = plan.calculation.given.keys() - {RF, CO}
            values = plan.calculation.values({it: base_value(it, run.events) for it in fixed})
            plan.calculation.run(plan.once, values, len(run.events))
            self._known[key] = values
        return _Enumeration(run, plan, [*self._known[key]], limits, most).first()


class _Run(Struct, frozen=True):
    """What an outcome executes: the events, and by their place the values read and written."""

    events: Sequence[Event]
    read: Mapping[int, int]
    written: Mapping[int, int]
    final: Mapping[str, int]

    def writers(self, location: str, value: int | None = None) -> list[int]:
        """The places of the writes to a location, of this value if one is given."""
        writers = [place for place in self.written if self.events[place].at.name == location]
        return [it for it in writers if value is None or self.written[it] == value]


def _run(
    program: Program, every: Sequence[Event], values: Mapping[int, int], final: Mapping[str, int]
) -> _Run | None:
    """The run of a program whose reads have these values; None if there is none."""
    events: list[Event] = []
    written: dict[int, int] = {}
    read: dict[int, int] = {}
    for event in every:
        it = event.operation
        if it is None:
            if event.initial:
                written[len(events)] = event.at.initial
            events.append(event)
            continue
        executed = evaluate(it.guard, values) != 0
        if it.reads and executed != (it.index in values):
            return None
        if not executed:
            continue
        if it.success is not None and not evaluate(it.success, values):
            if event.part is Part.WRITE:
                continue
            event = event.failed or event
        if event.reads:
            read[len(events)] = values[it.index]
        if event.writes and it.value is not None:
            written[len(events)] = evaluate(it.value, values)
        events.append(event)
    if any(evaluate(guard, values) for guard in program.goes_on):
        return None
    return _Run(events, read, written, final)


class _Enumeration:
    """The search through rf and mo. Orders grow from their first write to their last."""

    def __init__(self, run: _Run, plan: Plan, values: list[Any], limits: Limits, most: int) -> None:
        self._run = run
        self._limits = limits
        self._most = most
        self._seen = 0
        self._plan = plan
        self._values = values
        self._events = len(run.events)
        self._order = [0] * self._events
        self._ordered: list[tuple[int, int]] = []
        self._plain: list[tuple[int, int]] = []
        self._ends = True
        for location in dict.fromkeys(event.at.name for event in run.events if event.initial):
            initial, *others = writers = run.writers(location)
            last = _mask(run.writers(location, run.final.get(location)))
            ordered = self._plan.every or run.events[initial].at.atomic
            if not (ordered and self._plan.by_order):
                self._plain.append((_mask(writers), last))
            if ordered and others:
                self._order[initial] = _mask(others)
                ends = last if self._plan.by_order else -1
                self._ordered.append((_mask(others), ends & _mask(others)))
            else:
                self._ends = self._ends and last != 0
        self._place_of = self._plan.calculation.given

    def first(self) -> Relations | None:
        """The first consistent execution that is found."""
        if not (self._ends and all(last for _, last in [*self._ordered, *self._plain])):
            return None
        run = self._run
        sources = [
            run.writers(run.events[reader].at.name, value) for reader, value in run.read.items()
        ]
        for chosen in product(*sources):
            rows = [0] * self._events
            for reader, writer in zip(run.read, chosen, strict=True):
                rows[writer] |= 1 << reader
            self._values[self._place_of[RF]] = tuple(rows)
            self._calculate(self._plan.reading)
            if self._hold(self._plan.early) and self._extend(-1, 0):
                return self._found()
        return None

    def _extend(self, location: int, rest: int) -> bool:
        """Whether the order can be completed, `rest` being the writes still to be put in order.

        A write that is put next comes before all the rest, so that mo only grows on the way, and
        an axiom that rises with it and is broken by a part of mo is broken by the whole.
        """
        if not rest:
            location += 1
            if location == len(self._ordered):
                return self._complete()
            rest = self._ordered[location][0]
        last = self._ordered[location][1]
        for write in members(rest):
            after = rest & ~(1 << write)
            if (after or rest) & last:
                self._order[write] = after
                if self._hold(self._plan.early) and self._extend(location, after):
                    return True
                self._order[write] = 0
        return False

    def _complete(self) -> bool:
        """Whether the execution is consistent and may end with the plain values of the outcome."""
        if not self._hold(self._plan.late):
            return False
        self._calculate(self._plan.last)
        relations = [self._values[place] for place in self._plan.later]
        later = [reduce(or_, rows) for rows in zip([0] * self._events, *relations, strict=True)]
        return all(
            any(not later[write] & writers & ~(1 << write) for write in members(last))
            for writers, last in self._plain
        )

    def _hold(self, checks: Sequence[Check]) -> bool:
        self._seen += 1
        if self._seen > self._most:
            raise LimitReached(f"more than {self._most} candidate executions with one outcome")
        if self._seen % _CLOCK == 1:
            self._limits.remaining()
        self._values[self._place_of[CO]] = tuple(self._order)
        for check in checks:
            self._calculate(check.steps)
            if not check.holds(self._values[check.place]):
                return False
        return True

    def _calculate(self, steps: tuple[int, ...]) -> None:
        self._plan.calculation.run(steps, self._values, self._events)

    def _found(self) -> Relations:
        index = [event.index for event in self._run.events]
        found = {}
        for name, place in (("rf", self._place_of[RF]), ("mo", self._place_of[CO])):
            rows: Rows = self._values[place]
            found[name] = frozenset(
                (index[a], index[b]) for a, row in enumerate(rows) for b in members(row)
            )
        return found


def _mask(places: Iterable[int]) -> int:
    return sum(1 << place for place in places)


def base_value(name: str, events: Sequence[Event]) -> Value:
    """The value of a base name that the executed events alone decide."""
    if name in SETS:
        return _mask(place for place, event in enumerate(events) if SETS[name](event))
    related = RELATIONS[name] if name != ATOMIC else _on_one_atomic_location
    return tuple(_mask(place for place, b in enumerate(events) if related(a, b)) for a in events)


def _on_one_atomic_location(a: Event, b: Event) -> bool:
    return a.location is not None and a.location is b.location and a.location.atomic
