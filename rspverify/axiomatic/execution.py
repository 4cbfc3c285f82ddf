"""Executions of a program under a model, all at once: events, and terms for values, rf and mo.

What is common to the executions that the model's axioms choose among (candidates.py) and to those
that a machine brings with it (generated_execution.py).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from rspverify.axiomatic.event import Event, Part, Style, events_of
from rspverify.axiomatic.model import Axiom, Choice, Let, LetRec, MemoryModel
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
from rspverify.relation import (
    Environment,
    Identity,
    Name,
    Plus,
    Relation,
    Sort,
    Test,
    holds,
)
from rspverify.relation.evaluate import EventSet
from rspverify.smt import FALSE, TRUE, Term, any_of, choose, truth
from rspverify.smt.choice import Choice as Values
from rspverify.smt.choice import constant


class Executions:
    """Executions of a program under a model, by their values, rf and mo.

    events: as of events_of. executed: event → term. writing: event in W → the term that it is
    executed and writes. read and written: event → its value. rf, mo, co, lo: the execution witness.
    last: location → which write leaves its value in the end. axioms, conditions: name → term.
    racing: of each condition, the pairs that must be none.
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
        self._limits = limits
        self.events = events_of(program, Style.of(model))
        self.rf: Relation = {}
        self.mo: Relation = {}
        self.co: Relation = {}
        self.lo: Relation = {}
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
        return self._environment.relation(Name(name, Sort.RELATION))

    def set(self, name: str) -> EventSet:
        """The value of a set of the model, by its name."""
        return self._environment.set(Name(name, Sort.SET))

    @property
    def coherence(self) -> Relation:
        """The order of the writes of a location that the model goes by: co, or else mo."""
        named = self.model.coherence
        if named is not None and self.model.defines(named):
            return self.relation(named)
        return self.co if named in COHERENCE_ORDER else self.mo

    def writers(self, location: Location) -> list[Event]:
        """The events that may write to a location, the initial write first."""
        return [it for it in self.events if it.writes and it.location is location]

    def _judge(self) -> None:
        """Evaluate the model on the execution witness."""
        self._holding: dict[Axiom, Term] = {}
        self.racing: dict[str, Relation] = {}
        self._environment = environment = Environment(self.executed, self._limits)
        self._define_base_names(environment)
        for statement in self.model.statements:
            match statement:
                case Let(definitions):
                    environment.define(definitions)
                case LetRec(definitions):
                    environment.define_recursively(definitions)
                case Choice():
                    self._choose(statement)
                case Axiom():
                    self._holding[statement] = self._holds(statement)
        self.axioms = {each.name: self._holding[each] for each in self.model.axioms}
        self.conditions = {each.name: self._holding[each] for each in self.model.conditions}

    def _choose(self, choice: Choice) -> None:
        """Bind the name of an order that an execution chooses."""
        raise NotImplementedError

    def _holds(self, axiom: Axiom) -> Term:
        term = holds(self._environment, axiom.test, axiom.expression)
        if axiom in self.model.conditions:
            self.racing[axiom.name] = self._offending(axiom)
        return ~term if axiom.negated else term

    def _offending(self, axiom: Axiom) -> Relation:
        """The pairs of which an axiom wants none; an event of a set is a pair with itself."""
        if axiom.negated:
            return {}
        expression = axiom.expression
        if expression.sort is Sort.SET:
            expression = Identity(expression)
        if axiom.test is Test.ACYCLIC:
            expression = Plus(expression)
        relation = self._environment.relation(expression)
        if axiom.test is Test.EMPTY:
            return relation
        return {(a, b): term for (a, b), term in relation.items() if a == b}

    def _define_base_names(self, environment: Environment) -> None:
        witness = {
            **dict.fromkeys(READS_FROM, self.rf),
            **dict.fromkeys(MODIFICATION_ORDER, self.mo),
            **dict.fromkeys(COHERENCE_ORDER, self.co),
            **dict.fromkeys(LOCK_ORDER, self.lo),
        }
        names = self.model.names
        for name in sorted(names - DERIVED.keys()):
            if name in SETS:
                environment.define_set(name, self._members(SETS[name]))
            elif name in RELATIONS:
                environment.define_relation(name, self._static(name))
            elif name in witness:
                environment.define_relation(name, witness[name])
            elif name == FINAL_WRITES:
                environment.define_set(name, self._final_writes())
        for name in sorted(names & DERIVED.keys()):
            environment.define_relation(name, environment.relation(DERIVED[name]))

    def _final_writes(self) -> EventSet:
        return {it: term for last in self.last.values() for it, term in last.items()}

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
