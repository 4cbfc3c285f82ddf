"""Tests in assembly: what columns mean, and what is said of texts that are wrong."""

import pytest

from rspverify.litmus.formula import Atom
from rspverify.litmus.program import Kind, Program
from rspverify.litmus.reader import read_program, title_of
from rspverify.source import InputError, Problem, Severity, Source
from rspverify.value import Constant, Read, evaluate

HEADS = "P0@cta 0,gpu 0 | P1@cta 1,gpu 0"


def read(text: str) -> Program:
    return read_program(Source("t", text), assembly=True)


def one(body: str = "", initial: str = "", condition: str = "", heads: str = HEADS) -> str:
    """A test whose initial state is at line 2, whose heads are at line 3, and its rows at line 4."""
    return f"PTX t\n{{ {initial} }}\n{heads} ;\n{body}\n{condition}"


def problems(text: str) -> tuple[Problem, ...]:
    with pytest.raises(InputError) as caught:
        read(text)
    return caught.value.problems


# ---- what columns mean ---------------------------------------------------------------------------


def test_a_test_of_the_thesis() -> None:
    program = read(
        one(
            "st a, 1   | ld r1, b   ;\n"
            "membar.gl | membar.cta ;\n"
            "st b, -2  | ld r2, a   ;\n"
            "          | st c, r2   ;",
            "global a=0; shared b=7; [d]=0x10",
            "exists (1:r1=2 /\\ ~(P1:r2=1))",
        )
    )
    assert program.in_assembly and program.language == "PTX" and program.title == "t"
    assert [(it.name, it.region, it.initial) for it in program.locations] == [
        ("a", "global", 0),
        ("b", "shared", 7),
        ("d", "global", 16),
        ("c", "global", 0),
    ]
    assert [(it.device, it.workgroup) for it in program.threads] == [(0, 0), (0, 1)]
    assert [(it.instruction, it.kind, it.location, it.value) for it in program.operations] == [
        ("st", Kind.STORE, "a", Constant(1)),
        ("membar.gl", Kind.FENCE, None, None),
        ("st", Kind.STORE, "b", Constant(-2)),
        ("ld", Kind.LOAD, "b", None),
        ("membar.cta", Kind.FENCE, None, None),
        ("ld", Kind.LOAD, "a", None),
        ("st", Kind.STORE, "c", Read(5)),
    ]
    assert program.threads[1].registers == {"r1": Read(3), "r2": Read(5)}
    assert program.condition is not None and program.condition.quantifier == "exists"


def test_as_dartagnan_writes_it() -> None:
    """`.weak` is what stands there where nothing does; brackets may stand around a location."""
    program = read(
        one(
            "ld.weak r0, x | st.weak [x], 1 ;",
            "P0:r0=0; x=0",
            "exists (P0:r0 == 1)",
        )
    )
    assert [it.instruction for it in program.operations] == ["ld", "st"]
    assert program.condition is not None and program.condition.formula == Atom(0, "r0", 1)


def test_blocks_are_counted_within_their_device_from_0() -> None:
    heads = "P0@cta 3,gpu 1 | P1@gpu 4,cta 0 | P2@cta 7,gpu 1"
    program = read(one("st a, 1 | | ld r1, a ;", heads=heads))
    assert [(it.device, it.workgroup) for it in program.threads] == [(0, 0), (1, 0), (0, 1)]
    assert [len(it.operations) for it in program.threads] == [1, 0, 1]


def test_columns_may_stand_in_any_order() -> None:
    program = read(one("ld r1, a | st a, 1 ;", heads="P1@cta 0,gpu 0 | P0@cta 0,gpu 0"))
    assert [it.kind for it in program.operations] == [Kind.STORE, Kind.LOAD]


def test_a_register_has_what_was_put_into_it_last() -> None:
    program = read(one("ld r1, a | ;\nmov r2, r1 | ;\nmov r1, 5 | ;\nst b, r2 | ;", "0:r3=1"))
    assert program.threads[0].registers == {"r1": Constant(5), "r2": Read(0), "r3": Constant(1)}
    assert program.operations[-1].value == Read(0)


def test_a_branch_forward_guards_what_it_leaves_out() -> None:
    rows = "ld r1, a | ;\nbeq r1, 0, L | ;\nadd r2, r1, 3 | ;\nst b, r2 | ;\nL: | ;\nst c, 1 | ;"
    _, inside, after = read(one(rows, "0:r2=7")).operations
    assert [evaluate(inside.guard, {0: it}) for it in (0, 2)] == [0, 1]
    assert inside.value is not None and evaluate(inside.value, {0: 2}) == 5
    assert after.guard == Constant(1)


def test_the_title_is_told_although_the_test_is_wrong() -> None:
    assert title_of(Source("t", "PTX name\n{")) == "name"


def test_a_test_of_many_instructions_is_unsupported() -> None:
    rows = "ld r1, a | st a, 1 ;\n"
    assert len(read(one(rows * 125)).operations) == 250
    (problem,) = problems(one(rows * 125 + "ld r1, a | ;"))
    assert problem.severity is Severity.UNSUPPORTED
    message = "a test in assembly must have at most 250 instructions, not 251"
    assert problem.message == message


def test_who_asks_for_a_source_program_is_told_who_answers() -> None:
    with pytest.raises(InputError) as caught:
        read_program(Source("t", "(* first *)\nPTX t\n{}\n"))
    (problem,) = caught.value.problems
    assert str(problem.span) == "t:2:1" and problem.severity is Severity.ERROR
    assert problem.message.startswith("a test must be in OpenCL or C here")
    assert problem.hint == "`rspverify outcomes --machine MACHINE` answers it"
