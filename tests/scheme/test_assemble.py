"""A test in assembly on a machine: what becomes of it, and what the machine has not."""

from pathlib import Path

import pytest
from messages import cases, told

from rspverify.architecture.machines import MACHINES
from rspverify.litmus.reader import read_program
from rspverify.scheme.assemble import assemble
from rspverify.source import InputError, Problem, Source
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


@pytest.mark.parametrize(("text", "said"), cases(Path(__file__).with_name("assembly.txt")))
def test_what_a_machine_has_not(text: str, said: list[str]) -> None:
    program = read_program(Source("t", text), assembly=True)
    with pytest.raises(InputError) as caught:
        assemble(program, MACHINES["ptx-weak"])
    assert told(caught.value) == said


def test_instructions_of_another_machine() -> None:
    """Which may be written in PTX's columns, if its operands go with what they do."""
    head = HEAD.replace("shared a=3;", "")
    loads = read_program(Source("t", head + "LD r1, a;\nexists (a=0)"), assembly=True)
    assert assemble(loads, MACHINES["rsp"]).instructions[0].mnemonic.name == "LD"
    stores, *_ = problems(head + "ST r1, a;", "rsp")
    assert stores.message == "ST must have the operands that machine rsp gives it"
    unknown, *_ = problems(head + "st a, 1;", "rsp")
    assert unknown.hint == "did you mean ST?"
