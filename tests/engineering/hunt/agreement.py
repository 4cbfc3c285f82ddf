"""What formulas say of each program of a small space, beside what is said of it by itself."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from engineering.hunt.naming import named_for
from enumeration.test_survey import random_shape

from rspverify.axiomatic.cat import load_model
from rspverify.engineering.hunt.by_formula import why_not
from rspverify.engineering.hunt.formula.ask import suspicious
from rspverify.engineering.hunt.formula.choices import (
    Choices,
    access_of,
    members,
    racy_beginning,
    widened,
)
from rspverify.engineering.hunt.formula.sketch import Sketch, sketches
from rspverify.engineering.hunt.formula.template import Template
from rspverify.engineering.hunt.strategy import program_named
from rspverify.enumeration.naming import line_of
from rspverify.enumeration.packed import PackedTest, decoded
from rspverify.enumeration.races import races
from rspverify.enumeration.space import Space
from rspverify.enumeration.survey import Survey
from rspverify.enumeration.tables import Tables
from rspverify.limits import Limits
from rspverify.machine.reductions import placed
from rspverify.scheme.scheme import Scheme
from rspverify.smt.solver import Solver
from rspverify.soundness.case import Case, machine_of
from rspverify.soundness.check import check
from rspverify.soundness.machine_side import EventsExecutions
from rspverify.soundness.settings import Settings
from rspverify.soundness.sides import ModelSide
from rspverify.verdict import WRONG

MODEL = load_model("opencl-rsp")
QUICK = Settings(shortest=False)


@dataclass(frozen=True)
class Said:
    """The lines of programs: all that must be decided, those that are UNSOUND, those that have an
    execution that breaks the model by its own rf and mo, and those that can be chosen in a formula.
    """

    programs: frozenset[str]
    broken: frozenset[str]
    suspected: frozenset[str]
    chosen: frozenset[str]


def suspected(shape: PackedTest, space: Space, scheme: Scheme) -> bool:
    """Whether the program, by itself and in some placement, has an execution that breaks the model
    by its own rf and mo; it has one wherever it is UNSOUND, and where `check` must ask for another
    rf and mo."""
    program = program_named(shape, space)
    compiled = machine_of(scheme.compiled(program), QUICK)
    source = ModelSide(program, MODEL)
    return any(
        next(iter(EventsExecutions(machine, Limits()).candidates(source)), None) is not None
        for machine in placed(compiled)
    )


def said(space: Space, scheme: Scheme, every: int = 1) -> Said:
    """What is said of each program of a space that must be decided, or of one in so many."""
    survey = Survey(space, MODEL)
    assert why_not(survey, scheme, QUICK) is None
    programs = [decoded(each) for phase in survey.phases() for each in phase.core][::every]
    broken, expected, chosen = set(), set(), set()
    for shape in programs:
        line = line_of(shape, space)
        if check(Case(program_named(shape, space), scheme, MODEL, QUICK)).word in WRONG:
            broken.add(line)
        if suspected(shape, space, scheme):
            expected.add(line)
    for events, threads in survey.plan:
        for sketch in sketches(space, events, threads, scheme.machine):
            names = {shape: list(named_for(shape, sketch)) for shape in programs}
            if not any(names.values()):
                continue
            template = Template(sketch, space, scheme)
            solver = suspicious(template, MODEL, Limits())
            for shape in programs:
                if any(solver.find(template.chosen(each)) is not None for each in names[shape]):
                    chosen.add(line_of(shape, space))
    lines = (line_of(shape, space) for shape in programs)
    return Said(frozenset(lines), frozenset(broken), frozenset(expected), frozenset(chosen))


class Asked:
    """The formulas of a space under a table, each made once."""

    def __init__(self, space: Space, table: Scheme) -> None:
        self.space, self.table = space, table
        self._asked = cache(self._made)

    def _made(self, sketch: Sketch) -> tuple[Template, Solver]:
        template = Template(sketch, self.space, self.table)
        return template, suspicious(template, MODEL, Limits())

    def choose(self, shape: PackedTest) -> bool:
        """Whether a program can be chosen in one of them. Some sketch has it in any case."""
        found, there = False, False
        size, threads = shape.size, len(shape.threads)
        for sketch in sketches(self.space, size, threads, self.table.machine):
            for each in named_for(shape, sketch):
                template, solver = self._asked(sketch)
                there = True
                found |= solver.find(template.chosen(each)) is not None
        assert there, line_of(shape, self.space)
        return found


def lost(space: Space, many: int = 40) -> set[str]:
    """The programs of a sample of those that must be decided that no sketch has."""
    rng = random.Random(5)
    missing = set()
    for phase in Survey(space, MODEL).phases():
        left = {decoded(it): None for it in rng.sample(phase.core, min(len(phase.core), many))}
        for sketch in sketches(space, phase.events, phase.threads):
            choices = Choices(sketch, space)
            solver = Solver(Limits())
            solver.add(*choices.constraints, *choices.well_formed())
            for shape in list(left):
                names = named_for(shape, sketch)
                if any(solver.find(choices.chosen(each)) is not None for each in names):
                    del left[shape]
        missing |= {line_of(shape, space) for shape in left}
    return missing


def excluded(space: Space, kind: str, many: int) -> Iterator[PackedTest]:
    """Programs that racy ones exclude which have an operation of a kind, however they go on."""
    rng = random.Random(9)
    tables = Tables(space)
    while many > 0:
        shape = random_shape(space, tables, rng, space.events)
        places = tuple(it[:2] for it in shape.threads)
        names = {space.operations[it.operation] for each in shape.threads for it in each.accesses}
        if not any(it.startswith(kind) for it in names) or not races(shape, tables):
            continue
        lengths = tuple(len(it.accesses) for it in shape.threads)
        choices = Choices(Sketch(lengths, places, shape.atomic), space)
        starts = list(members(widened(racy_beginning(shape, choices), choices), choices))
        for start in rng.sample(starts, min(len(starts), 10)):
            threads = []
            for number, it in enumerate(start.threads):
                more = [
                    access_of(rng.choice(list(choices.picked[number, at])))
                    for at in range(len(it.accesses), lengths[number])
                ]
                threads.append(it._replace(accesses=(*it.accesses, *more)))
            many -= 1
            yield PackedTest(tuple(threads), shape.atomic)
