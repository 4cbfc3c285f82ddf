"""Deadlocks by the events engine, against searches that share nothing with it."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator

import pytest
from machine.cells import l2_is_memory
from machine.engines import LIMITS, machine_of, random_programs
from machine.hostile import LOCKED, hostile_assembly
from oracle import machine as oracle
from oracle_adapter import plain_assembly
from programs import assembly, listing

from rspverify.assembly.program import AssemblyProgram
from rspverify.machine.deadlock_events import DeadlockEvents
from rspverify.machine.explicit import ExplicitMachine
from rspverify.machine.machine import Machine
from rspverify.machine.replay import Replayer
from rspverify.machine.rules import AnyBit, Rule
from rspverify.machine.state import State
from rspverify.records import replace
from rspverify.smt.solver import Model, Solver
from rspverify.smt.term import FALSE, TRUE, Term

HERE, NEAR, FAR = (0, 0), (0, 1), (1, 0)


def deadlock(machine: Machine) -> tuple[DeadlockEvents, Model] | None:
    """An execution after which nothing can go on, by the events engine."""
    events, solver = DeadlockEvents(machine, LIMITS), Solver(LIMITS)
    solver.add(*events.constraints)
    model = solver.find()
    return None if model is None else (events, model)


def ends_for_good(machine: Machine, schedule: list[Rule], most: int = 20_000) -> None:
    """The schedule replays step by step, and from its end no complete state can be reached.

    CLEAN entries that somebody waits for are evicted first: they might be read as they are.
    """
    full = replace(machine, evict=True)
    state = Replayer(machine).states(schedule)[-1]
    search = ExplicitMachine(full, reduced=False)
    state = _without_awaited(search, full, state)
    seen, waiting = {state}, [state]
    while waiting:
        state = waiting.pop()
        assert not search.complete(state), listing(machine.program)
        for _, after in search.successors(state):
            if after not in seen:
                seen.add(after)
                waiting.append(after)
        assert len(seen) < most


def _without_awaited(search: ExplicitMachine, machine: Machine, state: State) -> State:
    """The state after an EVICT of each CLEAN entry of an L1 that a next instruction looks at."""
    evicts = {
        (it.structure, it.about[0]): it for it in machine.steps if it.step.startswith("EVICT")
    }
    for rule in list(search.next_rules(state)):
        for guard in rule.guards:
            for bit, wanted in guard.bits if isinstance(guard, AnyBit) else ():
                if (bit.field, bit.structure.name, wanted) == ("VALID", "L1", True):
                    after = search.apply(state, evicts[bit.structure, bit.location])
                    state = state if after is None else after
    return state


def programs() -> Iterator[AssemblyProgram]:
    """Many locks; few instructions, as the oracle visits every state."""
    for number in range(200):
        yield hostile_assembly(random.Random(f"locks {number}"), most=6, palettes=LOCKED)
    for number in range(75):
        rng = random.Random(f"locks, two devices {number}")
        yield hostile_assembly(rng, devices=2, most=4, palettes=LOCKED)
    yield from random_programs("small", 40, "locks ")


def test_a_deadlock_is_found_exactly_where_the_oracle_is_stuck() -> None:
    """On any program: and where one is found, its execution replays and ends for good."""
    decided = stuck = 0
    for program in programs():
        machine = machine_of(program)
        stores = (it.mnemonic for it in program.instructions if it.mnemonic.name == "ST")
        waits = any(it.conditions for it in stores)
        try:
            expected = oracle.stuck(
                plain_assembly(program),
                variant="rsp-st-waits" if waits else "rsp",
                limit=700,
                l2_is_memory=l2_is_memory(machine),
            )
        except oracle.TooLarge:
            continue
        found = deadlock(machine)
        assert (found is not None) == expected, listing(program)
        if found is not None:
            events, model = found
            ends_for_good(machine, events.deadlocked(model))
            stuck += 1
        decided += 1
    assert decided >= 180
    assert stuck >= 36


LOCK_AND_LOAD = ["LK_L2 x", "FLU_L1 DV", "INV_L1 WG", "LD x", "UL_L2 x"]


@pytest.mark.parametrize(
    "threads, stops",
    [
        # Two locks, in opposite orders and in the same one.
        ([(HERE, ["LK_L2 x", "LK_L2 y", "UL_L2 y", "UL_L2 x"]), (NEAR, ["LK_L2 y", "LK_L2 x"])], True),
        ([(HERE, ["LK_L2 x", "LK_L2 y", "UL_L2 y", "UL_L2 x"]), (NEAR, ["LK_L2 x", "LK_L2 y", "UL_L2 y", "UL_L2 x"])], False),
        # A lock that is kept: instructions that need it, and those that do not.
        ([(HERE, ["LK_rmw DV"]), (NEAR, ["INC_L1 x"])], True),
        ([(HERE, ["LK_rmw DV", "UL_rmw DV"]), (NEAR, ["INC_L1 x"])], False),
        ([(HERE, ["LK_rmw DV"]), (NEAR, ["LD x"])], False),
        ([(HERE, ["LK_rmw DV"]), (NEAR, ["UL_rmw DV", "INC_L1 x"])], True),
        # It shuts the entries of other work-groups of the device, and of no other.
        ([(HERE, ["LK_L2 x"]), (NEAR, ["LD x"])], True),
        ([(HERE, ["LK_L2 x"]), (HERE, ["LD x"])], False),
        ([(HERE, ["LK_L2 x"]), (FAR, ["LD x"])], False),
        # What is DIRTY there stays so: the end is not reached, nor what is behind a marker.
        ([(HERE, ["LK_L2 x"]), (NEAR, ["ST x 1"])], True),
        ([(HERE, ["LK_L2 x", "UL_L2 x"]), (NEAR, ["ST x 1", "FLU_L1 WG", "LD x"])], False),
        ([(HERE, ["LK_L2 x", "LD y", "UL_L2 x if 0=1"]), (NEAR, ["ST x 1", "FLU_L1 WG", "ST y 1"])], True),
        # Row 3 of the original scheme: its flush waits for what its lock keeps DIRTY.
        ([(HERE, LOCK_AND_LOAD), (NEAR, ["ST x 1"])], True),
        ([(HERE, LOCK_AND_LOAD), (NEAR, ["LD x"])], False),
    ],
)  # fmt: skip
def test_known_deadlocks(threads: list[tuple[tuple[int, int], list[str]]], stops: bool) -> None:
    program = assembly(*threads)
    machine = machine_of(program)
    found = deadlock(machine)
    assert (found is not None) is stops
    assert (
        oracle.stuck(plain_assembly(program), limit=60_000, l2_is_memory=l2_is_memory(machine))
        is stops
    )
    if found is not None:
        ends_for_good(machine, found[0].deadlocked(found[1]))


def test_a_clean_entry_may_be_evicted_before_it_is_read() -> None:
    """x was fetched before the lock was taken; nothing but an EVICT keeps LD from going on."""
    program = assembly((HERE, ["ST x 1", "INV_L1 WG", "LK_L2 x"]), (NEAR, ["LD x"]))
    events, solver = DeadlockEvents(machine_of(program), LIMITS), Solver(LIMITS)
    solver.add(*events.constraints)
    load = events.possible.code[1][0]
    fetch = next(it for it in events.possible.all if it.owner is load)
    model = solver.find([events.order.happens(fetch)])
    assert model is not None
    ends_for_good(machine_of(program), events.deadlocked(model))


KEPT = (HERE, ["LK_L2 x"])


@pytest.mark.parametrize(
    "method, instead, thread",
    [
        ("_shut", lambda self, entry: FALSE, ["LD x"]),
        ("_fails", lambda self, guard: FALSE, ["LK_L2 x", "UL_L2 x"]),
        ("_never", lambda self, instruction: TRUE, ["LK_L2 y", "UL_L2 y"]),
    ],
)
def test_a_mistake_in_what_can_never_go_on_is_noticed(
    method: str, instead: Callable[..., Term], thread: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A thread beside one that keeps the lock of x: with the mistake it stops elsewhere, or not."""
    program = assembly(KEPT, (NEAR, thread))
    machine = machine_of(program)

    def right() -> bool:
        found = deadlock(machine)
        stops = oracle.stuck(plain_assembly(program), limit=20_000, l2_is_memory=True)
        if (found is not None) is not stops:
            return False
        if found is None:
            return True
        try:
            ends_for_good(machine, found[0].deadlocked(found[1]))
        except AssertionError:
            return False
        return True

    assert right()
    monkeypatch.setattr(DeadlockEvents, method, instead)
    assert not right()
