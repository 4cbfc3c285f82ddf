"""One sketch: candidates of its formula, each excluded with all that share the cause, until one
breaks the scheme or there is none."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from msgspec import Struct

from rspverify.answers import Internal
from rspverify.axiomatic.event import Event, Part
from rspverify.axiomatic.executions import GeneratedExecutions
from rspverify.axiomatic.model import MemoryModel
from rspverify.axiomatic.vocabulary import RELATIONS, SETS, Ways
from rspverify.engineering.hunt.formula.choices import racing_like
from rspverify.engineering.hunt.formula.covered import renumbered, without_covered
from rspverify.engineering.hunt.formula.sketch import Sketch
from rspverify.engineering.hunt.formula.template import Template, has_programs
from rspverify.engineering.hunt.strategy import program_named
from rspverify.enumeration.lemmas import without_idle_if
from rspverify.enumeration.naming import line_of
from rspverify.enumeration.packed import PackedTest, canonical, encoded
from rspverify.enumeration.races import races
from rspverify.enumeration.space import Space
from rspverify.enumeration.tables import Tables
from rspverify.limits import LimitReached, Limits
from rspverify.machine.event import Event as MachineEvent
from rspverify.machine.events import Events
from rspverify.machine.machine import Machine
from rspverify.machine.rules import Deliver, StepRule
from rspverify.machine.witness import GeneratedWitness
from rspverify.records import replace
from rspverify.relation.graded import Value
from rspverify.scheme.scheme import Scheme
from rspverify.smt.solver import Solver
from rspverify.smt.term import TRUE, Term, all_of, any_of
from rspverify.soundness.case import Case
from rspverify.soundness.check import check
from rspverify.soundness.settings import Settings
from rspverify.verdict import WRONG, Verdict, Word


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

    @cached_property
    def ways(self) -> Ways:
        """What each event may be, of all that may be chosen."""
        return {it.index: self._ways_of(it) for it in self.events}

    def _ways_of(self, event: Event) -> list[tuple[Event, Term]]:
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

    def decided(self, name: str) -> Value:
        """Relations depend on places alone: threads, work-groups, locations."""
        if name in SETS:
            return super().decided(name)
        executed, test = self.executed, RELATIONS[name]
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


class SketchAnswer(Struct, frozen=True):
    """What is known of the programs of a sketch that must be decided.

    broken: one that is UNSOUND, as bytes in hexadecimal. Where there is none, all are sound but
    what `unknown` names, each with the reason. racy, allowed: how many candidates raced, and how
    many had outcomes that are allowed by another rf and mo. seconds: what it took.
    """

    broken: str = ""
    unknown: tuple[str, ...] = ()
    racy: int = 0
    allowed: int = 0
    internal: tuple[Internal, ...] = ()
    seconds: float = 0.0

    @property
    def sound(self) -> bool:
        """Whether no program of the sketch breaks the scheme."""
        return not self.broken and not self.unknown


@dataclass
class SketchSearch:
    """Searches the programs of a sketch for one that breaks a scheme."""

    space: Space
    scheme: Scheme
    model: MemoryModel
    settings: Settings
    _racy: int = field(default=0, init=False)
    _allowed: int = field(default=0, init=False)
    _unknown: list[str] = field(default_factory=list, init=False)

    def answer(self, sketch: Sketch) -> SketchAnswer:
        """The answer. A time limit or too little memory makes it unknown. Raises what is a mistake
        of ours."""
        self._racy = self._allowed = 0
        self._unknown = []
        broken = ""
        started = time.monotonic()
        limits = self.settings.limits()
        try:
            with limits.enforced():
                found = self._broken(sketch, limits)
            broken = "" if found is None else encoded(found).hex()
        except (LimitReached, MemoryError) as limit:
            self._unknown.append(f"{sketch}: {str(limit) or 'out of memory'}")
        unknown, seconds = tuple(self._unknown), time.monotonic() - started
        return SketchAnswer(broken, unknown, self._racy, self._allowed, (), seconds)

    def _broken(self, sketch: Sketch, limits: Limits) -> PackedTest | None:
        """A program of the sketch that is UNSOUND, or None when no candidate is left."""
        space = without_covered(self.space, self.scheme, sketch)
        if not has_programs(sketch, space, self.scheme):
            return None
        template = Template(sketch, space, self.scheme)
        solver = suspicious(template, self.model, limits)
        while (found := solver.find()) is not None:
            own = template.test(found)
            test = renumbered(own, space, self.space)
            if races(own, template.tables):
                self._racy += 1
                solver.add(~racing_like(own, template))
                continue
            verdict = self._checked(test, limits)
            if verdict.word in WRONG:
                return self._without_idle_ifs(test, Tables(self.space), limits)
            if verdict.word in (Word.SOUND, Word.VACUOUS):
                self._allowed += 1
            else:
                self._unknown.append(f"{line_of(test, self.space)}: {verdict.reason}")
            solver.add(~all_of(template.chosen(own)))
        return None

    def _checked(self, test: PackedTest, limits: Limits) -> Verdict:
        """The verdict on a candidate, whether it races included, in the time that is left."""
        settings = replace(self.settings, seconds=limits.remaining() or 0)
        verdict = check(Case(program_named(test, self.space), self.scheme, self.model, settings))
        if verdict.word is Word.RACY:
            line = line_of(test, self.space)
            raise AssertionError(f"{line} has no race by enumeration, and one by the solver")
        return verdict

    def _without_idle_ifs(self, test: PackedTest, tables: Tables, limits: Limits) -> PackedTest:
        """The same without each `if` that it need not have to be UNSOUND and free of races."""
        for simpler in without_idle_if(test, tables):
            try:
                if self._checked(simpler, limits).word in WRONG:
                    return self._without_idle_ifs(simpler, tables, limits)
            except LimitReached:
                break  # what is found stands
        return canonical(test)
