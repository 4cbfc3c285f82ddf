"""The machines for several devices: INV_L2, L2s that are coherent, and values that are stored again."""

import random

import pytest
from machine.engines import LIMITS, Unrolled, events_outcomes, has, machine_of, searched
from machine.hostile import INVALIDATING, hostile_assembly
from machine.stepping import Bench
from machine.whole_graph import TooLarge as GraphTooLarge
from machine.whole_graph import locking_program, whole_graph
from oracle.machine import TooLarge
from oracle_adapter import machine_outcomes
from programs import assembly, listing, on_machine

from rspverify.limits import LimitReached
from rspverify.machine.explicit import ExplicitMachine
from rspverify.machine.firings import enough_steps
from rspverify.machine.machine import Machine
from rspverify.machine.state_graph import find_hang

COHERENT = "rsp-coherent-l2"
HERE, NEAR, FAR = (0, 0), (0, 1), (1, 0)


# ---- INV_L2 ------------------------------------------------------------------------------------


@pytest.mark.parametrize("reach, caches", [("DV", ("d0",)), ("SY", ("d0", "d1"))])
def test_inv_l2_invalidates_every_location_of_the_l2s_in_reach(
    reach: str, caches: tuple[str, ...]
) -> None:
    """Whatever the hygiene; L1s, absent entries, fifos and locks are left alone."""
    threads = (HERE, [f"INV_L2 {reach}"]), (NEAR, ["ST x 1", "LK_L2 y"]), (FAR, ["ST x 2"])
    bench = Bench(*threads, initial={"y": 7}, machine="rsp-inv-l2")
    bench.do("P1", "FETCH d0 y", "P1", "P2", "FLUSH d1w0 x", "FLUSH d0w1 x", "FETCH d1 y")
    entries = {"d0 x": "1 DI", "d0 y": "7 CI", "d1 y": "7 CI"}
    assert bench.view()["d1 x"] == "2 DI"  # It was INV'D by the flush of the other device.
    assert bench.changes("P0") == {
        name: entry for name, entry in entries.items() if name.split()[0] in caches
    }


def test_an_invalid_dirty_l2_entry_is_flushed_before_it_is_fetched_again() -> None:
    bench = Bench((HERE, ["ST x 1", "INV_L2 DV", "LD x"]), machine="rsp-inv-l2")
    bench.do("P0", "FLUSH d0w0 x", "P0")
    assert not bench.may("FETCH d0 x")
    assert not bench.may("FETCH d0w0 x")
    bench.do("FLUSH d0 x", "FETCH d0 x", "FETCH d0w0 x", "P0")
    assert bench.view()["r1"] == 1


@pytest.mark.parametrize("devices, count, states, decided", [(1, 8, 150, 3), (2, 8, 80, 1)])
def test_every_engine_knows_inv_l2(devices: int, count: int, states: int, decided: int) -> None:
    """The oracle too, which shares no code with this one; and on one device, without its L2."""
    done = 0
    for number in range(count):
        rng = random.Random(f"inv {devices} {number}")
        program = hostile_assembly(
            rng, devices=devices, most=6, palettes=INVALIDATING, machine="rsp-inv-l2"
        )
        real = Machine(program, elide=False)
        try:
            found = searched(real, states)
            reference = machine_outcomes(program, limit=8_000)
        except (LimitReached, TooLarge):
            continue
        for machine in [real, machine_of(program)] if devices == 1 else [real]:
            assert reference == searched(machine) == events_outcomes(machine), listing(program)
            if enough_steps(machine).total <= 16:
                assert reference == Unrolled(machine).outcomes(), listing(program)
        assert reference == found
        done += 1
    assert done >= decided, f"{count - done} of {count} were too large"


@pytest.mark.parametrize("devices, decided", [(1, 3), (2, 2)])
def test_progress_with_inv_l2(devices: int, decided: int) -> None:
    """The search for a deadlock against the whole graph of states."""
    done = 0
    for number in range(8):
        rng = random.Random(f"inv progress {devices} {number}")
        program = hostile_assembly(
            rng, devices=devices, most=5, palettes=INVALIDATING, machine="rsp-inv-l2"
        )
        machine = Machine(program, elide=False)
        try:
            graph = whole_graph(machine, 2_500)
        except GraphTooLarge:
            continue
        found = find_hang(machine, LIMITS).schedule
        assert (found is not None) == graph.stuck, listing(program)
        assert (len(found) if found is not None else None) == graph.shortest, listing(program)
        default = find_hang(machine_of(program), LIMITS).schedule
        assert (default is not None) == graph.stuck, listing(program)
        done += 1
    assert done >= decided, f"{8 - done} were too large"


PUBLISH = ["ST x 1", "FLU_L1 WG", "FLU_L2 DV", "ST y 1"]


@pytest.mark.parametrize(
    "observe, stale",
    [
        (["LD y", "INV_L1 WG", "LD x"], True),
        (["LD y", "INV_L1 WG", "INV_L2 DV", "LD x"], True),
        (["LD y", "INV_L2 DV", "INV_L1 WG", "LD x"], False),
    ],
)
def test_an_l2_must_be_emptied_before_the_l1_above_it(observe: list[str], stale: bool) -> None:
    """Otherwise the L1 fetches the old x once more in between."""
    program = assembly((HERE, PUBLISH), (FAR, observe), machine="rsp-inv-l2")
    found = events_outcomes(Machine(program, elide=False))
    assert any(map(has({2: 1, 3: 0}), found)) == stale
    assert any(map(has({2: 1, 3: 1}), found))


# ---- Coherent L2s -------------------------------------------------------------------------------


def test_coherent_l2s_are_left_out() -> None:
    program = assembly((HERE, ["LD x"]), (FAR, ["LD x"]), machine=COHERENT)
    for elide in (False, True):
        machine = Machine(program, elide=elide)
        caches = [str(each) for each in machine.structures if each.name.startswith("L")]
        assert caches == ["L1 d0 w0", "L1 d1 w0"]


def test_every_engine_knows_coherent_l2s() -> None:
    done = 0
    for number in range(10):
        rng = random.Random(f"coherent {number}")
        program = on_machine(hostile_assembly(rng, devices=2, most=6), COHERENT)
        machine = Machine(program, elide=True)
        variant = "rsp-st-waits" if _waits(program.instructions) else "rsp"
        try:
            found = searched(machine, 300)
            how = {"variant": variant, "l2_is_memory": True, "coherent": True}
            reference = machine_outcomes(program, limit=8_000, **how)
        except (LimitReached, TooLarge):
            continue
        assert reference == found == events_outcomes(machine), listing(program)
        if enough_steps(machine).total <= 16:
            assert reference == Unrolled(machine).outcomes(), listing(program)
        done += 1
    assert done >= 4, f"{10 - done} were too large"


def test_progress_on_coherent_l2s() -> None:
    done = 0
    for number in range(16):
        program = locking_program(random.Random(f"coherent {number}"), devices=2, most=3)
        machine = Machine(on_machine(program, COHERENT), elide=True)
        try:
            graph = whole_graph(machine, 2_500)
        except GraphTooLarge:
            continue
        found = find_hang(machine, LIMITS).schedule
        assert (len(found) if found is not None else None) == graph.shortest, listing(program)
        done += 1
    assert done >= 8, f"{16 - done} were too large"
    for code, stuck in ((["LK_rmw SY"], True), (["LK_L2 x"], False)):
        program = assembly((HERE, ["ST x 1", *code]), (FAR, code), machine=COHERENT)
        machine = Machine(program, elide=True)
        assert (find_hang(machine, LIMITS).schedule is not None) == stuck


def _waits(instructions: object) -> bool:
    assert isinstance(instructions, tuple)
    stores = [each for each in instructions if each.mnemonic.name == "ST"]
    return any(each.mnemonic.conditions for each in stores)


# ---- The same value again -----------------------------------------------------------------------


@pytest.mark.parametrize(
    "store, stale",
    [
        (["ST x 1"], True),
        (["ST x 1", "ST x 1"], True),
        (["ST x 1", "FLU_L1 WG", "ST x 1"], True),
        (["ST x 1", "FLU_L2 DV", "ST x 1"], True),
        (["ST x 1", "FLU_L2 DV", "FLU_L1 WG", "ST x 1"], True),
        (["ST x 1", "FLU_L1 WG", "FLU_L2 DV", "ST x 1"], False),
    ],
)
def test_a_second_store_takes_old_copies_from_other_l2s(store: list[str], stale: bool) -> None:
    """By Tab. 1 as it is, if the first has come to memory before."""
    publish = [*store, "FLU_L1 WG", "FLU_L2 DV", "ST y 1"]
    program = assembly((HERE, publish), (FAR, ["LD y", "INV_L1 WG", "LD x"]))
    machine = Machine(program, elide=False)
    last = len([each for each in program.instructions if "r" in each.mnemonic.operands]) - 1
    found = events_outcomes(machine)
    assert any(map(has({last - 1: 1, last: 0}), found)) == stale
    assert any(map(has({last - 1: 1, last: 1}), found))


def test_the_explicit_engine_agrees_on_a_second_store() -> None:
    program = assembly(
        (HERE, ["ST x 1", "FLU_L1 WG", "FLU_L2 DV", "ST x 1", "FLU_L1 WG", "ST y 1"]),
        (FAR, ["LD y", "LD x"]),
    )
    machine = Machine(program, elide=False)
    assert ExplicitMachine(machine).search(LIMITS).outcomes == events_outcomes(machine)
