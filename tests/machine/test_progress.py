"""Progress by search is that of the whole graph of states, and of an independent machine.

Each reduction has a program that tells right from wrong, and random programs besides, which are
the same in every run. Some are too large for the whole graph; each test counts what it decides.
"""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest
from machine.cells import l2_is_memory
from machine.engines import machine_of, random_programs
from machine.hostile import LOCKED, hostile_assembly
from machine.whole_graph import TooLarge, WholeGraph, locking_program, whole_graph
from oracle import machine as oracle
from oracle_adapter import plain_assembly
from programs import assembly, listing

from rspverify.assembly.program import AssemblyProgram
from rspverify.limits import LimitReached, Limits
from rspverify.machine.lock_order import LockOrder
from rspverify.machine.machine import Machine
from rspverify.machine.replay import ReplayError
from rspverify.machine.rules import Rule, StepRule
from rspverify.machine.state_graph import Hang, find_hang, replay_hang
from rspverify.records import replace

LIMITS = Limits()
Threads = tuple[tuple[tuple[int, int], list[str]], ...]

FLUSH_UNDER_LOCK: Threads = (
    ((0, 0), ["ST x 1"]),
    ((0, 1), ["LK_L2 x", "FLU_L1 DV", "INV_L1 WG", "LD x", "UL_L2 x"]),
)
"""Rows 4 and 3 of Original: whoever holds the lock of x waits for another L1 to flush x."""

OPPOSITE_ORDERS: Threads = (
    ((0, 0), ["LK_rmw DV", "LK_L2 x", "UL_L2 x", "UL_rmw DV"]),
    ((0, 1), ["LK_L2 x", "LK_rmw DV", "UL_rmw DV", "UL_L2 x"]),
)

EVICTED: Threads = (
    ((0, 0), ["LK_rmw DV", "LD x", "ST y 1", "LD x", "UL_rmw DV"]),
    (
        (0, 1),
        [
            "LD y",
            "LK_L2 x if 3=1",
            "LK_rmw DV if 3=1",
            "UL_rmw DV if 3=1",
            "UL_L2 x if 3=1",
        ],
    ),
)
"""x is locked only after it was read in the other L1: only EVICT can take it from there again."""

COUNTED: Threads = (
    ((0, 0), ["INC_L2 x", "INC_L2 x"]),
    ((0, 1), ["LD x", "LK_rmw DV if 2=2"]),
    ((0, 1), ["LK_rmw DV", "UL_rmw DV"]),
)
"""A lock is kept only where x was seen to be 2, which takes both increments."""


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


@pytest.mark.parametrize(
    "threads, steps",
    [
        ((((0, 0), ["ST x 1", "FLU_L1 WG", "LD y"]),), None),
        ((((0, 0), ["LK_rmw DV"]), ((0, 1), ["LK_rmw DV"])), 1),
        ((((0, 0), ["LK_rmw DV", "UL_rmw DV"]), ((0, 1), ["LK_rmw DV", "UL_rmw DV"])), None),
        ((((0, 0), ["LK_rmw DV"]), ((0, 1), ["UL_rmw DV", "LK_rmw DV"])), 2),
        ((((0, 0), ["LK_rmw DV", "LK_rmw DV"]), ((0, 1), ["UL_rmw DV"])), None),
        ((((0, 0), ["ST x 1"]), ((0, 1), ["LK_L2 x"])), 2),
        ((((0, 0), ["ST x 1"]), ((0, 0), ["LK_L2 x"])), None),
        ((((0, 0), ["LD x"]), ((0, 1), ["LK_L2 x"])), 1),
        ((((0, 0), ["LD x"]), ((0, 0), ["LK_L2 x"])), None),
        ((((0, 0), ["INC_L1 x"]), ((0, 1), ["LK_rmw DV"])), 1),
        ((((0, 0), ["INC_L1 x"]), ((0, 1), ["LK_rmw DV", "UL_rmw DV"])), None),
        ((((0, 0), ["LD x"]), ((0, 1), ["LK_rmw DV"])), None),
        (FLUSH_UNDER_LOCK, 3),
        (OPPOSITE_ORDERS, 2),
        ((((0, 0), ["LK_L2 x", "FLU_L1 WG", "ST x 1", "INV_L1 DV", "UL_L2 x"]),) * 2, None),
    ],
)
def test_small_programs(threads: Threads, steps: int | None) -> None:
    program = assembly(*threads)
    machine = machine_of(program)
    assert steps_of(schedule_of(machine)) == steps
    assert_same(machine, whole_graph(machine, 20_000))
    for real in (False, True):
        assert oracle.stuck(plain_assembly(program), l2_is_memory=not real) == (steps is not None)


def test_eviction_can_be_what_gets_a_program_stuck() -> None:
    program = assembly(*EVICTED)
    machine = machine_of(program)
    plain = plain_assembly(program)
    assert oracle.stuck(plain, l2_is_memory=True)
    assert not oracle.stuck(plain, l2_is_memory=True, evict=False)
    schedule = schedule_of(machine)
    assert schedule is not None
    assert "EVICT_L1 x" in map(str, schedule)
    assert_same(machine, whole_graph(machine, 100_000))


def test_an_eviction_that_is_not_needed_is_not_shown() -> None:
    """The reader of x waits for the rmw lock all the same."""
    threads = (((0, 0), ["LD x", "INC_L1 x"]), ((0, 1), ["LD x", "LK_rmw DV", "LK_L2 x"]))
    machine = machine_of(assembly(*threads))
    schedule = schedule_of(machine)
    assert schedule is not None
    assert not any(isinstance(it, StepRule) and it.step.startswith("EVICT") for it in schedule)
    assert_same(machine, whole_graph(machine, 20_000))


@pytest.mark.parametrize("wanted, stuck", [(2, True), (3, False)])
def test_values_that_decide_are_kept(wanted: int, stuck: bool) -> None:
    threads = list(COUNTED)
    threads[1] = ((0, 1), ["LD x", f"LK_rmw DV if 2={wanted}"])
    machine = machine_of(assembly(*threads))
    assert (schedule_of(machine) is not None) == stuck
    assert_same(machine, whole_graph(machine, 60_000))


@pytest.mark.parametrize(
    "code, ordered",
    [
        (["LD x", "LK_rmw DV if 0=1", "UL_rmw DV if 0=1"], True),
        (["LD x", "LK_rmw DV if 0=1", "UL_rmw DV"], True),
        (["LD x", "LK_rmw DV", "UL_rmw DV if 0=1"], False),
        (["LD x", "LK_rmw DV if 0=1", "UL_rmw DV if 0=0"], False),
    ],
)
def test_the_order_of_locks_under_guards(code: list[str], ordered: bool) -> None:
    """What was locked under a guard is free after an unlock under the same guard, or under none."""
    program = assembly(((0, 0), code), ((0, 1), ["ST x 1"]), ((0, 1), ["INC_L2 y"]))
    machine = machine_of(program)
    assert LockOrder(machine).holds == ordered
    assert_same(machine, whole_graph(machine, 60_000))


def test_a_lock_that_another_frees_is_not_surely_held() -> None:
    """The third thread takes what the second one freed, while the first one counts on it."""
    threads = (
        ((0, 0), ["LK_rmw DV", "LK_L2 x", "INC_L1 y", "UL_L2 x", "UL_rmw DV"]),
        ((0, 0), ["UL_rmw DV"]),
        ((0, 0), ["LK_rmw DV", "LK_L2 x", "UL_L2 x", "UL_rmw DV"]),
    )
    machine = machine_of(assembly(*threads))
    assert not LockOrder(machine).holds
    graph = whole_graph(machine, 60_000)
    assert graph.stuck
    assert_same(machine, graph)


def test_a_lock_that_may_have_been_freed_is_not_surely_held() -> None:
    """The first thread may have freed the rmw locks, depending on what it read."""
    threads = (
        (
            (0, 0),
            [
                "LD y",
                "LK_rmw DV",
                "UL_rmw DV if 0=1",
                "LK_L2 x",
                "INC_L1 y",
                "UL_L2 x",
                "UL_rmw DV",
            ],
        ),
        ((0, 0), ["ST y 1", "LK_rmw DV", "LK_L2 x", "UL_L2 x", "UL_rmw DV"]),
    )
    machine = machine_of(assembly(*threads))
    assert not LockOrder(machine).holds
    graph = whole_graph(machine, 60_000)
    assert graph.stuck
    assert_same(machine, graph)


def test_a_marker_is_waited_for_past_what_is_skipped() -> None:
    """Where the thread stops, the instruction after its FLU_L1 has already been passed over."""
    code = ["LD y", "LK_L2 x", "FLU_L1 DV", "ST y 1 if 1=1", "UL_L2 x"]
    machine = machine_of(assembly(((0, 0), ["ST x 1"]), ((0, 1), code)))
    graph = whole_graph(machine, 20_000)
    assert graph.stuck
    assert_same(machine, graph)


@pytest.mark.parametrize(
    "devices, real, count, states, decided",
    [(1, False, 70, 3_000, 53), (1, True, 45, 2_500, 15), (2, True, 40, 2_500, 7)],
)
def test_programs_that_are_rich_in_locks(
    devices: int, real: bool, count: int, states: int, decided: int
) -> None:
    """Locks kept, freed by others, taken in any order, under guards, with flushes in between."""
    done = stuck = 0
    for number in range(count):
        rng = random.Random(f"locks {devices} {real} {number}")
        variant = "rsp-st-waits" if number % 5 == 4 else "rsp"
        program = locking_program(rng, machine=variant, devices=devices)
        machine = Machine(program, elide=not real)
        try:
            graph = whole_graph(machine, states)
        except TooLarge:
            continue
        assert_same(machine, graph)
        done += 1
        stuck += graph.stuck
    assert done >= decided, f"{count - done} of {count} were too large"
    assert stuck >= (decided // 4 if devices == 1 else 1)


def test_programs_with_rows_like_those_of_tab_3() -> None:
    done, count = 0, 80
    for program in random_programs("small", count, "progress "):
        machine = machine_of(program)
        try:
            graph = whole_graph(machine, 2_500)
        except TooLarge:
            continue
        assert_same(machine, graph)
        done += 1
    assert done >= 30, f"{count - done} of {count} were too large"


def rich_in_locks() -> Iterator[AssemblyProgram]:
    """Small programs, as the oracle visits every state; of L2s that are real on two devices."""
    for number in range(30):
        yield locking_program(random.Random(f"oracle {number}"), most=2)
    for number in range(90):
        yield hostile_assembly(random.Random(f"locks {number}"), most=6, palettes=LOCKED)
    for number in range(30):
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
    assert done >= 70
    assert stuck >= 15


def test_an_elided_l2_and_a_real_one_are_stuck_alike() -> None:
    """On one device, where L2 steps never wait for a lock."""
    stuck = 0
    for number in range(120):
        program = locking_program(random.Random(f"elide {number}"), most=3)
        found = [schedule_of(Machine(program, elide=elide)) for elide in (True, False)]
        assert (found[0] is None) == (found[1] is None), listing(program)
        stuck += found[0] is not None
    assert stuck >= 30


def test_what_everything_waits_for() -> None:
    def waits(*threads: tuple[tuple[int, int], list[str]]) -> list[str]:
        machine = machine_of(assembly(*threads))
        schedule = schedule_of(machine)
        assert schedule is not None
        shown = replay_hang(machine, Hang(schedule), [1] * 9)
        return [*shown.threads, *shown.rest]

    assert waits(*FLUSH_UNDER_LOCK) == [
        "P1 at INV_L1 WG waits for its marker to leave the fifo of L1 d0 w0",
        "the fifo of L1 d0 w0 waits for x to be flushed; behind it: the marker of P1",
        "x, DIRTY in L1 d0 w0, waits to be flushed for the lock of x on d0, held by P1",
    ]
    assert waits(*OPPOSITE_ORDERS) == [
        "P0 at LK_L2 x waits for the lock of x on d0, held by P1",
        "P1 at LK_rmw DV waits for the rmw d0 w0 and the rmw d0 w1, held by P0",
    ]
    assert waits(((0, 0), ["LD x"]), ((0, 1), ["LK_L2 x"])) == [
        "P0 at LD r x waits for x to be VALID in L1 d0 w0, where FETCH_L1 needs the lock of x on d0, "
        "held by P1, which has ended"
    ]
    assert waits(((0, 0), ["ST x 1", "INC_L2 x"]), ((0, 1), ["LK_L2 x"]))[0] == (
        "P0 at INC_L2 r x waits for x to be flushed from L1 d0 w0, where FLUSH_L1 needs the lock of x "
        "on d0, held by P1, which has ended"
    )


def test_a_limit_is_said() -> None:
    machine = machine_of(assembly(*EVICTED))
    with pytest.raises(LimitReached, match=r"^more than 20 machine states$"):
        find_hang(machine, replace(LIMITS, states=20))
    with pytest.raises(LimitReached, match=r"^timeout of 1e-09 s$"):
        find_hang(machine, Limits(seconds=1e-9))


def test_what_does_not_end_in_a_deadlock_is_refused() -> None:
    machine = machine_of(assembly(*FLUSH_UNDER_LOCK))
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
