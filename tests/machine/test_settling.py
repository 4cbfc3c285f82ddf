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
    "an instruction waits for another thread": (
        "state { flag : bit of system }\ninstruction UP do flag := true\n"
        "instruction AWAIT when flag do nothing",
        "AWAIT",
    ),
}


@pytest.mark.parametrize("name", STUCK)
def test_what_may_get_stuck(name: str) -> None:
    text, code = STUCK[name]
    try:
        machine = Machine(program(variant(text), code))
    except Exception as error:
        pytest.fail(str(error))
    assert not settles(machine)
