"""AMD's machines: LLVM's table without one of its instructions, on the program that needs it."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from rspverify.axiomatic import load_model
from rspverify.litmus import Program, read_program
from rspverify.litmus.program import Order, Scope
from rspverify.machine.machine import unbounded
from rspverify.scheme import Op, Scheme, Shape, read_scheme_file
from rspverify.soundness.case import Case
from rspverify.soundness.check import check
from rspverify.soundness.progress import progress
from rspverify.soundness.settings import Engine, Settings
from rspverify.source import read_source
from rspverify.verdict import ProgressWord, Verdict, Word

ROOT = Path(__file__).resolve().parents[2]
MODEL = load_model("opencl-rsp")
TABLE = read_scheme_file(ROOT / "schemes/amdgpu/gfx900.yaml")
WAIT, LDS_WAIT, INV = "s_waitcnt vmcnt(0)", "s_waitcnt lgkmcnt(0)", "buffer_wbinvl1_vol"


@cache
def program(name: str) -> Program:
    return read_program(read_source(ROOT / f"litmus-amdgpu/{name}.litmus"))


def shape(op: Op, order: Order, scope: Scope = Scope.DV, **others: object) -> Shape:
    return Shape(op, scope, order, False, **others)  # type: ignore[arg-type]


def without(it: Shape, instruction: str) -> Scheme:
    """The table with a row that has lost an instruction."""
    row = TABLE.table[it]
    left = tuple(each for each in row.code if str(each) != instruction)
    assert len(left) < len(row.code)
    return TABLE.with_code(row.number, left)


def verdict(test: str, scheme: Scheme = TABLE, engine: Engine = Engine.EVENTS) -> Verdict:
    return check(Case(program(test), scheme, MODEL, Settings(engine=engine, shortest=False)))


ACQUIRE, RELEASE = shape(Op.LOAD, Order.ACQUIRE), shape(Op.STORE, Order.RELEASE)
BOTH = frozenset({"global", "local"})

NEEDED = [
    (ACQUIRE, WAIT, "MP-dv"),
    (ACQUIRE, INV, "MP-dv"),
    (RELEASE, WAIT, "MP-dv"),
    (shape(Op.FENCE, Order.RELEASE), WAIT, "MP-fences-dv"),
    (shape(Op.FENCE, Order.ACQUIRE), WAIT, "MP-fences-dv"),
    (shape(Op.FENCE, Order.ACQUIRE), INV, "MP-fences-dv"),
    (shape(Op.LOAD, Order.SEQ_CST), WAIT, "SB-sc-dv"),
    (shape(Op.FENCE, Order.RELEASE, Scope.WG, memory=BOTH), LDS_WAIT, "MP-local-wg"),
]


@pytest.mark.parametrize(("row", "instruction", "test"), NEEDED, ids=lambda it: str(it))
def test_each_instruction_is_needed(row: Shape, instruction: str, test: str) -> None:
    assert verdict(test).word is Word.SOUND
    assert verdict(test, without(row, instruction)).word is Word.UNSOUND


def test_a_relaxed_load_of_the_device_needs_its_bit() -> None:
    near = TABLE.table[shape(Op.LOAD, Order.RELAXED, Scope.WG)].code
    row = TABLE.table[shape(Op.LOAD, Order.RELAXED)]
    assert verdict("CoRR-dv").word is Word.SOUND
    assert verdict("CoRR-dv", TABLE.with_code(row.number, near)).word is Word.UNSOUND


@pytest.mark.parametrize("test", ["MP-dv", "CoRR-loads-dv", "MP-in-local-wg", "CoWR-wg"])
def test_search_says_the_same(test: str) -> None:
    assert verdict(test, engine=Engine.EXPLICIT).word is Word.SOUND


@pytest.mark.parametrize("test", ["MP-dv", "MP-local-wg"])
def test_nothing_gets_stuck(test: str) -> None:
    assert progress(program(test), TABLE, Settings()).word is ProgressWord.LIVE


def test_events_knows_the_machine() -> None:
    assert unbounded(TABLE.machine) is None


def test_what_is_shown_does_not_depend_on_what_was_asked_before() -> None:
    """Where the states are too many to search, it is the solver's own execution made shorter."""

    def shown(name: str) -> list[str]:
        execution = check(Case(program(name), TABLE, MODEL, Settings())).execution
        return [str(step) for step in execution.steps] if execution else []

    first = shown("ISA2-wg-dv")
    assert first and not shown("CoRR-dv") and shown("WRC-wg-dv")
    assert shown("ISA2-wg-dv") == first
