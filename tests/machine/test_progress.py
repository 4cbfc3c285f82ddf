"""Progress by search is that of the whole graph of states, and of an independent machine.

Each reduction has a program that tells right from wrong, and random programs besides, which are
the same in every run: those of which the whole graph is not too large.
"""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest
from machine.cells import l2_is_memory
from machine.engines import machine_of, random_programs
from machine.hostile import LOCKED, hostile_assembly
from machine.own_machines import program_told, table
from machine.whole_graph import WholeGraph, locking_program, whole_graph
from oracle import machine as oracle
from oracle_adapter import plain_assembly
from programs import listing

from rspverify.assembly.program import AssemblyProgram
from rspverify.limits import LimitReached, Limits
from rspverify.machine.lock_order import LockOrder
from rspverify.machine.machine import Machine
from rspverify.machine.replay import ReplayError
from rspverify.machine.rules import Rule
from rspverify.machine.state_graph import Hang, find_hang, replay_hang
from rspverify.records import replace

LIMITS = Limits()
PROGRAMS = table("progress")
EVICTED = "an eviction can be what gets a program stuck"


def schedule_of(machine: Machine) -> tuple[Rule, ...] | None:
    return find_hang(machine, LIMITS).schedule


def searched_without_order(machine: Machine) -> tuple[Rule, ...] | None:
    """The same where nothing is known of the order of locks."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(LockOrder, "holds", False)
        return schedule_of(machine)


def steps_of(schedule: tuple[Rule, ...] | None) -> int | None:
    return None if schedule is None else len(schedule)


def assert_same(machine: Machine, graph: WholeGraph) -> None:
    """The same word and length; the schedule replays, and ends in a deadlock."""
    found, searched = schedule_of(machine), searched_without_order(machine)
    text = listing(machine.program)
    assert (found is not None) == graph.stuck, f"{graph} and not {found} of\n{text}"
    assert steps_of(found) == graph.shortest == steps_of(searched), f"{graph} of\n{text}"
    if found is not None:
        lines = [1] * (1 + max(each.operation for each in machine.program.instructions))
        shown = replay_hang(machine, Hang(found), lines)
        assert len(shown.execution.steps) == len(found)
        assert shown.threads or shown.rest


@pytest.mark.parametrize("name", PROGRAMS)
def test_known_programs(name: str) -> None:
    """Stuck where the table does not say that no step leads there."""
    told = PROGRAMS[name]
    program = program_told(told)
    machine = machine_of(program)
    graph, schedule = whole_graph(machine, 100_000), schedule_of(machine)
    assert graph.stuck == (told.get("steps") != 0)
    assert (graph.shortest or 0) == told.get("steps", graph.shortest)
    assert_same(machine, graph)
    if "small" in told:
        for real in (False, True):
            assert oracle.stuck(plain_assembly(program), l2_is_memory=not real) == graph.stuck
    if "ordered" in told:
        assert LockOrder(machine).holds == told["ordered"]
    if "evicts" in told:
        assert any(str(it).startswith("EVICT") for it in schedule or ()) == told["evicts"]
    if "waits" in told:
        shown = replay_hang(machine, Hang(schedule or ()), [1] * 9)
        assert [*shown.threads, *shown.rest][: len(told["waits"])] == told["waits"]


def test_it_takes_the_eviction() -> None:
    plain = plain_assembly(program_told(PROGRAMS[EVICTED]))
    assert oracle.stuck(plain, l2_is_memory=True)
    assert not oracle.stuck(plain, l2_is_memory=True, evict=False)


@pytest.mark.parametrize(
    ("devices", "real", "numbers"),
    [
        (1, False, (*range(14), *range(15, 19), *range(20, 24), 25, 26, 27, 29, 30, 33, 34)),
        (1, True, (0, 2, 3, 4, 6, 7, 9, 13, 17, 20, 21)),
        (2, True, (0, 5, 8, 9, 16, 17, 23, 25, 26, 33, 36, 37, 39)),
    ],
)
def test_programs_that_are_rich_in_locks(
    devices: int, real: bool, numbers: tuple[int, ...]
) -> None:
    """Locks kept, freed by others, taken in any order, under guards, with flushes in between."""
    stuck = 0
    for number in numbers:
        rng = random.Random(f"locks {devices} {real} {number}")
        variant = "rsp-st-waits" if number % 5 == 4 else "rsp"
        program = locking_program(rng, machine=variant, devices=devices)
        machine = Machine(program, elide=not real)
        graph = whole_graph(machine, 3_000)
        assert_same(machine, graph)
        stuck += graph.stuck
    assert stuck >= (len(numbers) // 4 if devices == 1 else 1)


def test_programs_with_rows_like_those_of_tab_3() -> None:
    for program in random_programs(
        "small", [*range(3, 8), *range(10, 18), *range(20, 39)], "progress "
    ):
        machine = machine_of(program)
        assert_same(machine, whole_graph(machine, 2_500))


def rich_in_locks() -> Iterator[AssemblyProgram]:
    """Small programs, as the oracle visits every state; of L2s that are real on two devices."""
    for number in range(15):
        yield locking_program(random.Random(f"oracle {number}"), most=2)
    for number in range(45):
        yield hostile_assembly(random.Random(f"locks {number}"), most=6, palettes=LOCKED)
    for number in range(15):
        rng = random.Random(f"locks, two devices {number}")
        yield hostile_assembly(rng, devices=2, most=4, palettes=LOCKED)


def test_the_oracle_agrees() -> None:
    """An implementation of Tab. 1 and Tab. 2 that shares no code with this one."""
    done = stuck = 0
    for program in rich_in_locks():
        machine = machine_of(program)
        waits = any(
            it.mnemonic.name == "ST" and it.mnemonic.conditions for it in program.instructions
        )
        try:
            reference = oracle.stuck(
                plain_assembly(program),
                variant="rsp-st-waits" if waits else "rsp",
                limit=500,
                l2_is_memory=l2_is_memory(machine),
            )
        except oracle.TooLarge:
            continue
        assert (schedule_of(machine) is not None) == reference, listing(program)
        done += 1
        stuck += reference
    assert done >= 32
    assert stuck >= 6


def test_an_elided_l2_and_a_real_one_are_stuck_alike() -> None:
    """On one device, where L2 steps never wait for a lock."""
    stuck = 0
    for number in range(60):
        program = locking_program(random.Random(f"elide {number}"), most=3)
        found = [schedule_of(Machine(program, elide=elide)) for elide in (True, False)]
        assert (found[0] is None) == (found[1] is None), listing(program)
        stuck += found[0] is not None
    assert stuck >= 12


def test_a_limit_is_said() -> None:
    machine = machine_of(program_told(PROGRAMS[EVICTED]))
    with pytest.raises(LimitReached, match=r"^more than 20 machine states$"):
        find_hang(machine, replace(LIMITS, states=20))
    with pytest.raises(LimitReached, match=r"^timeout of 1e-09 s$"):
        find_hang(machine, Limits(seconds=1e-9))


def test_what_does_not_end_in_a_deadlock_is_refused() -> None:
    machine = machine_of(program_told(PROGRAMS["a flush under the lock"]))
    schedule = schedule_of(machine)
    assert schedule is not None
    with pytest.raises(ReplayError, match="does not end where nobody can go on"):
        replay_hang(machine, Hang(schedule[:-1]), [1, 1])


def test_the_same_execution_every_time() -> None:
    def once(program: AssemblyProgram) -> list[object]:
        return [rule.key for rule in schedule_of(machine_of(program)) or ()]

    for number in range(20):
        rng = random.Random(f"same {number}")
        program = locking_program(rng)
        assert once(program) == once(program)
