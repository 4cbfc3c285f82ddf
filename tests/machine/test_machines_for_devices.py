"""The machines for several devices: INV_L2, L2s that are coherent, and values that are stored again."""

import pytest
from machine.engines import LIMITS, events_outcomes, has
from machine.stepping import Bench
from programs import assembly

from rspverify.machine.explicit import ExplicitMachine
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


def test_progress_on_coherent_l2s() -> None:
    for code, stuck in ((["LK_rmw SY"], True), (["LK_L2 x"], False)):
        program = assembly((HERE, ["ST x 1", *code]), (FAR, code), machine=COHERENT)
        machine = Machine(program, elide=True)
        assert (find_hang(machine, LIMITS).schedule is not None) == stuck


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
