"""Tests in assembly: what columns mean, and what is said of texts that are wrong."""

import re

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


def said(text: str) -> list[str]:
    return [f"{each.span}: {each.message}" for each in problems(text)]


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
    for wrong, at in ((rows.replace("L: | ;", "M: | ;"), "5"), ("L: | ;\ngoto L | ;", "5")):
        assert [it.split(": ")[0] for it in said(one(wrong))] == [f"t:{at}:1"]


def test_the_title_is_told_although_the_test_is_wrong() -> None:
    assert title_of(Source("t", "PTX name\n{")) == "name"


# ---- what is wrong -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("PTX\n{}", r"t:1:1: the first line must be `PTX name`, not `PTX`"),
        ("PTX t\n{}", r"t:2:3: what follows `}` must be a name, not the end of the file"),
        (one(heads="P0 | P1"), r"t:3:1: threads must be placed in work-groups and devices, .*"),
        (
            one(heads="P0@cta 0,gpu 0 | P1"),
            r"t:3:18: P1 must have its place after its name, as P0 has",
        ),
        (
            one(heads="P0@cta 0,dev 0 | P1@cta 0,sm 0"),
            r"t:3:27: a place must be given by `cta` and `gpu`, not `sm`",
        ),
        (one(heads="P0@cta 0,cta 0"), r"t:3:10: a place must have one work-group, not two"),
        (
            one(heads="P0@cta 0,gpu 0 | P2@cta 0,gpu 0"),
            r"t:3:18: threads must be numbered without gaps, and there is no P1",
        ),
        (
            one(heads="P0@cta 0,gpu 0 | P0@cta 0,gpu 0"),
            r"t:3:18: P0 must be one thread, not two",
        ),
        (
            one("st a, 1 | ld r1, a | ;"),
            r"t:4:1: a row must have as many columns as threads, 2, not 3",
        ),
        (one("st a 1 | ;"), r"t:4:6: what follows `a` must be `,`, `;` or `\|`, not `1`"),
        (
            one("st a, | ;"),
            r"t:4:7: what follows `,` must be a register, a location or an integer, not `\|`",
        ),
        (one("st a, 1 | ld r1, b", condition="exists (1:r1=0)"), r"t:4:19: .* `;`.*"),
        (
            one("st a, r1 | ;"),
            r"t:4:7: `r1` must have a value before P0 uses it",
        ),
        (
            one("st a, b | ;"),
            r"t:4:1: the operands of `st` must be `r1, x` \(it loads\), `x, 1` or `x, r1` "
            r"\(it stores\), or none, not `a, b`",
        ),
        (
            one("atom.add r1, a, 1 | ;"),
            r"t:4:1: an instruction with 3 operands is not supported: `atom.add`",
        ),
        (
            one(initial="global r1=0"),
            r"t:2:10: a location must not be called as a register is, `r1`",
        ),
        (one(initial="a=0; shared a=0"), r"t:2:8: `a` must have one initial value, not two"),
        (one(initial="a=0 b=1"), r"t:2:7: what follows `0` must be `;` or `}`, not `b`"),
        (one(initial="2:r1=0"), r"t:2:3: `2` must be a thread of the test, and there is none"),
        (
            one("ld r1, a | ;", condition="exists (1:r1=0)"),
            r"t:5:11: `r1` must be a register of P1, which has no such register",
        ),
        (
            one("ld r1, a | ;", condition="exists (b=0)"),
            r"t:5:9: `b` must be a location of the test, or a register with its thread",
        ),
    ],
)
def test_what_is_wrong(text: str, expected: str) -> None:
    (message,) = said(text)
    assert re.match(f"^{expected}$", message)


def test_all_mistakes_are_told_at_once() -> None:
    wrong = one("st a 1 | ld r1, ;\nst b, 2 | st c, 1 2 ;\nst d, 4\nst e, 3 | ;", "global a=; b")
    assert [each.split(": ")[0] for each in said(wrong)] == [
        "t:2:12",
        "t:2:16",
        "t:4:6",
        "t:4:17",
        "t:5:19",
        "t:6:8",
    ]


def test_what_is_beyond_this_version_is_unsupported() -> None:
    (problem,) = problems(one("atom.add r1, a, 1 | ;"))
    assert problem.severity is Severity.UNSUPPORTED


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
