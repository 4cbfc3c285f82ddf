"""Executions of a program under a model, all at once: events, and terms for values, rf and mo.

What is common to the executions that the model's axioms choose among (candidates.py) and to those
that a machine brings with it (below).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property

from rspverify.axiomatic.event import Event, Part, events_of
from rspverify.axiomatic.interpretation import interpret
from rspverify.axiomatic.model import Axiom, Linearisation, MemoryModel
from rspverify.axiomatic.vocabulary import (
    CO,
    DERIVED,
    FINAL_WRITES,
    LO,
    MO,
    RELATIONS,
    RF,
    SETS,
    SYNC_FENCE,
    Ways,
    decided,
)
from rspverify.limits import Limits
from rspverify.litmus.dialects import is_partial
from rspverify.litmus.program import Location, Program
from rspverify.relation.graded import Value
from rspverify.relation.terms import EventSet, Relation, Terms
from rspverify.smt.choice import Choice as Values
from rspverify.smt.choice import choose, constant, truth
from rspverify.smt.term import FALSE, TRUE, Term, all_of, any_of


class Executions(ABC):
    """Executions of a program under a model, by their values, rf and mo.

    events: as of events_of. executed: event → term. writing: event in W → the term that it is
    executed and writes. reads: operation → the value it reads; read, written: event → its value.
    reader, writer: operation → the event by which it reads, or writes. happens: operation → that it
    is executed, of those that give a value.
    rf, mo, co, lo: the execution witness; linearised: the orders that the model lets an execution
    choose besides. last: location → which write leaves its value in the end. axioms, conditions:
    name → term. racing: of each condition, the pairs that must be none.
    """

    def __init__(
        self, program: Program, model: MemoryModel, limits: Limits, reads: Mapping[int, Values[int]]
    ) -> None:
        self.program = program
        self.model = model
        self.reads = reads
        self._limits = limits
        self.events = events_of(program, model)
        self.rf: Relation = {}
        self.mo: Relation = {}
        self.co: Relation = {}
        self.lo: Relation = {}
        self.fences: Relation = {}
        self.linearised: dict[Linearisation, Relation] = {}
        self.last: dict[str, EventSet] = {}
        self.executed: dict[int, Term] = {}
        self.writing: dict[int, Term] = {}
        self.written: dict[int, Values[int]] = {}
        self.read: dict[int, Values[int]] = {}
        self._succeeds = {
            it.index: truth(it.success, reads)
            for it in program.operations
            if it.success is not None
        }
        self.happens = {it.index: truth(it.guard, reads) for it in program.operations if it.gives}
        self.reader: dict[int, Event] = {}
        self.writer: dict[int, Event] = {}
        for event in self.events:
            self._give_values(event)

    def _give_values(self, event: Event) -> None:
        it, index = event.operation, event.index
        self.executed[index], writing = self.occurs(event)
        if it is not None and event.reads:
            self.read[index] = self.reads[it.index]
            self.reader[it.index] = event
        if event.writes:
            self.writing[index] = writing
            if it is None:
                self.written[index] = constant(event.at.initial)
            else:
                assert it.value is not None
                self.written[index] = choose(it.value, self.reads)
                self.writer[it.index] = event

    @property
    def partial(self) -> bool:
        """Whether two writes to a location may be in no order, as in PTX (PTX ISA §8.8.6)."""
        return is_partial(self.program.language)

    def occurs(self, event: Event) -> tuple[Term, Term]:
        """That an event is executed, and that its operation is and writes."""
        it = event.operation
        if it is None:
            return TRUE, TRUE
        executed = truth(it.guard, self.reads)
        writing = executed & self._succeeds.get(it.index, TRUE)
        return (writing if event.part is Part.WRITE else executed), writing

    @cached_property
    def ways(self) -> Ways:
        """What each event may be: two things if it is of a compare-exchange."""
        ways: dict[int, list[tuple[Event, Term]]] = {}
        for event in self.events:
            ways[event.index] = [(event, TRUE)]
            if event.failed is not None and event.operation is not None:
                succeeds = self._succeeds[event.operation.index]
                ways[event.index] = [(event, succeeds), (event.failed, ~succeeds)]
        return ways

    def decided(self, name: str) -> Value:
        """The value of a base set or relation that the program alone decides."""
        return decided(name, self.ways, self.executed, any_of, FALSE)

    def relation(self, name: str) -> Relation:
        """The value of a relation of the model, by its name."""
        return self._values[name]

    @property
    def witness(self) -> Mapping[str, Relation]:
        """The execution witness by name."""
        return {RF: self.rf, MO: self.mo, CO: self.co, LO: self.lo, SYNC_FENCE: self.fences}

    @property
    def coherence(self) -> Relation:
        """The order of the writes of a location that the model goes by: co, or else mo."""
        named = self.model.coherence
        if named is not None and self.model.defines(named):
            return self.relation(named)
        return self.co if named == CO else self.mo

    @property
    def final_writes(self) -> EventSet:
        """The writes whose values are left in the end."""
        return {it: term for last in self.last.values() for it, term in last.items()}

    def writers(self, location: Location) -> list[Event]:
        """The events that may write to a location, the initial write first."""
        return [it for it in self.events if it.writes and it.location is location]

    def _order_of(self, location: Location) -> Relation | None:
        """A base order of all writes to a location that the model goes by; None if it has none."""
        named = self.model.coherence
        if named is not None and self.model.defines(named):
            return None
        if named == CO:
            return None if self.partial else self.co
        return self.mo if location.atomic else None

    def _unordered(self) -> Iterator[tuple[int, Term, list[Term]]]:
        """Each write that may be the last where nothing orders all writes: that it is, and that
        another comes after it in mo or hb."""
        later = [self.relation(name) for name in self.model.happens_before]
        later.append(self.coherence)
        for location in self.program.locations:
            if self._order_of(location) is not None:
                continue
            others = [each.index for each in self.writers(location)]
            for it, is_last in self.last[location.name].items():
                after = {
                    other: any_of(relation.get((it, other), FALSE) for relation in later)
                    for other in others
                    if other != it
                }
                overtaken = [
                    term & self.writing[other] for other, term in after.items() if term is not FALSE
                ]
                yield it, is_last, overtaken

    def _judge(self) -> None:
        algebra = Terms(self.executed, self._limits)
        conditions = self.model.conditions
        base = {name: self._base(name) for name in sorted(self.model.names - DERIVED.keys())}

        def order(asked: Linearisation, values: Mapping[str, Value]) -> Relation:
            members = algebra.value(asked.events, values)
            chosen = self._linearised(asked, members, algebra.value(asked.order, values))
            self.linearised[asked] = chosen
            return chosen

        found = interpret(self.model, base, algebra, order)
        self._values = found.end.values

        def holds(axiom: Axiom) -> Term:
            term = algebra.holds(axiom.test, axiom.expression, found.at[axiom.name].values)
            return ~term if axiom.negated else term

        def offending(axiom: Axiom) -> Relation:
            return algebra.offending(axiom.test, axiom.expression, found.at[axiom.name].values)

        self.axioms = {each.name: holds(each) for each in self.model.axioms}
        conditions = self.model.conditions
        self.conditions = {each.name: holds(each) for each in conditions}
        self.racing = {it.name: {} if it.negated else offending(it) for it in conditions}

    @abstractmethod
    def _linearised(self, asked: Linearisation, members: EventSet, given: Relation) -> Relation:
        """The order of these members that an execution chooses, which contains what is given."""

    def _base(self, name: str) -> Value:
        if name in SETS or name in RELATIONS:
            return self.decided(name)
        if name == FINAL_WRITES:
            return self.final_writes
        return self.witness[name]


# ---- executions that something else has generated: the witness reading ---------------------------


class GeneratedExecutions(Executions):
    """Executions that a machine brings its own rf and mo for (§6.2, the witness reading).

    reads: operation → the value it reads. rf: (write, read) and mo: (write, later write) as
    operations, a write that is None being the initial one of the location; last: location → which
    write is the last to reach memory. Relations are taken where both ends are executed, and write.
    broken: that some axiom does not hold, or the last write of a location without an order of its
    writes has a later one. Raises ValueError for a model with choices of its own.
    """

    def __init__(
        self,
        program: Program,
        model: MemoryModel,
        limits: Limits,
        reads: Mapping[int, Values[int]],
        rf: Mapping[tuple[int | None, int], Term],
        mo: Mapping[tuple[int, int], Term],
        last: Mapping[str, Iterable[tuple[int | None, Term]]],
    ) -> None:
        super().__init__(program, model, limits, reads)
        initial = {it.at.name: it for it in self.events if it.initial}
        self.rf = _possible(self._reading(initial, rf))
        ordered = [(self.writer[a], self.writer[b], term) for (a, b), term in mo.items()]
        ordered += [
            (initial[it.at.name], it, TRUE) for it in self.events if it.writes and not it.initial
        ]
        self.co = _possible(
            (a, b, all_of((term, self.writing[a.index], self.writing[b.index])))
            for a, b, term in ordered
        )
        self.mo = {(a, b): term for (a, b), term in self.co.items() if self.events[a].at.atomic}
        for location in program.locations:
            writes = (
                (initial[location.name] if write is None else self.writer[write], term)
                for write, term in last[location.name]
            )
            self.last[location.name] = {event.index: term for event, term in writes}
        self._judge()
        overtaken = [is_last & any_of(later) for _, is_last, later in self._unordered()]
        self.broken = any_of([*(~term for term in self.axioms.values()), *overtaken])

    def _reading(
        self, initial: Mapping[str, Event], rf: Mapping[tuple[int | None, int], Term]
    ) -> Iterator[tuple[Event, Event, Term]]:
        for (write, read), term in rf.items():
            reader = self.reader[read]
            source = initial[reader.at.name] if write is None else self.writer[write]
            both = self.writing[source.index] & self.executed[reader.index]
            yield source, reader, term & both

    def _linearised(self, asked: Linearisation, members: EventSet, given: Relation) -> Relation:
        raise ValueError(f"{self.model.name} lets an execution choose more than rf and mo")


def _possible(pairs: Iterable[tuple[Event, Event, Term]]) -> Relation:
    return {(a.index, b.index): term for a, b, term in pairs if term is not FALSE}
