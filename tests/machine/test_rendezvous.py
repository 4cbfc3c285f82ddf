"""Threads that meet at barriers; test_engines_agree.py has random programs of them."""

from __future__ import annotations

import random

import pytest
from machine.any_engine import differences
from machine.engines import LIMITS, searched
from machine.meeting import meeting_program
from oracle_adapter import machine_outcomes
from programs import TINY_TWO_DEVICES, assembly

from rspverify.machine.lock_order import LockOrder
from rspverify.machine.machine import Machine
from rspverify.machine.state_graph import find_hang, replay_hang

MESSAGE = (
    ((0, 0), ["ST x 1", "arrive B", "depart B"]),
    ((0, 0), ["arrive B", "depart B", "LD x"]),
)


def test_what_was_written_before_a_barrier_is_read_after_it() -> None:
    program = assembly(*MESSAGE)
    found = searched(Machine(program))
    assert {dict(each.reads)[1] for each in found} == {1}
    assert find_hang(Machine(program), LIMITS).schedule is None


@pytest.mark.parametrize(
    "second, words",
    [
        (["LD x"], "P0 at depart B waits for what cannot be"),
        (["LD x", "arrive B if 1=1", "depart B if 1=1"], "P0 at depart B waits for P1 to arrive"),
        (
            ["arrive A", "depart A", "arrive B", "depart B"],
            "P1 at depart A waits for what cannot be",
        ),
    ],
)
def test_who_leaves_a_barrier_out_keeps_the_others_waiting(second: list[str], words: str) -> None:
    program = assembly(((0, 0), ["arrive B", "depart B", "ST x 1"]), ((0, 0), second))
    machine = Machine(program)
    found = find_hang(machine, LIMITS)
    assert found.hang is not None
    end = replay_hang(machine, found.hang, [1, 1, 1])
    assert words in end.threads


def test_work_groups_meet_apart() -> None:
    one = ["arrive B", "depart B"]
    program = assembly(((0, 0), one), ((0, 1), one), ((0, 1), ["ST x 1"]))
    found = find_hang(Machine(program), LIMITS)
    assert found.hang is not None
    waiting = replay_hang(Machine(program), found.hang, [1, 1, 1]).threads
    assert waiting == ("P1 at depart B waits for what cannot be",)


@pytest.mark.parametrize(
    "threads, stops",
    [
        # P1 waits at the barrier for P0, which waits for the lock that P1 holds.
        (
            (
                ((0, 0), ["LK_L2 x", "UL_L2 x", "arrive B", "depart B"]),
                ((0, 0), ["LK_L2 x", "arrive B", "depart B", "UL_L2 x"]),
            ),
            True,
        ),
        (
            (
                ((0, 0), ["arrive B", "LK_L2 x", "UL_L2 x", "depart B"]),
                ((0, 0), ["LK_L2 x", "arrive B", "depart B", "UL_L2 x"]),
            ),
            False,
        ),
        # Two barriers, in two orders.
        (
            (
                ((0, 0), ["arrive A", "depart A", "arrive B", "depart B"]),
                ((0, 0), ["arrive B", "depart B", "arrive A", "depart A"]),
            ),
            True,
        ),
        (
            (
                ((0, 0), ["arrive A", "arrive B", "depart B", "depart A"]),
                ((0, 0), ["arrive B", "depart B", "arrive A", "depart A"]),
            ),
            False,
        ),
    ],
)
def test_barriers_have_a_place_in_the_order_of_locks(threads, stops) -> None:
    machine = Machine(assembly(*threads))
    assert (find_hang(machine, LIMITS).schedule is not None) is stops
    assert LockOrder(machine).holds is not stops


@pytest.mark.parametrize("number", [4, 26])
def test_meetings_on_two_devices(number: int) -> None:
    """Few are small enough for who reduces nothing."""
    program = meeting_program(random.Random(f"meet 1 {number}"), TINY_TWO_DEVICES)
    assert differences(program, 6_000) == {}
    assert searched(Machine(program)) == machine_outcomes(program, limit=3_000)
