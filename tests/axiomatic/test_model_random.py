"""Random programs under the default model, against brute force."""

import random

import pytest
from axiomatic.test_models import answer
from hypothesis import assume, given, settings
from oracle import model as oracle
from oracle_adapter import model_outcomes, plain_program
from programs import Size, programs, random_program

from rspverify.axiomatic.cat import load_model
from rspverify.axiomatic.question import Questions
from rspverify.axiomatic.read_values import candidates_of
from rspverify.limits import LimitReached, Limits
from rspverify.litmus.program import Program
from rspverify.litmus.reader import read_program
from rspverify.records import replace
from rspverify.smt.solver import Solver
from rspverify.soundness.settings import DEFAULT_MODEL
from rspverify.source import Source
from rspverify.verdict import Outcome

MODEL = load_model(DEFAULT_MODEL)
WIDE = Size(threads=4, operations=3, total=5)
SMALL = replace(WIDE, threads=3, total=4)
DEEP = Size(threads=2, operations=4, total=5, locations=1)


@pytest.mark.parametrize("shape", [WIDE, SMALL, DEEP], ids=["wide", "small", "deep"])
@pytest.mark.parametrize("block", (0, 2))
def test_random_programs(shape: Size, block: int) -> None:
    """Where values may cause themselves without end the answer is that there is none."""
    decided = 0
    for seed in range(300 + 10 * block, 310 + 10 * block):
        program = random_program(random.Random(seed), shape, compilable=bool(seed % 2))
        try:
            found = answer(program, MODEL)
        except LimitReached as limit:
            assert str(limit).startswith("values may cause themselves")
            continue
        decided += 1
        assert found == model_outcomes(program), program.source.text
    assert decided >= 5


def racing(program: Program) -> set[tuple[int, ...]]:
    """The pairs of operations that race in some consistent execution, -1 for an initial write."""
    candidates = candidates_of(program, MODEL, Limits())
    solver = Solver(Limits())
    solver.add(*candidates.constraints, *candidates.axioms.values())
    operation = [it.operation.index if it.operation else -1 for it in candidates.events]
    pairs = candidates.racing["Dr"].items()
    return {
        tuple(operation[it] for it in pair)
        for pair, term in pairs
        if solver.find([term]) is not None
    }


def test_which_pairs_race() -> None:
    pairs = set()
    for seed in range(300, 340):
        program = random_program(random.Random(seed), SMALL, compilable=True)
        expected = {
            tuple(-1 if it.thread is None else it.eid for it in pair)
            for found in oracle.candidates(plain_program(program))
            if not found.violated
            for pair in found.races
        }
        assert racing(program) == expected, program.source.text
        pairs |= expected
    assert len(pairs) > 5


@settings(max_examples=30, derandomize=True)
@given(programs(SMALL))
def test_more_random_programs(program: Program) -> None:
    try:
        found = answer(program, MODEL)
    except LimitReached:
        assume(False)
    assert found == model_outcomes(program)


# ---- values that cause themselves ----------------------------------------------------------------

COPIES = """OPENCL copies
{{ [x]=0; [y]=0; [z]={start}; }}
P0@wg 0, dev 0 (global atomic_int* x, global atomic_int* y) {{
  int r0 = atomic_load_explicit(x, memory_order_relaxed, memory_scope_device);
  atomic_store_explicit(y, r0, memory_order_relaxed, memory_scope_device);
}}
P1@wg 1, dev 0 (global atomic_int* x, global atomic_int* y, global int* z) {{
  int r1 = atomic_load_explicit(y, memory_order_relaxed, memory_scope_device);
  atomic_store_explicit(x, r1, memory_order_relaxed, memory_scope_device);
  {more}
}}
"""


@pytest.mark.parametrize(("start", "more"), [(42, ""), (0, "if (r1 == 42) { *z = 7; }")])
def test_values_out_of_thin_air(start: int, more: str) -> None:
    """Fig. 2 lets relaxed copies cause themselves; any value of the program will do."""
    program = read_program(Source("copies.litmus", COPIES.format(start=start, more=more)))
    found, racy, executions = answer(program, MODEL)
    assert (found, racy, executions) == model_outcomes(program)
    assert {value for outcome in found for _, value in outcome.reads} >= {0, 42}


def seen(text: str) -> set[int]:
    """The values that are read in some consistent execution."""
    questions = Questions(read_program(Source("t.litmus", text)), MODEL, Limits())
    return {value for outcome in questions.outcomes() for _, value in outcome.reads}


def test_only_values_of_the_program_come_out_of_thin_air() -> None:
    assert seen(COPIES.format(start=0, more="")) == {0}


LONGER = """OPENCL longer
{ [x]=0; [y]=0; [z]=0; [w]=5; }
P0@wg 0, dev 0 (global atomic_int* x, global atomic_int* y, global atomic_int* z) {
  int r0 = atomic_load_explicit(x, memory_order_relaxed, memory_scope_device);
  atomic_store_explicit(y, r0, memory_order_relaxed, memory_scope_device);
  atomic_store_explicit(z, r0 + 10, memory_order_relaxed, memory_scope_device);
}
P1@wg 1, dev 0 (global atomic_int* x, global atomic_int* y) {
  int r1 = atomic_load_explicit(y, memory_order_relaxed, memory_scope_device);
  atomic_store_explicit(x, r1, memory_order_relaxed, memory_scope_device);
}
P2@wg 2, dev 0 (global atomic_int* z, global int* w) {
  int r2 = atomic_load_explicit(z, memory_order_relaxed, memory_scope_device);
}
"""


def test_values_without_end() -> None:
    """x and y may have any value of the program, and adding 10 makes these infinitely many."""
    program = read_program(Source("longer.litmus", LONGER))
    with pytest.raises(LimitReached, match=r"^values may cause themselves"):
        Questions(program, MODEL, Limits())


EMPTY = "OPENCL empty\n{ [x]=3; }\nP0@wg 0, dev 0 (global int* x) { int r0 = 1; }\n"


def test_a_program_without_operations() -> None:
    program = read_program(Source("empty.litmus", EMPTY))
    assert answer(program, MODEL) == model_outcomes(program)
    assert answer(program, MODEL) == ({Outcome((), (("x", 3),))}, False, 1)


# ---- limits --------------------------------------------------------------------------------------

STORES = "\n".join(
    f"  atomic_store_explicit(x, {i}, memory_order_release, memory_scope_device);"
    for i in range(1, 5)
)
MANY = f"""OPENCL many
{{ [x]=0; }}
P0@wg 0, dev 0 (global atomic_int* x) {{
{STORES}
}}
P1@wg 1, dev 0 (global atomic_int* x) {{
  int r0 = atomic_load_explicit(x, memory_order_acquire, memory_scope_device);
}}
"""


def test_a_limit_on_values() -> None:
    program = read_program(Source("many.litmus", MANY))
    assert len(list(Questions(program, MODEL, Limits(values=5)).outcomes())) == 5
    with pytest.raises(LimitReached, match=r"^x may take more than 4 values$"):
        Questions(program, MODEL, Limits(values=4))


def test_a_limit_on_outcomes() -> None:
    program = read_program(Source("many.litmus", MANY))
    assert len(list(Questions(program, MODEL, Limits(outcomes=5)).outcomes())) == 5
    found = Questions(program, MODEL, Limits(outcomes=4)).outcomes()
    with pytest.raises(LimitReached, match=r"^more than 4 outcomes$"):
        list(found)


def test_a_limit_on_time() -> None:
    program = read_program(Source("many.litmus", MANY))
    with pytest.raises(LimitReached, match=r"^timeout of 1e-06 s$"):
        Questions(program, MODEL, Limits(seconds=1e-6)).race()
