"""Tests in one line, their texts, and the programs that both mean."""

from __future__ import annotations

import random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rspverify.litmus.functions import REFUSED
from rspverify.litmus.program import Kind, Order, Program, Scope
from rspverify.litmus.reader import read_program
from rspverify.programs.litmus_test import OPERATIONS, Access, LitmusTest, Thread, litmus_test
from rspverify.programs.meaning import program_of
from rspverify.programs.notation import notation, read_notation
from rspverify.programs.writer import litmus_text
from rspverify.records import replace
from rspverify.source import InputError, Source
from rspverify.value import Binary, Constant, Expression, Read, binary, select, unary

ONE = Constant(1)


def test_a_line() -> None:
    line = "st.na x 5; inc.DV.R y || r0=ld.DV y; if r0==1: r1=ld.na x @01 (atomic x)"
    release = {"order": Order.RELEASE, "scope": Scope.DV}
    acquire = {"order": Order.ACQUIRE, "scope": Scope.DV}
    both = {"order": Order.ACQ_REL, "scope": Scope.DV, "remote": True}
    seen = Binary("==", Read(0), ONE)
    assert read_notation(line) == litmus_test(
        [
            Thread(
                (0, 0),
                (
                    Access(Kind.STORE, "x", Constant(5)),
                    Access(Kind.RMW, "y", ONE, operator="+", **both),
                ),
            ),
            Thread(
                (0, 0),
                (
                    Access(Kind.LOAD, "y", register=0, **acquire),
                    Access(Kind.LOAD, "x", register=1, guards=(seen,)),
                ),
            ),
        ],
        atomic=("x",),
    )
    assert notation(read_notation(line)) == line
    assert read_notation("st.DV x 1").accesses == (Access(Kind.STORE, "x", ONE, **release),)


@pytest.mark.parametrize(
    "line",
    [
        "r0=cas.rlx.WG x zero 1; F.acq.DV; st.rlx.DV y r0+1 (x=1)",
        "r0=cas.ar.acq.WG x 0 1; cas.rel.sc.DV.R y 0 1",
        "r0=ld.na x; if r0 {st.na y 1; st.na z 2}; if !r0: if r0<2: st.na y r0?1:2",
        "st.na x 1 || st.sc.ALL.R y -2 || r0=exch.ar.WI y (r0||r0) @02--1".replace("(r0||r0)", "7"),
        "r0=ld.na x; st.na y (r0||!r0)",
        "st.WG x 1; F.ar.WG; st.na y 1 || ld.WG x @01 (local x) (local atomic y=2)",
        "r0=ld.na x; st.na y (r0+1)*2 || add.DV z 2 (atomic x=3)",
    ],
)
def test_lines_are_written_as_they_are_read(line: str) -> None:
    assert notation(read_notation(line)) == line.replace("exch.ar", "exch")


def test_titles() -> None:
    line = "st.na x 5; F.sc.DV || r0=ld.rlx.WG y || cas.DV.R y x 1 || inc.ALL y @03-1--2"
    assert read_notation(line).name == "st.na-F.sc.DV+ld.rlx.WG+cas.DV.R+inc.ALL@03-1--2"
    alone = " || ".join(["ld.na x"] * 11)
    assert read_notation(alone).grouping == ""
    two = f"{alone} @0,10-1-2-3-4-5-6-7-8-9"
    assert notation(read_notation(two)) == two
    assert read_notation("st.na x 1 || st.na x 2").grouping == ""


@pytest.mark.parametrize(
    ("line", "mistake"),
    [
        ("st.na x", "1:7: a value must be a number of 32 bits, or a register as r0, not the end"),
        ("load.na x", "1:1: an access must begin with an operation (an operation must be one of ld"),
        ("cas.sc.rel.DV x 0 1", "1:1: an access must begin with an operation (`cas` must not have"),
        ("if r0: inc.WG x", "1:6: registers must be read into before in their thread"),
        ("r0=ld.na x; if r0 st.na y 1", "1:19: behind the condition of an `if` must be `:`"),
        ("r0=ld.na x; if r0 {st.na y 1", "1:28: behind what an `if` covers must be `}`, not the end"),
        ("ld.na x}; ld.na y", "1:8: an access must be followed by `;` or `||`, not }"),
        ("r0=st.na x 1", "1:10: st.na reads nothing to keep"),
        ("ld.na r0", "1:7: a location must be a name such as x, not r0"),
        ("ld.na x || ld.na y @0", "1:20: a grouping must name each thread"),
    ],
)  # fmt: skip
def test_a_mistake_is_said_where_it_is(line: str, mistake: str) -> None:
    with pytest.raises(InputError) as raised:
        read_notation(Source("l", line))
    (found,) = raised.value.problems
    assert f"{found.span}: {found.message}".removeprefix("l:").startswith(mistake)


# ---- random tests -------------------------------------------------------------------------------

NUMBERS = st.integers(-(2**31), 2**31 - 1) | st.integers(-2, 3)


def expressions(registers: list[int]) -> st.SearchStrategy[Expression]:
    leaves = st.builds(Constant, NUMBERS)
    if registers:
        leaves |= st.sampled_from(registers).map(Read)
    infix = ["+", "-", "*", "&", "|", "^", "<<", ">>", "==", "!=", "<", "<=", ">", ">=", "&&", "||"]
    return st.recursive(
        leaves,
        lambda inner: (
            st.builds(unary, st.sampled_from("-~!"), inner)
            | st.builds(binary, st.sampled_from(infix), inner, inner)
            | st.builds(select, inner, inner, inner)
        ),
        max_leaves=4,
    )


@st.composite
def threads(draw: st.DrawFn) -> Thread:
    accesses: list[Access] = []
    registers: list[int] = []
    guards: tuple[Expression, ...] = ()
    for _ in range(draw(st.integers(0, 5))):
        guards = guards[: draw(st.integers(0, len(guards)))]
        if draw(st.integers(0, 3)) == 0:
            guards = (*guards, draw(expressions(registers)))
        accesses.append(draw(accesses_after(registers, guards)))
        if accesses[-1].register is not None:
            registers.append(accesses[-1].register)
    return Thread((draw(st.integers(0, 2)), draw(st.integers(0, 2))), tuple(accesses))


@st.composite
def accesses_after(draw: st.DrawFn, registers: list[int], guards: tuple[Expression, ...]) -> Access:
    kind, operator, _ = draw(st.sampled_from(list(OPERATIONS.values())))
    value = draw(expressions(registers)) if kind in (Kind.STORE, Kind.RMW) else None
    register = None
    if kind in (Kind.LOAD, Kind.RMW) and draw(st.booleans()):
        register = draw(st.integers(0, 9).filter(lambda it: it not in registers))
    location = None if kind is Kind.FENCE else draw(st.sampled_from("xyz"))
    it = Access(kind, location, value, register, guards=guards, operator=operator)
    if operator == "compare_exchange":
        failing = [Order.RELAXED, Order.ACQUIRE, Order.SEQ_CST]
        it = replace(
            it, expected=draw(st.sampled_from("ze")), failure=draw(st.sampled_from(failing))
        )
    if kind in (Kind.LOAD, Kind.STORE) and draw(st.booleans()):
        return it
    refused = {Order.CONSUME, *REFUSED.get(kind.value, ())}
    order = draw(st.sampled_from([each for each in Order if each not in refused]))
    return replace(it, order=order, scope=draw(st.sampled_from(Scope)), remote=draw(st.booleans()))


@st.composite
def litmus_tests(draw: st.DrawFn) -> LitmusTest:
    own = draw(st.lists(threads(), min_size=1, max_size=4))
    initial = draw(st.dictionaries(st.sampled_from("xyze"), NUMBERS))
    atomic, local = (draw(st.sets(st.sampled_from("xyze"))) for _ in range(2))
    return litmus_test(own, atomic, initial, local)


@settings(suppress_health_check=[HealthCheck.too_slow], max_examples=15)
@given(litmus_tests())
def test_a_line_and_a_text_read_as_the_test_that_was_written(test: LitmusTest) -> None:
    assert read_notation(notation(test)) == test
    read = read_program(Source("t", litmus_text(test, "t")), mixed=True)
    assert without_spans(read) == without_spans(program_of(test, "t"))


def without_spans(program: Program) -> Program:
    """All of it but where things stand; a text without spans."""
    threads = tuple(
        replace(each, operations=tuple(replace(it, span=None) for it in each.operations))  # type: ignore[arg-type]
        for each in program.threads
    )
    locations = tuple(replace(each, span=None) for each in program.locations)
    return replace(program, source=Source("", ""), threads=threads, locations=locations)


def test_lines_that_are_no_tests_have_mistakes_and_nothing_else() -> None:
    rng = random.Random(4)
    pieces = ["st.na", "ld.DV", "x", "y", "r0", "=", "==", "1", "2", "if", ":", ";", "||"]
    pieces += ["{", "}", "(", ")", "@01", "(atomic", "inc.WG", "-"]
    for _ in range(1_000):
        line = " ".join(rng.choices(pieces, k=rng.randint(0, 9)))
        try:
            test = read_notation(line)
        except InputError as error:
            assert error.problems
        else:
            assert read_notation(notation(test)) == test
