"""The machines of the thesis, as their files say them, against a search that shares nothing."""

from __future__ import annotations

import os
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from random import Random

import pytest
from oracle import ptx
from ptx_programs import drawn, plain, written

from rspverify.architecture import MACHINES
from rspverify.architecture.reader import read_architecture
from rspverify.corpus.expected import read_expected
from rspverify.corpus.suite import Kind
from rspverify.limits import Limits
from rspverify.litmus import Program, read_program
from rspverify.machine import ExplicitMachine, Machine
from rspverify.machine.relevance import begun_at_once
from rspverify.scheme import assemble
from rspverify.soundness.final import FinalCount
from rspverify.source import Source, read_source
from rspverify.value import Read
from rspverify.verdict import Outcome

SUITE = Path(__file__).resolve().parents[2] / "litmus-ptx"
TESTS = sorted(SUITE.rglob("*.litmus"))
RANDOM = int(os.environ.get("RSPVERIFY_FUZZ", "40"))
both = pytest.mark.parametrize("machine", [ptx.WEAK, ptx.STRONG])


def by_the_file(program: Program, machine: str) -> set[Outcome]:
    runs = Machine(assemble(program, MACHINES[machine]))
    return set(ExplicitMachine(runs).search(Limits()).outcomes)


def by_the_oracle(program: Program, machine: str) -> set[Outcome]:
    found = ptx.outcomes(plain(program), machine, at_once=True)
    return {
        Outcome(tuple(sorted((int(name[1:]), value) for (_, name), value in each)), ())
        for each in found
    }


def reads(text: str, machine: str) -> set[tuple[int, ...]]:
    """What the loads of a test may read, in the order of the text."""
    program = read_program(Source("t", text), assembly=True)
    return {tuple(value for _, value in each.reads) for each in by_the_file(program, machine)}


@pytest.mark.parametrize("path", TESTS, ids=lambda it: it.stem)
def test_of_the_suite(path: Path) -> None:
    """Their outcomes are the oracle's, and what is expected is what these say."""
    program = read_program(read_source(str(path)), assembly=True)
    expected = read_expected(str(SUITE / "expected.yaml"), None, Kind.MACHINES)
    for machine in (ptx.WEAK, ptx.STRONG):
        found = by_the_oracle(program, machine)
        assert by_the_file(program, machine) == found
        count = FinalCount(program)
        for each in found:
            count.add(each)
        said = expected.verdicts[path.relative_to(SUITE).as_posix()][machine]
        assert count.result(found).observation == said


@both
def test_random_programs(machine: str) -> None:
    dice = Random(4)
    for _ in range(RANDOM):
        text = written(drawn(dice))
        program = read_program(Source("t", text), assembly=True)
        assert by_the_file(program, machine) == by_the_oracle(program, machine), text


def test_the_strong_machine_is_stronger() -> None:
    """§4.3."""
    dice = Random(5)
    for _ in range(RANDOM // 2):
        program = drawn(dice)
        weak, strong = (
            ptx.outcomes(program, machine, at_once=True) for machine in (ptx.WEAK, ptx.STRONG)
        )
        assert strong <= weak, written(program)


@both
def test_the_wider_fence_allows_no_more(machine: str) -> None:
    """§3.4: what TF allows is a part of what TFB allows."""
    dice = Random(6)
    for _ in range(RANDOM // 2):
        text = written(drawn(dice, most=2)).replace("membar.gl", "membar.cta")
        by_fence = [
            ptx.outcomes(plain(read_program(Source("t", each), assembly=True)), machine)
            for each in (text, text.replace("membar.cta", "membar.gl"))
        ]
        assert by_fence[1] <= by_fence[0], text


@both
def test_instructions_begin_at_once_and_nothing_is_lost(machine: str) -> None:
    dice = Random(7)
    for _ in range(RANDOM // 2):
        text = written(drawn(dice, most=2))
        program = assemble(read_program(Source("t", text), assembly=True), MACHINES[machine])
        alone, by_steps = (
            ExplicitMachine(Machine(program), dequeue_alone=alone).search(Limits())
            for alone in (True, False)
        )
        assert alone.outcomes == by_steps.outcomes, text
        assert alone.states < by_steps.states


@pytest.mark.parametrize(
    ("changed", "to", "left"),
    [
        ("", "", {"ld", "st", "membar.gl"}),
        ("instruction ld r x\n", "instruction ld r x when V.S[x]\n", {"st", "membar.gl"}),
        ("fifo of thread", "fifo of workgroup", set()),
        ("when not V.S[x]", "when not V.S[x], each thread t: empty t.queue[x]", set()),
        (
            "if x is global { V.S[x] := false }",
            "if x is global, no ld in queue[x] { V.S[x] := false }",
            {"ld", "membar.gl"},
        ),
    ],
)
def test_which_instructions_begin_at_once(changed: str, to: str, left: set[str]) -> None:
    """Not one that waits, nor one whose fifo others fill or look at as a whole."""
    text = (files("rspverify.architecture") / "machines/ptx-strong.machine").read_text()
    assert changed in text
    edited = text.replace(changed, to)
    if "workgroup" in to:
        edited = edited.replace(
            "each thread t, location y: empty", "each workgroup t, location y: empty"
        )
    test = "PTX t\n{}\nP0@cta 0,gpu 0 | P1@cta 0,gpu 0 ;\nld r1, x | st x, 1 ;\nmembar.gl | ;\n"
    program = read_program(Source("t", test), assembly=True)
    machine = Machine(assemble(program, read_architecture(Source("edited.machine", edited))))
    begun = begun_at_once(machine)
    assert {
        it.instruction.mnemonic.name for code in machine.code for it in code if it.key in begun
    } == left


@both
def test_what_is_not_known_to_be_executed_waits(machine: str) -> None:
    """And is executed, or passed over, once it is known."""
    text = (
        "PTX t\n{}\nP0@cta 0,gpu 0 | P1@cta 0,gpu 0 ;\nld r1, x | st x, 1 ;\nst y, 1 | ld r1, y ;\n"
    )
    program = assemble(read_program(Source("t", text), assembly=True), MACHINES[machine])
    load, store = program.code[0]
    guarded = replace(program, code=((load, replace(store, guard=Read(0))), program.code[1]))
    found = ExplicitMachine(Machine(guarded)).search(Limits()).outcomes
    assert {tuple(value for _, value in each.reads) for each in found} == {(0, 0), (1, 0), (1, 1)}


@both
def test_a_store_waits_for_the_register_that_it_stores(machine: str) -> None:
    heads = "PTX t\n{}\nP0@cta 0,gpu 0 | P1@cta 0,gpu 0 ;\n"
    around = heads + "ld r1, x | ld r1, y ;\nst y, r1 | st x, r1 ;\n"
    assert reads(around, machine) == {(0, 0)}
    assert reads(around.replace("st x, r1", "st x, 1"), machine) == {(0, 0), (1, 0), (1, 1)}


@both
def test_blocks_of_two_devices_are_two_blocks(machine: str) -> None:
    text = read_source(str(SUITE / "table-4.2/visibility-global-inter-TFB.litmus")).text
    far = text.replace("P1@cta 1,gpu 0", "P1@cta 0,gpu 7")
    assert far != text and reads(far, machine) == reads(text, machine)
