"""Executions of a program under a model, all at once: events, and terms for values, rf and mo.

What is common to the executions that the model's axioms choose among (candidates.py) and to those
that a machine brings with it (generated_execution.py).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping

from rspverify.axiomatic.event import Event, Part, events_of
from rspverify.axiomatic.interpretation import interpret
from rspverify.axiomatic.model import Axiom, Linearisation, MemoryModel
from rspverify.axiomatic.vocabulary import (
    COHERENCE_ORDER,
    DERIVED,
    FINAL_WRITES,
    LOCK_ORDER,
    MODIFICATION_ORDER,
    READS_FROM,
    RELATIONS,
    SETS,
    Membership,
)
from rspverify.limits import Limits
from rspverify.litmus import Location, Program
from rspverify.relation.expression import Identity, Plus, Sort, Test
from rspverify.relation.terms import EventSet, Relation, Terms, Value
from rspverify.smt import FALSE, TRUE, Term, any_of, choose, truth
from rspverify.smt.choice import Choice as Values
from rspverify.smt.choice import constant


class Executions(ABC):
    """Executions of a program under a model, by their values, rf and mo.

    events: as of events_of. executed: event → term. writing: event in W → the term that it is
    executed and writes. reads: operation → the value it reads; read, written: event → its value.
    rf, mo, co, lo: the execution witness; linearised: the orders that the model lets an execution
    choose besides. last: location → which write leaves its value in the end. axioms, conditions:
    name → term. racing: of each condition, the pairs that must be none.
    """

    def __init__(
        self,
        program: Program,
        model: MemoryModel,
        limits: Limits,
        reads: Mapping[int, Values[int]],
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
        self.linearised: dict[Linearisation, Relation] = {}
        self.last: dict[str, EventSet] = {}
        self.executed: dict[int, Term] = {}
        self.writing: dict[int, Term] = {}
        self.written: dict[int, Values[int]] = {}
        self.read: dict[int, Values[int]] = {}
        self._succeeds: dict[int, Term] = {}
        self._readers: dict[int, Event] = {}
        self._writers_of: dict[int, Event] = {}
        for event in self.events:
            self._give_values(event, reads)

    def _give_values(self, event: Event, reads: Mapping[int, Values[int]]) -> None:
        it = event.operation
        if it is None:
            self.executed[event.index] = self.writing[event.index] = TRUE
            self.written[event.index] = constant(event.at.initial)
            return
        executed = writing = truth(it.guard, reads)
        if it.success is not None:
            self._succeeds[event.index] = success = truth(it.success, reads)
            writing = executed & success
        self.executed[event.index] = writing if event.part is Part.WRITE else executed
        if event.reads:
            self.read[event.index] = reads[it.index]
            self._readers[it.index] = event
        if event.writes:
            assert it.value is not None
            self.writing[event.index] = writing
            self.written[event.index] = choose(it.value, reads)
            self._writers_of[it.index] = event

    def reader(self, operation: int) -> Event:
        """The event by which an operation reads."""
        return self._readers[operation]

    def writer(self, operation: int) -> Event:
        """The event by which an operation writes."""
        return self._writers_of[operation]

    def relation(self, name: str) -> Relation:
        """The value of a relation of the model, by its name."""
        return self._values[name]

    def set(self, name: str) -> EventSet:
        """The value of a set of the model, by its name."""
        return self._values[name]

    @property
    def coherence(self) -> Relation:
        """The order of the writes of a location that the model goes by: co, or else mo."""
        named = self.model.coherence
        if named is not None and self.model.defines(named):
            return self.relation(named)
        return self.co if named in COHERENCE_ORDER else self.mo

    @property
    def final_writes(self) -> EventSet:
        """The writes whose values are left in the end."""
        return {it: term for last in self.last.values() for it, term in last.items()}

    def writers(self, location: Location) -> list[Event]:
        """The events that may write to a location, the initial write first."""
        return [it for it in self.events if it.writes and it.location is location]

    def _judge(self) -> None:
        """Evaluate the model on the execution witness."""
        algebra = Terms(self.executed, self._limits)
        base = {name: self._base(name) for name in sorted(self.model.names - DERIVED.keys())}

        def order(asked: Linearisation, values: Mapping[str, Value]) -> Relation:
            members = algebra.value(asked.events, values)
            chosen = self._linearised(asked, members, algebra.value(asked.order, values))
            self.linearised[asked] = chosen
            return chosen

        found = interpret(self.model, base, algebra, order)
        self._values = found.end.values
        holding = {}
        for axiom in (*self.model.axioms, *self.model.conditions):
            values = found.at[axiom.name].values
            term = algebra.holds(axiom.test, axiom.expression, values)
            holding[axiom.name] = ~term if axiom.negated else term
        self.axioms = {each.name: holding[each.name] for each in self.model.axioms}
        self.conditions = {each.name: holding[each.name] for each in self.model.conditions}
        self.racing = {
            each.name: _offending(each, algebra, found.at[each.name].values)
            for each in self.model.conditions
        }

    @abstractmethod
    def _linearised(self, asked: Linearisation, members: EventSet, given: Relation) -> Relation:
        """The order of these members that an execution chooses, which contains what is given."""

    def _base(self, name: str) -> Value:
        """The value of a base name that is not derived."""
        if name in SETS:
            return self._members(SETS[name])
        if name in RELATIONS:
            return self._static(name)
        if name == FINAL_WRITES:
            return self.final_writes
        witness = {READS_FROM: self.rf, MODIFICATION_ORDER: self.mo, COHERENCE_ORDER: self.co}
        witness[LOCK_ORDER] = self.lo
        (found,) = (relation for names, relation in witness.items() if name in names)
        return found

    def _modes(self, event: Event) -> Iterator[tuple[Event, Term]]:
        """What an executed event may be: two things if it is a compare-exchange."""
        if event.failed is None:
            yield event, TRUE
        else:
            yield event, self._succeeds[event.index]
            yield event.failed, ~self._succeeds[event.index]

    def _members(self, belongs: Membership) -> EventSet:
        found = {}
        for event in self.events:
            executed = self.executed[event.index]
            if event.failed is None or belongs(event) == belongs(event.failed):
                term = executed if belongs(event) else FALSE
            else:
                term = executed & any_of(when for it, when in self._modes(event) if belongs(it))
            if term is not FALSE:
                found[event.index] = term
        return found

    def _static(self, name: str) -> Relation:
        test = RELATIONS[name]
        executed = self.executed
        found = {}
        for a in self.events:
            for b in self.events:
                if a is b or (a.failed is None and b.failed is None):
                    term = executed[a.index] & executed[b.index] if test(a, b) else FALSE
                else:
                    term = self._related_in_some_mode(name, a, b)
                if term is not FALSE:
                    found[a.index, b.index] = term
        return found

    def _related_in_some_mode(self, name: str, a: Event, b: Event) -> Term:
        """That two events are related, of which at least one is a compare-exchange."""
        both = self.executed[a.index] & self.executed[b.index]
        modes = [
            (RELATIONS[name](one, two), first & second)
            for one, first in self._modes(a)
            for two, second in self._modes(b)
        ]
        if all(related for related, _ in modes):
            return both
        return both & any_of(when for related, when in modes if related)


def _offending(axiom: Axiom, algebra: Terms, values: Mapping[str, Value]) -> Relation:
    """The pairs of which an axiom wants none; an event of a set is a pair with itself."""
    if axiom.negated:
        return {}
    expression = axiom.expression
    if expression.sort is Sort.SET:
        expression = Identity(expression)
    if axiom.test is Test.ACYCLIC:
        expression = Plus(expression)
    relation = algebra.value(expression, values)
    if axiom.test is Test.EMPTY:
        return relation
    return {(a, b): term for (a, b), term in relation.items() if a == b}
