"""Executions of a program under a model, all at once: events, and terms for values, rf and mo.

A candidate chooses a value for each read, a write for it to read from, and for each atomic
location an order of its writes; operations under false guards are not executed (§2.2). A machine
execution brings its own (SEMANTICS §5, witness).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import permutations

from rspverify.axiomatic.circles import no_circles
from rspverify.axiomatic.model import Axiom, Let, MemoryModel
from rspverify.axiomatic.vocabulary import (
    MODIFICATION_ORDER,
    READS_FROM,
    RELATIONS,
    SETS,
    Event,
)
from rspverify.limits import Limits
from rspverify.litmus import Location, Program
from rspverify.relation import Environment, Identity, Name, Relation, Sort, holds
from rspverify.smt import FALSE, TRUE, Choice, Term, all_of, any_of, choose, pick, truth, variable
from rspverify.smt.choice import constant, equal
from rspverify.value import Constant
from rspverify.value.domain import Access, admissible


class Executions:
    """Executions of a program under a model, by their values, rf and mo.

    events: initial writes first, then operations in order. executed: event → term. read and
    written: event → its value. rf, mo: the execution witness. axioms, conditions: name → term.
    racing: of each condition, the pairs that must be none.
    """

    def __init__(self, program: Program, limits: Limits, reads: Mapping[int, Choice[int]]) -> None:
        self.program = program
        self._limits = limits
        locations = {location.name: location for location in program.locations}
        initial = [Event(i, location) for i, location in enumerate(program.locations)]
        self._offset = len(initial)
        self.events = initial + [
            Event(self._offset + it.index, locations[it.location], it, program.threads[it.thread])
            for it in program.operations
            if it.location is not None
        ]
        self.rf: Relation = {}
        self.mo: Relation = {}
        self.executed: dict[int, Term] = {event.index: TRUE for event in self.events}
        self.written: dict[int, Choice[int]] = {}
        for event in self.events:
            if event.operation is None:
                self.written[event.index] = constant(event.location.initial)
                continue
            self.executed[event.index] = truth(event.operation.guard, reads)
            if event.operation.value is not None:
                self.written[event.index] = choose(event.operation.value, reads)
        self.read = {self._offset + index: choice for index, choice in reads.items()}

    def event(self, operation: int) -> Event:
        """The event of an operation."""
        return self.events[self._offset + operation]

    def relation(self, name: str) -> Relation:
        """The value of a relation of the model, by its name."""
        return self._environment.relation(Name(name, Sort.RELATION))

    def _judge(self, model: MemoryModel) -> None:
        """Evaluate the model on rf and mo."""
        self._holding: dict[str, Term] = {}
        self.racing: dict[str, Relation] = {}
        self._environment = self._evaluate(model)
        self.axioms = self._terms(model.axioms)
        self.conditions = self._terms(model.conditions)

    def _writers(self, location: Location) -> list[Event]:
        return [it for it in self.events if it.writes and it.location is location]

    def _evaluate(self, model: MemoryModel) -> Environment:
        environment = Environment(self.executed, self._limits)
        for name in model.names:
            if name in SETS:
                members = (event.index for event in self.events if SETS[name](event))
                environment.define_set(name, {it: self.executed[it] for it in members})
            elif name in RELATIONS:
                environment.define_relation(name, self._static(name))
            elif name in READS_FROM:
                environment.define_relation(name, self.rf)
            elif name in MODIFICATION_ORDER:
                environment.define_relation(name, self.mo)
        for statement in model.statements:
            if isinstance(statement, Let):
                environment.define(statement.definitions)
                continue
            test, expression = statement.test, statement.expression
            self._holding[statement.name] = holds(environment, test, expression)
            if statement in model.conditions:
                self.racing[statement.name] = (
                    environment.relation(expression)
                    if expression.sort is Sort.RELATION
                    else environment.relation(Identity(expression))
                )
        return environment

    def _static(self, name: str) -> Relation:
        test = RELATIONS[name]
        pairs = ((a, b) for a in self.events for b in self.events if test(a, b))
        terms = {
            (a.index, b.index): self.executed[a.index] & self.executed[b.index] for a, b in pairs
        }
        return {pair: term for pair, term in terms.items() if term is not FALSE}

    def _terms(self, axioms: tuple[Axiom, ...]) -> Mapping[str, Term]:
        return {axiom.name: self._holding[axiom.name] for axiom in axioms}


class Candidates(Executions):
    """The candidate executions of a program under a model, as terms and constraints.

    final: the last value of each location. constraints: what makes a candidate.
    """

    def __init__(self, program: Program, model: MemoryModel, limits: Limits) -> None:
        self.constraints: list[Term] = []
        super().__init__(program, limits, self._choose_values(program, model, limits))
        self.rf = self._reads_from()
        self.mo = self._modification_order()
        self._judge(model)
        self.final = {location.name: self._final(location) for location in program.locations}

    def _choose_values(
        self, program: Program, model: MemoryModel, limits: Limits
    ) -> Mapping[int, Choice[int]]:
        operations = program.operations
        accesses = [
            Access(it.index, it.location, it.reads, it.value)
            for it in operations
            if it.location is not None
        ]
        start = {location.name: location.initial for location in program.locations}
        guards = [it.guard for it in operations if not isinstance(it.guard, Constant)]
        never = no_circles(model)
        threads = {it.index: it.thread for it in operations} if never.forward else None
        in_line = {
            it.name for it in program.locations if (never.atomic if it.atomic else never.plain)
        }
        domains = admissible(start, accesses, guards, limits, threads, in_line)
        reads: dict[int, Choice[int]] = {}
        for it in operations:
            if it.reads and it.location is not None:
                choice, constraints = pick(f"r{it.index}", sorted(domains.locations[it.location]))
                reads[it.index] = choice
                self.constraints += constraints
        return reads

    def _reads_from(self) -> Relation:
        """Each executed read reads exactly one executed write of its location and value."""
        found: dict[tuple[int, int], Term] = {}
        for reader in (event for event in self.events if event.reads):
            writers = [it.index for it in self._writers(reader.location)]
            source, constraints = pick(f"rf{reader.index}", writers)
            self.constraints += constraints
            for writer, chosen in source.items():
                edge = chosen & self.executed[reader.index]
                if edge is FALSE:
                    continue
                found[writer, reader.index] = edge
                same = equal(self.written[writer], self.read[reader.index])
                self.constraints += [edge.implies(self.executed[writer]), edge.implies(same)]
        return found

    def _modification_order(self) -> Relation:
        """Per atomic location a total order of its executed writes, the initial one first."""
        found: dict[tuple[int, int], Term] = {}
        for location in self.program.locations:
            if not location.atomic:
                continue
            first, *writers = (it.index for it in self._writers(location))
            before: dict[tuple[int, int], Term] = {}
            for a in writers:
                found[first, a] = self.executed[a]
                for b in (later for later in writers if later > a):
                    before[a, b] = variable(f"mo{a},{b}")
                    before[b, a] = ~before[a, b]
            for a, b, c in permutations(writers, 3):
                if c == writers[0]:
                    self._limits.remaining()
                self.constraints.append(any_of((~before[a, b], ~before[b, c], before[a, c])))
            for (a, b), term in before.items():
                found[a, b] = all_of((term, self.executed[a], self.executed[b]))
        return {pair: term for pair, term in found.items() if term is not FALSE}

    def _final(self, location: Location) -> Choice[int]:
        """The value of the mo-last write, or of an hb-maximal one where there is no mo."""
        writers = [it.index for it in self._writers(location)]
        last: Choice[int]
        if location.atomic:
            last = {
                it: all_of(
                    [self.executed[it]]
                    + [
                        ~self.executed[other] | self.mo.get((other, it), FALSE)
                        for other in writers
                        if other != it
                    ]
                )
                for it in writers
            }
        else:
            happens_before = self.relation("hb")
            last, constraints = pick(f"final {location.name}", writers)
            self.constraints += constraints
            for it, chosen in last.items():
                self.constraints.append(chosen.implies(self.executed[it]))
                for other in writers:
                    later = happens_before.get((it, other), FALSE)
                    if other != it and later is not FALSE:
                        self.constraints.append(chosen.implies(~later))
        values: dict[int, list[Term]] = {}
        for it, chosen in last.items():
            for value, term in self.written[it].items():
                values.setdefault(value, []).append(chosen & term)
        found = {value: any_of(terms) for value, terms in values.items()}
        return {value: term for value, term in found.items() if term is not FALSE}


class GeneratedExecutions(Executions):
    """Executions whose values, rf and mo something else has generated: the witness reading.

    reads: operation → the value it reads. rf: (write, read) and mo: (write, later write) as
    operations, a write that is None being the initial one of the location; last: location → which
    write is the last to reach memory. Relations are taken where both ends are executed.
    broken: that some axiom does not hold, or the last write of a non-atomic location is not
    hb-maximal.
    """

    def __init__(
        self,
        program: Program,
        model: MemoryModel,
        limits: Limits,
        reads: Mapping[int, Choice[int]],
        rf: Mapping[tuple[int | None, int], Term],
        mo: Mapping[tuple[int, int], Term],
        last: Mapping[str, Iterable[tuple[int | None, Term]]],
    ) -> None:
        super().__init__(program, limits, reads)
        initial = {it.location.name: it for it in self.events if it.operation is None}
        sources = (
            (initial[self.event(read).location.name], self.event(read), term)
            if write is None
            else (self.event(write), self.event(read), term)
            for (write, read), term in rf.items()
        )
        self.rf = self._related(sources)
        ordered = [(self.event(a), self.event(b), term) for (a, b), term in mo.items()]
        ordered += [
            (initial[it.location.name], it, TRUE)
            for it in self.events
            if it.writes and it.operation is not None
        ]
        self.mo = self._related(each for each in ordered if each[0].location.atomic)
        self._judge(model)
        happens_before = self.relation("hb")
        overtaken = [
            is_last & later
            for location in program.locations
            if not location.atomic
            for write, is_last in last[location.name]
            for (first, second), later in happens_before.items()
            if first == (initial[location.name] if write is None else self.event(write)).index
            and self.events[second].writes
            and self.events[second].location is location
        ]
        self.broken = any_of([*(~term for term in self.axioms.values()), *overtaken])

    def _related(self, pairs: Iterable[tuple[Event, Event, Term]]) -> Relation:
        """Pairs, where both are executed."""
        executed = self.executed
        terms = {
            (a.index, b.index): all_of((term, executed[a.index], executed[b.index]))
            for a, b, term in pairs
        }
        return {pair: term for pair, term in terms.items() if term is not FALSE}
