"""Progress by search is that of the whole graph of states, and of an independent machine.

Each reduction has a program that tells right from wrong; test_engines_agree.py has random ones.
"""

from __future__ import annotations

import random

import pytest
from machine.any_engine import hang_without_order
from machine.engines import machine_of
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


def steps_of(schedule: tuple[Rule, ...] | None) -> int | None:
    return None if schedule is None else len(schedule)


def assert_same(machine: Machine, graph: WholeGraph) -> None:
    """The same word and length; the schedule replays, and ends in a deadlock."""
    found, searched = schedule_of(machine), hang_without_order(machine, LIMITS).schedule
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


def test_locks_on_two_devices() -> None:
    """Kept, freed by others, taken in any order, under guards, with flushes in between."""
    stuck = 0
    for number in (0, 5, 8, 9, 16, 17, 23, 25, 26, 33, 36, 37, 39):
        rng = random.Random(f"locks 2 True {number}")
        variant = "rsp-st-waits" if number % 5 == 4 else "rsp"
        machine = Machine(locking_program(rng, machine=variant, devices=2), elide=False)
        graph = whole_graph(machine, 3_000)
        assert_same(machine, graph)
        stuck += graph.stuck
    assert stuck


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
