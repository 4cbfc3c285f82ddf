"""The machines of the thesis, as their files say them, against a search that shares nothing."""

from __future__ import annotations

import os
from importlib.resources import files
from pathlib import Path
from random import Random

import pytest
from oracle import ptx
from ptx_programs import drawn, plain, written

from rspverify.architecture.machines import MACHINES
from rspverify.architecture.reader import read_architecture
from rspverify.corpus.expected import read_expected
from rspverify.corpus.suite import Kind
from rspverify.limits import Limits
from rspverify.litmus.program import Program
from rspverify.litmus.reader import read_program
from rspverify.machine.explicit import ExplicitMachine
from rspverify.machine.machine import Machine
from rspverify.machine.relevance import begun_at_once
from rspverify.records import replace
from rspverify.scheme.assemble import assemble
from rspverify.soundness.final import FinalCount
from rspverify.source import Source, read_source
from rspverify.value import Read
from rspverify.verdict import Outcome

SUITE = Path(__file__).resolve().parents[2] / "litmus/ptx"
TESTS = sorted(SUITE.rglob("*.litmus"))
RANDOM = int(os.environ.get("RSPVERIFY_FUZZ", "30"))
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


def test_a_store_of_what_is_not_read_yet_holds_up_nothing_behind_it() -> None:
    """It is issued, and completes when its value is there: the load behind it may come first."""
    rows = "ld r1, a | st c, 1 ;\nst b, r1 | membar.gl ;\nld r2, c | st a, 1 ;\n"
    text = f"PTX t\n{{ }}\n P0@cta 0,gpu 0 | P1@cta 1,gpu 0 ;\n{rows}exists (0:r1=1 /\\ 0:r2=0)"
    program = read_program(Source("t", text), assembly=True)
    for machine in (ptx.WEAK, ptx.STRONG):
        assert by_the_file(program, machine) == by_the_oracle(program, machine)
    assert (1, 0) in reads(text, ptx.WEAK)


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


TELLING = tuple(
    f"PTX telling\n{{ }}\n P0@cta 0,gpu 0 | P1@cta 0,gpu 0 ;\n{rows}"
    for rows in (
        "ld r1, a | ;\nst a, 1 | ;\n",
        "st a, 1 | ld r1, b ;\nmembar.cta | membar.cta ;\nst b, 1 | st a, 2 ;\n"
        "| membar.cta ;\n | ld r2, a ;\n",
        "st a, 1 | st a, 2 ;\nst a, 3 | membar.cta ;\nld r1, a | ;\n",
    )
)
"""Which say more than those of the suite: what is stored after a load, and after somebody's fence."""

FENCE = """\
  do each location y: enqueue self in queue[y]

  later DRAIN
    when each location y: oldest queue[y] is self
    do   each location y: dequeue queue[y];
         each global location y: if not V.S[y] { share(y) }
"""
"""What a fence of the strong machine does in its turn."""

PLANTED = {
    ptx.WEAK: [
        ("not M.B[x], not u.M.GS[x]", "not u.M.GS[x]"),
        ("not M.B[x], not u.M.LS[x]", "not u.M.LS[x]"),
        (", not u.M.GS[x]", ""),
        ("M.B[y] := true; M.LS[y]", "M.LS[y]"),
        ("u.M.LS[y] := true; u.M.GS[y] := true", "u.M.GS[y] := true"),
        (", no ld of x in LP", ""),
        ("M.LS[x] := false;\n", "\n"),
        ("is self, empty LP", "is self"),
        ("when not M.LS[x], not M.GS[x]", "when not M.GS[x]"),
    ],
    ptx.STRONG: [
        ("w.V.data[y] := V.data[y]; w.V.S[y] := true", "w.V.data[y] := V.data[y]; V.S[y] := true"),
        ("  when not V.S[x]\n", ""),
        (FENCE, "  do each global location y: if not V.S[y] { share(y) }\n"),
    ],
}
"""Mistakes in the files of the machines: a line, and what it becomes."""


@pytest.mark.parametrize(
    ("machine", "line", "to"),
    [(machine, *each) for machine, mistakes in PLANTED.items() for each in mistakes],
)
def test_a_mistake_in_a_file_is_noticed(machine: str, line: str, to: str) -> None:
    text = (files("rspverify.architecture") / f"machines/{machine}.machine").read_text()
    assert line in text
    edited = read_architecture(Source("edited.machine", text.replace(line, to)))
    dice = Random(8)
    told_by = ("visibility", "own-store", "relaxed-coherence-global")
    tests = [read_source(str(it)).text for it in TESTS if it.stem.startswith(told_by)]
    for each in (*TELLING, *tests, *(written(drawn(dice)) for _ in range(9))):
        program = read_program(Source("t", each), assembly=True)
        runs = Machine(assemble(program, edited))
        if set(ExplicitMachine(runs).search(Limits()).outcomes) != by_the_oracle(program, machine):
            return
    pytest.fail("nothing tells it from what the thesis says")


def test_the_strong_machine_is_stronger() -> None:
    """§4.3."""
    dice = Random(5)
    for _ in range(RANDOM // 4):
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


def test_the_instructions_of_a_pool_are_told_apart_by_their_hashes() -> None:
    """As many cells as there are loads: were all hashes one, reading a test would be quadratic."""
    rows = "ld r1, a ;\n" * 50
    text = f"PTX t\n{{ }}\n P0@cta 0,gpu 0 ;\n{rows}exists (0:r1=0)"
    program = read_program(Source("t", text), assembly=True)
    members = Machine(assemble(program, MACHINES[ptx.WEAK])).members
    assert len(members) == len({hash(each) for each in members}) >= 50
