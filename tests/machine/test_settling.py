"""Machines on which nothing gets stuck, and those of which that is not said."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from machine.any_program import any_program
from machine.own_machines import program
from machine.queued import queued, random_choice
from machine.table_programs import table_program
from machine.whole_graph import TooLarge, whole_graph

from rspverify.architecture.machines import MACHINES
from rspverify.architecture.reader import read_architecture
from rspverify.machine.machine import Machine
from rspverify.machine.settling import settles
from rspverify.scheme.reader import read_scheme_file
from rspverify.source import Source


def test_what_waits_in_queues_settles() -> None:
    known = 0
    for number in range(40):
        rng = random.Random(f"settles {number}")
        machine = Machine(any_program(rng, queued(**random_choice(rng))), elide=False)
        assert settles(machine)
        try:
            assert not whole_graph(machine, 500).stuck
            known += 1
        except TooLarge:
            continue
    assert known > 3


def test_a_value_that_comes_later() -> None:
    its = queued()
    assert settles(Machine(program(its, "LDG x; ST y r0; WAIT", "LDG y; RMW x 1")))


@pytest.mark.parametrize(
    "machine, code",
    [
        (MACHINES["rsp"], "ST x 1; LD x"),
        (MACHINES["ptx-weak"], "st x 1; ld x"),
    ],
    ids=["rsp", "ptx-weak"],
)
def test_others_are_not_said_to(machine: object, code: str) -> None:
    assert not settles(Machine(program(machine, code)))  # type: ignore[arg-type]


BASE = """machine m "of a test"
places thread < workgroup < device < system
state { memory[x] : value of system }
final memory
instruction ST x r do memory[x] := r
"""


def settles_with(text: str, code: str) -> bool:
    its = read_architecture(Source("m.machine", BASE + text))
    return settles(Machine(program(its, *code.split("|"))))


STUCK = {
    "what is oldest waits for a bit": (
        "state { queue : fifo of thread  go : bit of thread }\n"
        "instruction GO do go := true\ninstruction WAIT do enqueue self in queue\n"
        " later LEAVE when oldest queue is self, go do dequeue queue",
        "WAIT",
    ),
    "another step takes it out of its pool": (
        "state { queue : fifo of thread  pool : pool of thread }\n"
        "instruction WAIT do enqueue self in queue; add self to pool\n"
        " later LEAVE when oldest queue is self do dequeue queue\n"
        " later GO when self in pool do remove self from pool\n"
        "instruction AWAIT when empty pool",
        "WAIT; AWAIT",
    ),
    "a load of another thread that came later is waited for": (
        "state { queue[x] : fifo of device  count : pool of thread }\n"
        "instruction GET r x do enqueue self in queue[x]; add self to count\n"
        " later LOAD when oldest queue[x] is self\n"
        " do dequeue queue[x]; remove self from count; r := memory[x]\n"
        "instruction PUT r x do enqueue self in queue[x]; add self to count\n"
        " later STORE when oldest queue[x] is self,\n"
        " each other thread u in device: no GET in u.count\n"
        " do dequeue queue[x]; remove self from count; memory[x] := r",
        "GET x|PUT x 1",
    ),
    "what has not entered the fifo stays in its pool": (
        "state { queue[x] : fifo of device  count : pool of thread  HIT[x] : bit of device }\n"
        "instruction GET r x do add self to count; if not HIT[x] { enqueue self in queue[x] }\n"
        " later LOAD when oldest queue[x] is self\n"
        " do dequeue queue[x]; remove self from count; r := memory[x]\n"
        "instruction PUT r x do memory[x] := r; HIT[x] := true\n"
        "complete when each thread t: empty t.count",
        "PUT x 1; GET x",
    ),
    "what is oldest stays": (
        "state { queue[x] : fifo of device  count : pool of thread  go : bit of device }\n"
        "instruction GET r x do add self to count; enqueue self in queue[x]\n"
        " later LOAD when oldest queue[x] is self\n"
        " do remove self from count; r := memory[x]; if go { dequeue queue[x] }\n"
        "instruction PUT r x do memory[x] := r; go := true\n"
        "complete when each thread t: empty t.count",
        "GET x; GET x",
    ),
    "an instruction waits for another thread": (
        "state { flag : bit of system }\ninstruction UP do flag := true\n"
        "instruction AWAIT when flag do nothing",
        "AWAIT",
    ),
}


@pytest.mark.parametrize("name", STUCK)
def test_what_may_get_stuck(name: str) -> None:
    assert not settles_with(*STUCK[name])


LINES = """state { queue[x] : fifo of device  L2 : level of device  waiting[x] : pool of thread }
type level { data[x] : value  VALID[x] : bit  DIRTY[x] : bit }
complete when each device d, location y: empty d.queue[y],
              each device d, location y: not d.L2.DIRTY[y]
instruction GET r x do enqueue self in queue[x]
 later LOAD when oldest queue[x] is self, L2.VALID[x] do dequeue queue[x]; r := L2.data[x]
instruction PUT r x do enqueue self in queue[x]
 later STORE when oldest queue[x] is self
 do dequeue queue[x]; L2.data[x] := r; L2.VALID[x] := true; L2.DIRTY[x] := true
instruction CLEAN do each location y: add self to waiting[y]
 later LINE for location y when self in waiting[y], not L2.DIRTY[y] do remove self from waiting[y]
instruction WAIT when each location y: empty waiting[y]
step FILL of device, location x when not L2.DIRTY[x]
  do L2.data[x] := memory[x]; L2.VALID[x] := true
step FLUSH of device, location x when L2.DIRTY[x]
  do memory[x] := L2.data[x]; L2.DIRTY[x] := false
"""
CODE = "PUT x 1; CLEAN; WAIT; GET x|GET x"

LACKS = {
    "nothing fills a line": ("L2.VALID[x] := true\nstep FLUSH", "nothing\nstep FLUSH"),
    "a line is filled where another is": ("when not L2.DIRTY[x]\n", "when L2.VALID[x]\n"),
    "nothing flushes": ("L2.DIRTY[x] := false", "nothing"),
    "a flush does more": (
        "memory[x] := L2.data[x]; L2.DIRTY[x] := false",
        "L2.VALID[x] := false; L2.DIRTY[x] := false",
    ),
    "what nothing brings about is waited for": (
        "not L2.DIRTY[y] do remove",
        "not L2.VALID[y] do remove",
    ),
}


def test_what_steps_bring_about() -> None:
    assert settles_with(LINES, CODE)


@pytest.mark.parametrize("name", LACKS)
def test_what_no_step_brings_about(name: str) -> None:
    old, new = LACKS[name]
    assert old in LINES
    assert not settles_with(LINES.replace(old, new), CODE)


def test_rows_of_a_table_settle(root: Path) -> None:
    known = 0
    for number, name in enumerate(["gfx90a", "gfx942", "gfx1250", "gfx942"]):
        table = read_scheme_file(root / f"schemes/amdgpu/{name}.yaml")
        machine = Machine(table_program(random.Random(f"settles {number}"), table, 2), elide=False)
        assert settles(machine)
        try:
            assert not whole_graph(machine, 400).stuck
            known += 1
        except TooLarge:
            continue
    assert known
