"""A deadlock is told from one state only where the steps of a machine can always be brought to help.

Each machine lacks one thing that this rests on: something can never happen, nobody fetches, or EVICT
takes more. What is said of it is held to the whole graph of states.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from contextlib import suppress

import pytest
from machine.engines import LIMITS
from machine.own_machines import program, table, variant
from machine.planted import keep_nothing
from machine.whole_graph import TooLarge, locking_program, whole_graph
from programs import listing
from pytest import MonkeyPatch

from rspverify.architecture.architecture import Architecture
from rspverify.assembly.program import AssemblyProgram
from rspverify.machine import draining, lock_order
from rspverify.machine.machine import Machine
from rspverify.machine.replay import ReplayError
from rspverify.machine.state_graph import find_hang
from rspverify.records import replace

CASES = table("draining")

PLACES = {3: ((0, 0), (0, 0), (0, 1))}


def machine_of(case: str) -> Machine:
    threads = CASES[case]["code"]
    places = PLACES.get(len(threads), ((0, 0), (0, 1)))
    return Machine(program(variant(CASES[case]["machine"]), *threads, places=places))


@pytest.mark.parametrize("case", CASES)
def test_what_never_comes_is_waited_for(case: str) -> None:
    machine = machine_of(case)
    assert whole_graph(machine, 60_000).stuck
    assert find_hang(machine, LIMITS).schedule is not None


def nothing_is_never(patch: MonkeyPatch) -> None:
    """The order of locks is asked as if each instruction could happen some time."""
    place = lock_order.Place
    patch.setattr(lock_order, "Place", lambda *told: place(*told[:2]))


def anything_is_fetched(patch: MonkeyPatch) -> None:
    """It is not asked whether a step makes an entry VALID."""
    patch.setattr(draining, "_wants_entry", lambda guard, machine: True)


def all_markers_are_own(patch: MonkeyPatch) -> None:
    """It is not asked whose markers are waited for."""
    patch.setattr(draining, "_is_own", lambda guard, rule: not hasattr(guard, "bits"))


@pytest.mark.parametrize(
    "plant, case",
    [
        (nothing_is_never, "an instruction that never happens"),
        (anything_is_fetched, "nothing fetches"),
        (anything_is_fetched, "nothing fetches what was evicted"),
        (anything_is_fetched, "a fetch waits for a flush"),
        (all_markers_are_own, "others' markers"),
    ],
)
def test_a_planted_mistake_is_noticed(
    plant: Callable[[MonkeyPatch], None], case: str, monkeypatch: MonkeyPatch
) -> None:
    """LIVE is said, or an execution that does not end in a deadlock is found."""
    keep_nothing(monkeypatch)
    plant(monkeypatch)
    with suppress(ReplayError):
        assert find_hang(machine_of(case), LIMITS).schedule is None


def on(its: Architecture, it: AssemblyProgram) -> AssemblyProgram:
    """A program of the paper's machine for one that has its instructions."""
    code = tuple(
        tuple(replace(each, mnemonic=its.instructions[each.mnemonic.name]) for each in thread)
        for thread in it.code
    )
    return replace(it, code=code, machine=its)


@pytest.mark.parametrize(
    "items",
    [
        *("without FETCH_L1", "without FETCH_L2"),
        "instruction ST r x when L1.VALID[x] or L2.VALID[x] do store(L1, x, r)",
        *(
            CASES[case]["machine"]
            for case in (
                "an instruction that never happens",
                "a load that never happens",
                "EVICT takes what is DIRTY",
            )
        ),
    ],
)
def test_progress_is_that_of_the_whole_graph(items: str) -> None:
    its, done, stuck = variant(items), 0, 0
    for number in range(25):
        machine = Machine(on(its, locking_program(random.Random(f"drain {number}"))))
        try:
            graph = whole_graph(machine, 1_500)
        except TooLarge:
            continue
        assert (find_hang(machine, LIMITS).schedule is not None) is graph.stuck, listing(
            machine.program
        )
        done, stuck = done + 1, stuck + graph.stuck
    assert done >= 8
    assert 0 < stuck < done
