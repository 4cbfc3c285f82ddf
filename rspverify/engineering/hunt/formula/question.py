"""The formula: a program of a frame, and an execution of it that breaks the model by its own rf and
mo (check/reached.py, `suspicions`), with the program among the unknowns."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rspverify.axiomatic import GeneratedExecutions, MemoryModel
from rspverify.axiomatic.event import Event
from rspverify.axiomatic.vocabulary import RELATIONS, Membership
from rspverify.engineering.hunt.formula.template import Template
from rspverify.limits import Limits
from rspverify.machine import Events, Generated, Machine
from rspverify.relation.terms import EventSet, Relation
from rspverify.smt import FALSE, TRUE, Choice, Solver, Term, any_of, choose
from rspverify.smt.choice import constant


class TemplateExecutions(GeneratedExecutions):
    """The model's side. What an event is, and whether it is executed, depends on what is chosen."""

    def __init__(self, template: Template, model: MemoryModel, limits: Limits, *rest: Any) -> None:
        self._template = template
        super().__init__(template.program, model, limits, *rest)

    def _give_values(self, event: Event, reads: Mapping[int, Choice[int]]) -> None:
        it = event.operation
        if it is None:
            self.executed[event.index] = self.writing[event.index] = TRUE
            self.written[event.index] = constant(event.at.initial)
            return
        self.executed[event.index] = self._template.executed[it.index]
        if event.reads:
            self.read[event.index] = reads[it.index]
            self._readers[it.index] = event
        if event.writes:
            assert it.value is not None
            self.writing[event.index] = self.executed[event.index]
            self.written[event.index] = choose(it.value, reads)
            self._writers_of[it.index] = event

    def _members(self, belongs: Membership) -> EventSet:
        found = {}
        for event in self.events:
            term = self._member(event, belongs)
            if term is not FALSE:
                found[event.index] = term
        return found

    def _member(self, event: Event, belongs: Membership) -> Term:
        """That an event is executed, as an operation that belongs to a set."""
        if event.operation is None:
            return TRUE if belongs(event) else FALSE
        alternatives = self._template.alternatives(event.operation.index)
        modes = [
            when
            for it, when in alternatives
            if belongs(Event(event.index, event.location, it, event.thread, event.part))
        ]
        executed = self.executed[event.index]
        return executed if len(modes) == len(alternatives) else executed & any_of(modes)

    def _static(self, name: str) -> Relation:
        """A relation that depends on places alone: threads, work-groups, locations."""
        test, executed = RELATIONS[name], self.executed
        return {
            (a.index, b.index): executed[a.index] & executed[b.index]
            for a in self.events
            for b in self.events
            if (a is b or not self._exclusive(a, b)) and test(a, b)
        }

    def _exclusive(self, a: Event, b: Event) -> bool:
        """Whether they are in one slot, so that never both are executed."""
        if a.operation is None or b.operation is None:
            return False
        slot = self._template.slot_of
        return slot(a.operation.index) == slot(b.operation.index)


def suspicious(template: Template, model: MemoryModel, limits: Limits) -> Solver:
    """A solver of the formula. Raises LimitReached.

    It has a solution for each program of the frame that must be decided (Sort.CORE) and is UNSOUND:
    of such a program some complete execution has an outcome that is not allowed, and so its own rf
    and mo are not. Which solution is found depends on the frame, the scheme and the model alone.
    """
    machine = Machine(template.assembly, elide_l2=True)
    events = Events(machine, limits, chosen=template)
    own = Generated(events)
    judged = TemplateExecutions(template, model, limits, events.reads, own.rf, own.mo, own.last)
    solver = Solver(limits, reproducible=True)
    solver.add(
        *template.constraints,
        *template.well_formed(),
        *template.not_plainly_racing(),
        *events.constraints,
        *own.constraints,
        judged.broken | own.overtaken,
        *events.order.constraints(limits),
    )
    most = template.space.guards
    if most is not None:
        ifs = [(~tests[None], 1) for tests in template.tests.values()]
        solver.bound(TRUE, ifs, most)
    return solver
