"""Threads that meet at barriers: every engine finds what an independent machine finds.

The programs are the same in every run. In some a thread leaves a barrier out, or may: the others
then wait for ever, as the progress of each of them says.
"""

from __future__ import annotations

import random

import pytest
from machine.engines import LIMITS, Unrolled, events_outcomes, searched
from machine.whole_graph import TooLarge, whole_graph
from oracle import machine as oracle
from oracle_adapter import machine_outcomes, plain_assembly
from programs import BARRIER, SMALL, TINY_TWO_DEVICES, Size, assembly, listing, random_assembly

from rspverify.assembly.program import AssemblyProgram, Instruction
from rspverify.machine.firings import enough_steps
from rspverify.machine.lock_order import LockOrder
from rspverify.machine.machine import Machine
from rspverify.machine.state_graph import find_hang, replay_hang
from rspverify.records import replace
from rspverify.value import Binary, Constant, Read

MESSAGE = (
    ((0, 0), ["ST x 1", "arrive B", "depart B"]),
    ((0, 0), ["arrive B", "depart B", "LD x"]),
)

GROUPS = replace(SMALL, min_threads=2, workgroups=1, total=3, extra=2)
TWO_GROUPS = replace(SMALL, min_threads=3, workgroups=2, total=3, extra=2)


def meeting_program(rng: random.Random, shape: Size, labels: int = 1) -> AssemblyProgram:
    """A random program whose work-groups meet; seldom a thread leaves a barrier out, or may."""
    program = random_assembly(rng, shape)
    code: list[tuple[Instruction, ...]] = []
    index = 0
    for own in program.code:
        cuts = sorted(rng.randint(0, len(own)) for _ in range(labels))
        parts: list[Instruction] = []
        for place in range(len(own) + 1):
            for label, cut in enumerate(cuts):
                if cut == place and rng.random() < 0.97:
                    parts += _halves(rng, program, own, parts, f"B{label}")
            parts += own[place : place + 1]
        code.append(tuple(replace(it, index=index + i) for i, it in enumerate(parts)))
        index += len(parts)
    return replace(program, code=tuple(code))


def _halves(
    rng: random.Random,
    program: AssemblyProgram,
    own: tuple[Instruction, ...],
    before: list[Instruction],
    label: str,
) -> list[Instruction]:
    if not own:
        return []
    guard = Constant(1)
    reads = [it.register for it in before if it.register is not None and it.guard == guard]
    wanted = Binary("==", Read(rng.choice(reads)), Constant(rng.choice((0, 1)))) if reads else guard
    chosen = wanted if rng.random() < 0.1 else guard
    return [
        Instruction(0, each, own[0].thread, own[0].operation, chosen, label=label)
        for each in BARRIER.values()
    ]


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


@pytest.mark.parametrize(
    ("shape", "labels", "numbers", "least"),
    [
        (GROUPS, 2, (*range(9), 10, 11), (2, 1, 2)),
        (TWO_GROUPS, 1, (0, *range(3, 8)), (1, 0, 1)),
        (TINY_TWO_DEVICES, 1, (4, 26), (2, 0, 0)),
    ],
)
def test_random_meetings(
    shape: Size, labels: int, numbers: tuple[int, ...], least: tuple[int, int, int]
) -> None:
    """Outcomes and progress: the engines, each other and the oracle, on programs that are small
    enough for it. least: how many have outcomes, how many stop, and how many do not by the order of
    their locks."""
    outcomes = stops = waited = 0
    for number in numbers:
        program = meeting_program(random.Random(f"meet {labels} {number}"), shape, labels)
        machine, one = Machine(program), shape.devices == 1
        expected = machine_outcomes(program, limit=3_000, l2_is_memory=one)
        stuck = oracle.stuck(plain_assembly(program), limit=3_000, l2_is_memory=one)
        outcomes += bool(expected)
        text = listing(program)
        assert searched(machine) == expected, text
        assert searched(Machine(program, elide=False), reduced=False) == expected, text
        assert events_outcomes(machine) == expected, text
        if enough_steps(machine).total <= 18:
            assert Unrolled(machine).outcomes() == expected, text
        stops += stuck
        found = find_hang(machine, LIMITS)
        assert (found.schedule is not None) is stuck, text
        waited += found.how == "by the order of locks"
        if found.hang is not None:
            replay_hang(machine, found.hang, [1] * 20)
    assert all(map(int.__ge__, (outcomes, stops, waited), least))


def test_the_shortest_way_to_a_deadlock() -> None:
    """As the whole graph of states has it."""
    decided = 0
    for number in range(40):
        program = meeting_program(random.Random(f"way {number}"), GROUPS)
        machine = Machine(program)
        try:
            graph = whole_graph(machine, 1_500)
        except TooLarge:
            continue
        schedule = find_hang(machine, LIMITS).schedule
        length = None if schedule is None else len(schedule)
        assert length == graph.shortest, listing(program)
        decided += length is not None
    assert decided >= 3
