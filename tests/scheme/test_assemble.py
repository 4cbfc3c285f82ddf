"""A test in assembly on a machine: what becomes of it, and what the machine has not."""

import re

import pytest

from rspverify.architecture.machines import MACHINES
from rspverify.litmus.reader import read_program
from rspverify.scheme.assemble import assemble
from rspverify.source import InputError, Problem, Severity, Source
from rspverify.value import Constant

HEAD = "PTX t\n{ a; }\nP0@cta 2,gpu 0 ;\n".replace("a;", "shared a=3;")


def problems(text: str, machine: str = "ptx-weak") -> tuple[Problem, ...]:
    program = read_program(Source("t", text), assembly=True)
    with pytest.raises(InputError) as caught:
        assemble(program, MACHINES[machine])
    return caught.value.problems


def test_each_operation_is_an_instruction() -> None:
    program = read_program(Source("t", HEAD + "ld r1, a;\nmembar.gl;\nst b, 4;"), assembly=True)
    found = assemble(program, MACHINES["ptx-weak"])
    assert [(it.mnemonic.name, it.location) for it in found.instructions] == [
        ("ld", "a"),
        ("membar.gl", None),
        ("st", "b"),
    ]
    assert [it.register for it in found.instructions] == [0, None, None]
    assert [it.value for it in found.instructions] == [None, None, Constant(4)]
    assert found.initial == {"a": 3, "b": 0} and found.machine is MACHINES["ptx-weak"]
    assert found.spaces == {"a": "shared", "b": "global"}


@pytest.mark.parametrize(
    ("text", "message", "hint", "severity"),
    [
        (
            HEAD + "ldd r1, a;",
            "an instruction must be one of machine ptx-weak, not ldd",
            "did you mean ld?",
            Severity.ERROR,
        ),
        (
            HEAD + "lorem;",
            "an instruction must be one of machine ptx-weak, not lorem",
            "it has ld, st, membar.cta, membar.gl",
            Severity.ERROR,
        ),
        (
            HEAD + "ld.relaxed.gpu r1, a;",
            "the instruction ld.relaxed.gpu is not supported by machine ptx-weak",
            "it has ld, st, membar.cta, membar.gl",
            Severity.UNSUPPORTED,
        ),
        (
            HEAD + "membar.sys;",
            "the instruction membar.sys is not supported by machine ptx-weak",
            "did you mean membar.",
            Severity.UNSUPPORTED,
        ),
        (
            HEAD + "st r1, a;",
            "st must have the operands that machine ptx-weak gives it",
            "there it is `st x r`; with operands as here an instruction loads",
            Severity.ERROR,
        ),
        (
            HEAD.replace("shared", "sharde") + "ld r1, a;",
            "memory must be global or shared on machine ptx-weak, not sharde",
            "did you mean shared?",
            Severity.ERROR,
        ),
        (
            HEAD + "ld r1, a;\nexists (0:r1=3 /\\ a=3)",
            "the final condition must not speak of a: machine ptx-weak has no memory that is the "
            "last word",
            "what a thread reads there in the end can be loaded into a register",
            Severity.ERROR,
        ),
        (
            HEAD + "ld r1, a;\nlocations [a;]",
            "`locations` must not name a: machine ptx-weak has no memory that is the last word",
            "what a thread reads there in the end can be loaded into a register",
            Severity.ERROR,
        ),
    ],
)
def test_what_a_machine_has_not(text: str, message: str, hint: str, severity: Severity) -> None:
    (problem,) = problems(text)
    assert problem.message == message and problem.severity is severity
    assert problem.hint is not None and problem.hint.startswith(hint)


def test_instructions_of_another_machine() -> None:
    """Which may be written in PTX's columns, if its operands go with what they do."""
    head = HEAD.replace("shared a=3;", "")
    loads = read_program(Source("t", head + "LD r1, a;\nexists (a=0)"), assembly=True)
    assert assemble(loads, MACHINES["rsp"]).instructions[0].mnemonic.name == "LD"
    stores, *_ = problems(head + "ST r1, a;", "rsp")
    assert stores.message == "ST must have the operands that machine rsp gives it"
    unknown, *_ = problems(head + "st a, 1;", "rsp")
    assert unknown.hint == "did you mean ST?"


def test_all_that_a_machine_has_not_is_told_at_once() -> None:
    found = problems(HEAD.replace("shared", "local") + "ldd r1, a;\nst.release.gpu a, 1;")
    assert len(found) == 3


def test_a_source_program_is_no_assembly() -> None:
    text = "C t\n{}\nP0 (int* x) { *x = 1; }"
    with pytest.raises(InputError) as caught:
        assemble(read_program(Source("t", text)), MACHINES["ptx-weak"])
    (problem,) = caught.value.problems
    assert re.match(
        "^a test must be in PTX to be put to machine ptx-weak, not in C$", problem.message
    )
