"""Spins that are read as their last iteration, on every machine: as loops that are unrolled."""

from __future__ import annotations

import random

from checks import scheme_named
from litmus.spins import spinning_test

from rspverify.architecture.machines import MACHINES
from rspverify.limits import LimitReached, Limits
from rspverify.litmus.program import Program
from rspverify.litmus.reader import read_program
from rspverify.machine.awaits import iterations_matter
from rspverify.machine.explicit import ExplicitMachine
from rspverify.machine.machine import Machine
from rspverify.records import replace
from rspverify.scheme.mutants import mutants_of
from rspverify.scheme.scheme import Scheme
from rspverify.source import InputError, Source
from rspverify.value import evaluate

SCHEMES = [scheme_named(name) for name in ("proposed-full", "quickrelease")]
NAMES = [name for name in MACHINES if not name.startswith("ptx")]


def ends(program: Program, scheme: Scheme) -> frozenset[object]:
    """What registers and memory hold in the ends of the compiled program's executions."""
    machine = Machine(scheme.compiled(program))
    found = set()
    for outcome in ExplicitMachine(machine).search(Limits(states=12_000)).outcomes:
        read = dict(outcome.reads)
        registers = (
            (thread.name, name, evaluate(value, read))
            for thread in program.threads
            for name, value in thread.registers.items()
        )
        found.add((*registers, *outcome.memory))
    return frozenset(found)


def mutated(rng: random.Random, program: Program) -> Scheme:
    """A scheme with one instruction less in some row, for some machine."""
    scheme = rng.choice(SCHEMES)
    used = {row.number for row in scheme.rows_used(program)}
    rows = [each for each in mutants_of(scheme) if each.row.number in used and each.mutants]
    if rows and rng.random() < 0.7:
        scheme = rng.choice(rng.choice(rows).mutants).of(scheme)
    machine = MACHINES[rng.choice(NAMES)]
    try:
        return scheme.on_machine(machine)
    except InputError:
        return scheme


def agreeing(number: int) -> bool | None:
    """Whether a random test ends as it does with its loops unrolled; None where that is not asked."""
    rng = random.Random(f"spinning {number}")
    test = Source("t", spinning_test(rng))
    program = read_program(test)
    scheme = mutated(rng, program)
    try:
        if not program.spins or iterations_matter(Machine(scheme.compiled(program))):
            return None
        found = ends(program, scheme)
        for bound in (1, 2, 3):
            unrolled = read_program(test, bound).unrolled
            assert unrolled is not None
            if ends(replace(unrolled, spins=()), scheme) != found:
                return False
    except (InputError, LimitReached):
        return None
    return True


def test_the_same_ends_as_unrolled() -> None:
    answers = [agreeing(number) for number in range(20)]
    assert False not in answers, answers.index(False)
    assert answers.count(True) >= 2
