"""The tests of litmus/all-orders under proposed-full: each verdict, and what breaks if rows lack a step."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest
from checks import MODEL, ROOT, data, judged, scheme_named

from rspverify.assembly.program import AssemblyProgram
from rspverify.corpus.expected import read_expected
from rspverify.litmus.program import Kind, Order, Program
from rspverify.litmus.reader import read_program, read_program_file
from rspverify.machine.firings import enough_steps
from rspverify.records import replace
from rspverify.scheme.scheme import Scheme
from rspverify.soundness.case import machine_of
from rspverify.soundness.machine_side import MachineSide
from rspverify.soundness.progress import progress
from rspverify.soundness.settings import Engine, Settings
from rspverify.soundness.sides import ModelSide
from rspverify.source import Source
from rspverify.verdict import Outcome, ProgressWord, Word

TESTS = sorted((ROOT / "litmus/all-orders").rglob("*.litmus"))
NAMES = [path.name for path in TESTS]
FULL = scheme_named("proposed-full")


@cache
def source(name: str) -> ModelSide:
    return ModelSide(read_program_file(ROOT / "litmus/all-orders" / name), MODEL)


def program(name: str) -> Program:
    return source(name).program


@pytest.mark.parametrize("suite", ["all-orders", "devices"])
def test_every_verdict_is_exact_and_none_is_unsound(suite: str) -> None:
    """It would say within which bounds it holds. `make check-all` holds verdicts to these."""
    folder = ROOT / "litmus" / suite
    expected = read_expected(str(folder / "expected.yaml")).verdicts
    assert {*expected} == {str(it.relative_to(folder)) for it in folder.rglob("*.litmus")}
    assert {word for row in expected.values() for word in row.values()} <= {
        *("SOUND", "RACY", "UNSUPPORTED")
    }


SPIN = """\
OpenCL Spin
{ [d]=0; [y]=0; }
P0 (global int* d, global atomic_int* y) {
  *d = 1;
  atomic_store_explicit(y, 1, memory_order_release, memory_scope_device);
}
P1 (global int* d, global atomic_int* y) {
  int r0 = 0, n = 0;
  while (r0 == 0) {
    n++;
    r0 = atomic_load_explicit(y, memory_order_acquire, memory_scope_device);
  }
  int r1 = *d;
}
scopeTree (device (work_group P0) (work_group P1))
exists (1:r1=0)
"""


@pytest.mark.parametrize("engine", [Engine.EVENTS, Engine.EXPLICIT])
def test_a_verdict_on_a_loop_says_how_far_it_was_unrolled(engine: Engine) -> None:
    spin = read_program(Source("Spin.litmus", SPIN))
    verdict = judged(spin, FULL, engine=engine)
    assert (verdict.word, verdict.within) == (Word.SOUND, {"iterations": 8})
    assert verdict.reason.startswith("within 8 iterations, ")
    found = progress(spin, FULL, Settings())
    assert found.word is ProgressWord.UNKNOWN
    assert found.reason.startswith("no deadlock within 8 iterations")


def test_a_loop_does_not_hide_a_wrong_outcome() -> None:
    verdict = judged(read_program(Source("Spin.litmus", SPIN)), without("load DV,N (acquire)", 1))
    assert (verdict.word, verdict.within) == (Word.UNSOUND, {"iterations": 8})
    assert verdict.outcome is not None
    assert verdict.outcome.reads[-1][1] == 0


def test_a_deadlock_where_no_loop_goes_on_is_one() -> None:
    """A remote store that keeps the rmw locks, before another one: P1 has left its loop."""
    remote = "atomic_store_explicit_remote(y, 2, memory_order_release, memory_scope_device)"
    text = SPIN.replace("int r1 = *d", remote).replace("*d = 1", remote)
    text = text.replace("[y]=0", "[y]=1").replace("1:r1=0", "y=0")
    keeping = without("store DV,R (release)", 6)
    found = progress(read_program(Source("Spin.litmus", text)), keeping, Settings())
    assert found.word is ProgressWord.STUCK


def _outcomes(compiled: AssemblyProgram, engine: Engine) -> frozenset[Outcome]:
    settings = Settings(engine)
    machine = machine_of(compiled, settings)
    return frozenset(MachineSide(machine, settings, settings.limits()).outcomes())


@pytest.mark.parametrize("name", NAMES)
def test_the_engines_reach_the_same_outcomes(name: str) -> None:
    """By search too, where the threads are few, and by unrolling where the steps are."""
    compiled = FULL.compiled(program(name))
    found = _outcomes(compiled, Engine.EVENTS)
    if len(compiled.threads) < 3:
        assert _outcomes(compiled, Engine.EXPLICIT) == found
        if enough_steps(machine_of(compiled, Settings())).total < 22:
            assert _outcomes(compiled, Engine.UNROLL) == found


def test_the_tests_have_every_kind_of_operation() -> None:
    found = {
        (each.kind, each.order) for name in NAMES for each in program(name).operations if each.order
    }
    assert {order for kind, order in found if kind is Kind.LOAD} == {
        Order.RELAXED,
        Order.ACQUIRE,
        Order.SEQ_CST,
    }
    assert {order for kind, order in found if kind is Kind.FENCE} == {
        Order.ACQUIRE,
        Order.RELEASE,
        Order.ACQ_REL,
        Order.SEQ_CST,
    }
    assert any(each.success is not None for name in NAMES for each in program(name).operations)


def without(row: str, instruction: int) -> Scheme:
    """The scheme, but for one instruction of a row, which is named as `show` names it."""
    (lacking,) = [each for each in FULL.rows if str(each).startswith(row)]
    code = lacking.code[:instruction] + lacking.code[instruction + 1 :]
    rows = (replace(each, code=code) if each is lacking else each for each in FULL.rows)
    return replace(FULL, rows=tuple(rows))


@pytest.mark.parametrize("case", data("soundness/needed_in_proposed_full.yaml"))
def test_each_of_these_instructions_is_needed(case: Any) -> None:
    (name,) = [each for each in NAMES if each.startswith(case["test"])]
    scheme = without(case["row"], case["place"])
    assert scheme.rows_used(program(name)) != ()
    assert judged(program(name), scheme, Settings(), source=source(name)).word is Word.UNSOUND
