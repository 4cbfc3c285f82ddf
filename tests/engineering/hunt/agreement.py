"""What formulas say of each program of a small space, beside what is said of it by itself."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, partial
from itertools import permutations

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
from rspverify.enumeration.packed import NONE, PackedTest, _named, decoded
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


def named_for(shape: PackedTest, sketch: Sketch) -> Iterator[PackedTest]:
    """The shapes that differ from this one in names alone, and have the sketch."""
    if len(shape.atomic) != len(sketch.atomic):
        return
    for order in permutations(range(len(shape.threads))):
        named = _named(shape, order)
        lengths = tuple(len(thread.accesses) for thread in named.threads)
        if (lengths, tuple(it[:2] for it in named.threads)) != (sketch.lengths, sketch.places):
            continue
        for places in permutations(range(len(shape.atomic))):
            found = relocated(named, places)
            if (found.atomic, found.local) == (sketch.atomic, sketch.local) and all(
                sketch.reaches(number, each.location)
                for number, thread in enumerate(found.threads)
                for each in thread.accesses
            ):
                yield found


def relocated(shape: PackedTest, places: Sequence[int]) -> PackedTest:
    """A shape whose locations have other numbers."""
    numbers = dict(enumerate(places)) | {NONE: NONE}
    threads = tuple(
        it._replace(
            accesses=tuple(each._replace(location=numbers[each.location]) for each in it.accesses)
        )
        for it in shape.threads
    )
    atomic = tuple(shape.atomic[places.index(x)] for x in range(len(places)))
    return PackedTest(threads, atomic, tuple(sorted(numbers[x] for x in shape.local)))


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
    asked = Asked(space, scheme)
    for shape in programs:
        line = line_of(shape, space)
        if check(Case(program_named(shape, space), scheme, MODEL, QUICK)).word in WRONG:
            broken.add(line)
        if suspected(shape, space, scheme):
            expected.add(line)
        if asked.choose(shape):
            chosen.add(line)
    lines = (line_of(shape, space) for shape in programs)
    return Said(frozenset(lines), frozenset(broken), frozenset(expected), frozenset(chosen))


class Asked:
    """The formulas of a space under a table, each made once."""

    def __init__(self, space: Space, table: Scheme) -> None:
        self.space, self.table = space, table
        self._asked = cache(self._made)
        self._sketches = cache(partial(sketches, space, machine=table.machine))

    def _made(self, sketch: Sketch) -> tuple[Template, Solver]:
        template = Template(sketch, self.space, self.table)
        return template, suspicious(template, MODEL, Limits())

    def choose(self, shape: PackedTest) -> bool:
        """Whether a program can be chosen in one of them. Some sketch has it in any case."""
        found, there = False, False
        for sketch in self._sketches(shape.size, len(shape.threads)):
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
            solver.add(*choices.constraints, *choices.well_formed(), *choices.not_plainly_racing())
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
