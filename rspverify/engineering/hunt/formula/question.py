"""The formula: a program of a sketch, and an execution of it that breaks the model by its own rf
and mo (soundness/target.py, `suspicions`), with the program among the unknowns."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from rspverify.axiomatic.event import Event, Part
from rspverify.axiomatic.executions import GeneratedExecutions
from rspverify.axiomatic.model import MemoryModel
from rspverify.engineering.hunt.formula.template import Template
from rspverify.limits import LimitReached, Limits
from rspverify.machine.event import Event as MachineEvent
from rspverify.machine.events import Events
from rspverify.machine.machine import Machine
from rspverify.machine.rules import Deliver, StepRule
from rspverify.machine.witness import GeneratedWitness
from rspverify.relation.terms import Relation
from rspverify.smt.solver import Solver
from rspverify.smt.term import TRUE, Term, any_of


class TemplateExecutions(GeneratedExecutions):
    """The model's side. What an event is, and whether it is executed, depends on what is chosen."""

    def __init__(self, template: Template, model: MemoryModel, limits: Limits, *rest: Any) -> None:
        self._template = template
        super().__init__(template.program, model, limits, *rest)

    def occurs(self, event: Event) -> tuple[Term, Term]:
        it = event.operation
        if it is None:
            return TRUE, TRUE
        executed = self._template.executed[it.index]
        writing = executed & self._succeeds.get(it.index, TRUE)
        return (writing if event.part is Part.WRITE else executed), writing

    def modes(self, event: Event) -> list[tuple[Event, Term]]:
        if event.operation is None:
            return [(event, TRUE)]
        found = []
        for it, when in self._template.alternatives(event.operation.index):
            each = Event(event.index, event.location, it, event.thread, event.part)
            if each.failed is None:
                found.append((each, when))
            else:
                succeeds = self._succeeds[it.index]
                found += [(each, when & succeeds), (each.failed, when & ~succeeds)]
        return found

    def related(self, test: Callable[[Event, Event], bool]) -> Relation:
        """A relation that depends on places alone: threads, work-groups, locations."""
        executed = self.executed
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
    """A solver of the formula. Raises LimitReached, also where the machine, as far as these
    programs use it, does not say in which order writes reach memory: it has no mo then.

    It has a solution for each program of the sketch that must be decided (Sort.CORE) and is
    UNSOUND: of such a program some complete execution has an outcome that is not allowed, and so
    its own rf and mo are not. Which solution is found depends on the sketch, the scheme and the
    model alone.
    """
    machine = Machine(template.assembly)
    if unknown := machine.in_cases.routes.unknown:
        raise LimitReached(f"no formula knows in which order writes reach memory: {unknown}")
    events = Events(machine, limits, chosen=template)
    own = GeneratedWitness(events)
    judged = TemplateExecutions(template, model, limits, events.reads, own.rf, own.mo, own.last)
    waiting = list(_after_what_ifs_test(template, events))
    solver = Solver(limits, reproducible=True)
    solver.add(
        *template.constraints,
        *template.well_formed(),
        *template.not_plainly_racing(),
        *events.constraints,
        *own.constraints,
        *waiting,
        judged.broken | own.overtaken,
        *events.order.constraints(limits),
    )
    most = template.space.guards
    if most is not None:
        ifs = [(~conditions[None], 1) for conditions in template.conditions.values()]
        solver.bound(TRUE, ifs, most)
    return solver


def _after_what_ifs_test(template: Template, events: Events) -> Iterator[Term]:
    """That an instruction behind an `if` comes after the step that completes the read it tests.

    A program says this by the guards of its instructions (machine/pending.py); here these are
    chosen.
    """
    completing: dict[int, list[MachineEvent]] = {}
    for each in events.possible.all:
        it = each.rule.instruction
        if it is not None and isinstance(each.rule, StepRule):
            if any(isinstance(update, Deliver) for update in each.rule.changes.values()):
                completing.setdefault(it.index, []).append(each)
    order = events.order
    for read, later, when in template.awaited():
        for step in completing.get(read, ()):
            for case in events.possible.cases[later]:
                first = order.before(step, case)
                yield any_of((~when, order.absent(step), order.absent(case), first))
