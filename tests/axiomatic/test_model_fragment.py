"""opencl-rsp on the language of the RSP paper: what Fig. 2 says, execution for execution."""

import random
from pathlib import Path

import pytest
from programs import Size, consistent_executions, random_program

from rspverify.axiomatic.cat import load_model
from rspverify.axiomatic.model import MemoryModel
from rspverify.axiomatic.question import Questions
from rspverify.axiomatic.read_values import candidates_of
from rspverify.limits import LimitReached, Limits
from rspverify.litmus.program import Order, Program
from rspverify.litmus.reader import read_program_file
from rspverify.records import replace
from rspverify.smt.solver import Solver

HERE = Path(__file__).resolve().parent
TESTS = sorted((HERE.parents[1] / "litmus/rsp").glob("*/*.litmus"))
WHOLE = load_model("opencl-rsp")
FRAGMENT = load_model(str(HERE / "models" / "fragment.cat"))
SHAPE = Size(threads=4, operations=3, total=6)


def in_fragment(program: Program) -> bool:
    """Whether the program has no seq_cst, and accesses to global memory alone."""
    return all(
        it.location is not None and it.order is not Order.SEQ_CST for it in program.operations
    ) and all(it.region == "global" for it in program.locations)


def answer(program: Program, model: MemoryModel) -> tuple[object, ...]:
    """All consistent executions by rf and mo, the outcomes, and whether one races."""
    questions = Questions(program, model, Limits())
    executions = {
        (it.outcome.reads, *sorted(it.relations.items())) for it in consistent_executions(questions)
    }
    return executions, set(questions.outcomes()), questions.race() is not None


def racing(program: Program, model: MemoryModel) -> set[tuple[int, int]]:
    """The pairs of events that race in some consistent execution."""
    candidates = candidates_of(program, model, Limits())
    solver = Solver(Limits())
    solver.add(*candidates.constraints, *candidates.axioms.values())
    pairs = candidates.racing["Dr"]
    return {pair for pair, term in pairs.items() if solver.find([term]) is not None}


def agree(program: Program) -> None:
    assert answer(program, WHOLE) == answer(program, FRAGMENT), program.source.text
    assert racing(program, WHOLE) == racing(program, FRAGMENT), program.source.text


@pytest.mark.parametrize("start", range(6))
def test_the_corpus(start: int) -> None:
    for path in TESTS[start::12]:
        program = read_program_file(path)
        assert in_fragment(program), path
        agree(program)


@pytest.mark.parametrize("shape", [SHAPE, replace(SHAPE, threads=2, operations=4, locations=1)])
@pytest.mark.parametrize("block", range(2))
def test_random_programs(shape: Size, block: int) -> None:
    compared = 0
    for seed in range(15 * block, 15 * (block + 1)):
        program = random_program(random.Random(seed), shape, compilable=bool(seed % 2))
        if in_fragment(program):
            try:
                agree(program)
            except LimitReached:
                continue
            compared += 1
    assert compared >= 4
