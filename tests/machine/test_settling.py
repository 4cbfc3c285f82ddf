"""Machines on which nothing gets stuck, and those of which that is not said."""

from __future__ import annotations

import random

import pytest
from machine.any_program import any_program
from machine.own_machines import program, variant
from machine.queued import queued, random_choice
from machine.whole_graph import TooLarge, whole_graph

from rspverify.architecture import MACHINES
from rspverify.machine import Machine
from rspverify.machine.settling import settles


def test_what_waits_in_queues_settles() -> None:
    known = 0
    for number in range(40):
        rng = random.Random(f"settles {number}")
        machine = Machine(any_program(rng, queued(**random_choice(rng))), elide=False)
        assert settles(machine)
        try:
            assert not whole_graph(machine, 1_500).stuck
            known += 1
        except TooLarge:
            continue
    assert known > 6


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
    text, code = STUCK[name]
    assert not settles(Machine(program(variant(text), *code.split("|"))))
