"""Hanging under schedulers, by an independent machine with loops; which entries need not be told.

The programs are the same in every run.
"""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import pytest
from machine.spinning import with_spin
from machine.test_awaits import spinning
from machine.whole_graph import locking_program
from oracle import hanging
from oracle import machine as oracle
from oracle.schedulers import SCHEDULERS
from oracle_adapter import plain_assembly
from programs import SMALL, TINY_TWO_DEVICES, assembly, listing, random_assembly

from rspverify.architecture.machines import MACHINES
from rspverify.assembly.program import AssemblyProgram
from rspverify.limits import LimitReached, Limits
from rspverify.machine.draining import resting
from rspverify.machine.machine import Machine
from rspverify.machine.state_graph import find_hang, replay_hang
from rspverify.schedulers import schedulers_of
from rspverify.value import evaluate

LIMITS = Limits(states=30_000)

Threads = tuple[tuple[tuple[int, int], list[str]], ...]


def stuck(program: AssemblyProgram) -> set[str]:
    """The schedulers under which a program may hang; each hang is replayed."""
    machine = Machine(program)
    groups = len({(it.device, it.workgroup) for it in program.threads})
    lines = [1] * 30
    found = set()
    for scheduler in schedulers_of(SCHEDULERS):
        for scheduling in scheduler.each_bound(groups):
            hang = find_hang(machine, LIMITS, scheduling).hang
            if hang is not None:
                end = replay_hang(machine, hang, lines)
                assert end.threads or end.stopped or not hang.stopped
                found.add(str(scheduler))
                break
    return found


def plain(program: AssemblyProgram) -> dict[str, Any]:
    """As the oracle takes it, with loops."""
    made = plain_assembly(program)
    for spin in program.spins:
        own = program.code[spin.thread][spin.first : spin.end]
        reads = {it.register for it in own if it.register is not None}
        going = lambda env, guard=spin.guard: evaluate(guard, env)  # noqa: E731
        loops = made["threads"][spin.thread].setdefault("loops", [])
        loops.append((spin.first, spin.end, going, reads))
    return made


def test_random_programs() -> None:
    """Programs with a spin, and programs rich in locks, under every scheduler."""
    seen: Counter[str] = Counter()
    for number in range(30):
        rng = random.Random(f"hang {number}")
        if number % 4:
            shape = rng.choice((SMALL, SMALL, TINY_TWO_DEVICES))
            program = with_spin(rng, random_assembly(rng, shape))
        else:
            program = locking_program(rng, most=3)
            program = with_spin(rng, program) or program
        if program is None:
            continue
        one = len({it.device for it in program.threads}) == 1
        try:
            expected = hanging.stuck(plain(program), 300, l2_is_memory=one)
            found = stuck(program)
        except (oracle.TooLarge, LimitReached):
            continue
        assert found == expected, (
            f"{found} and not {expected} of\n{listing(program)}{program.spins}"
        )
        seen.update(found)
        seen["decided"] += 1
    assert seen["decided"] >= 7, seen
    assert seen["decided"] > seen["unfair"] > seen["fair"] > 0, seen


def test_a_hang_is_shown_with_the_values_that_decide_nothing() -> None:
    """P0 goes round while it reads 1; the search takes x to be 0."""
    machine = Machine(spinning(((0, 0), ["LD y"]), ((0, 1), ["ST x 5", "ST y 1"])))
    hang = find_hang(machine, LIMITS).hang
    assert hang is not None
    steps = replay_hang(machine, hang, [1] * 9).execution.steps
    assert {"ST 5 x", "ST 1 y"} <= {each.label for each in steps}


# ---- entries that rest ----------------------------------------------------------------------------


def rests(program: AssemblyProgram) -> tuple[set[str], set[str | None]]:
    """The locations that are idle, and those that one cache keeps."""
    found = resting(Machine(program))
    return set(found.idle), {it.entry.value.location for it in found.kept}


@pytest.mark.parametrize(
    "threads, idle, kept",
    [
        # y decides whether the loop goes on; x is looked at by nobody.
        ((((0, 0), ["LD y"]), ((0, 1), ["ST y 1", "ST x 1"])), {"x"}, set()),
        ((((0, 0), ["LD y"]), ((0, 0), ["ST y 1", "ST x 1"])), {"x"}, {"y"}),
        ((((0, 0), ["LD y"]), ((0, 0), ["RMW_L1 y"])), set(), {"y"}),
        ((((0, 0), ["LD y"]), ((0, 0), ["RMW_L2 y"])), set(), set()),
        # A lock of y may keep it from being flushed in the other work-group.
        ((((0, 0), ["LD y"]), ((0, 1), ["LK_L2 y", "ST x 1", "UL_L2 y"])), set(), set()),
        ((((0, 0), ["LD y"]), ((0, 0), ["LK_rmw DV", "ST x 1", "UL_rmw DV"])), {"x"}, {"y"}),
        # With real L2s an entry is not flushed to memory at once.
        (
            (((0, 0), ["LD y"]), ((0, 0), ["ST y 1", "ST x 1"]), ((1, 0), ["ST z 1"])),
            {"x", "z"},
            set(),
        ),
    ],
)
def test_which_entries_rest(threads: Threads, idle: set[str], kept: set[str | None]) -> None:
    assert rests(spinning(*threads)) == (idle, kept)


def test_lines_of_several_locations_do_not_rest() -> None:
    threads = ((0, 0), ["LD y"]), ((0, 0), ["ST y 1", "ST x 1"])
    assert MACHINES["rsp-lines"].name == "rsp-lines"
    assert rests(spinning(*threads, machine="rsp-lines"))[1] == set()


def test_without_loops_and_guards_all_is_idle() -> None:
    program = assembly(((0, 0), ["LD x", "ST y 1"]), ((0, 1), ["LD y", "ST x 1"]))
    assert rests(program) == ({"x", "y"}, set())
