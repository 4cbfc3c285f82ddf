"""The formula: a program of a frame, and an execution of it that breaks the model by its own rf and
mo (check/reached.py, `suspicions`), with the program among the unknowns."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from unittest.mock import patch

from bench.unknown.template import Template
from rspverify.axiomatic import GeneratedExecutions, MemoryModel
from rspverify.axiomatic.event import Event
from rspverify.axiomatic.vocabulary import RELATIONS, Membership
from rspverify.limits import Limits
from rspverify.machine import Events, Generated, Machine, observation
from rspverify.relation import Relation
from rspverify.relation.evaluate import EventSet
from rspverify.smt import FALSE, TRUE, Choice, Solver, Term, any_of, choose
from rspverify.smt.choice import constant
from rspverify.value.domain import Domains


class TemplateEvents(Events):
    """The machine's side; guards are the template's, over the values of reads."""

    def __init__(self, template: Template, limits: Limits) -> None:
        self._template = template
        machine = Machine(template.assembly, elide_l2=True)
        values = frozenset(template.values())
        domains = Domains(dict.fromkeys(machine.locations, values), {})
        with patch.object(observation, "derivable", lambda *_: domains):
            super().__init__(machine, limits)

    @property
    def guards(self) -> dict[int, Term]:
        """Instruction → that it is executed."""
        return self._guards

    @guards.setter
    def guards(self, value: Any) -> None:
        self._guards = self._template.bind(self.reads)


class TemplateExecutions(GeneratedExecutions):
    """The model's side; what an event is depends on the selectors."""

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
            if event.operation is None:
                term = TRUE if belongs(event) else FALSE
            else:
                alternatives = self._template.alternatives(event.operation.index)
                modes = [
                    when
                    for operation, when in alternatives
                    if belongs(
                        Event(event.index, event.location, operation, event.thread, event.part)
                    )
                ]
                whole = self.executed[event.index]
                term = whole if len(modes) == len(alternatives) else whole & any_of(modes)
            if term is not FALSE:
                found[event.index] = term
        return found

    def _static(self, name: str) -> Relation:
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


def suspicious(template: Template, model: MemoryModel, limits: Limits) -> tuple[Solver, int]:
    """A solver of the formula, and how many events of the order it has."""
    events = TemplateEvents(template, limits)
    own = Generated(events)
    judged = TemplateExecutions(template, model, limits, events.reads, own.rf, own.mo, own.last)
    solver = Solver(limits)
    solver.add(
        *template.constraints,
        *template.well_formed(),
        *template.not_plainly_racing(),
        *events.constraints,
        *own.constraints,
        judged.broken | own.overtaken,
        *events.order.constraints(limits),
    )
    return solver, len(events.happenings.all)
