"""The acts of instructions, inferred from effects: waits, write-backs, invalidations."""

from __future__ import annotations

from pathlib import Path

import pytest

from rspverify.architecture.acts import (
    Deed,
    acts,
    completes,
    does_the_same,
    invalidations,
    place_of,
    waits,
    write_backs,
)
from rspverify.architecture.architecture import Architecture
from rspverify.architecture.catalogue import read_machine
from rspverify.architecture.machines import MACHINES
from rspverify.architecture.reader import read_architecture
from rspverify.machine.reductions import freeing
from rspverify.source import Source

GFX10 = MACHINES["amdgpu-gfx10"]


def told(name: str, machine: Architecture = GFX10) -> set[tuple[Deed, str, str | None, str | None]]:
    found = acts(machine.instructions[name])
    return {(it.deed, str(it.kind), it.reach, it.space if it.every else "x") for it in found}


@pytest.mark.parametrize(
    ("name", "counter"),
    [
        ("s_waitcnt vmcnt(0)", "loads"),
        ("s_waitcnt_vscnt null 0x0", "stores"),
        ("s_waitcnt lgkmcnt(0)", "at_lds"),
    ],
)
def test_a_wait_is_for_a_counter_of_the_thread(name: str, counter: str) -> None:
    assert (Deed.DRAIN, counter, "thread", "x") in told(name)
    assert {deed for deed, *_ in told(name)} == {Deed.DRAIN}


def test_an_invalidation_is_of_one_cache_and_one_memory() -> None:
    assert told("buffer_gl0_inv") == {(Deed.LOSE, "L0.VALID[x]", "cu", "global")}
    assert told("buffer_gl1_inv") == {(Deed.LOSE, "gl1.VALID[x]", "array", "global")}


def test_what_does_all_that_another_does() -> None:
    (whole,) = acts(MACHINES["rsp"].instructions["INV_L1"])
    (one,) = acts(GFX10.instructions["buffer_gl0_inv"])
    other = acts(GFX10.instructions["s_waitcnt lgkmcnt(0)"])[0]
    assert one.covers(one) and whole.covers(whole)
    assert not one.covers(other) and not one.covers(whole)


NO_EVICTION = """
machine careful "nothing is lost by itself"
include amdgpu-gfx9
without EVICT
"""


def test_what_may_be_lost_by_itself_frees_nobody_when_it_is_taken_away() -> None:
    """An execution with the invalidation is one without it, where EVICT takes the lines away."""
    assert freeing(MACHINES["amdgpu-gfx9"]) is None
    careful = read_architecture(Source("careful.machine", NO_EVICTION.lstrip()))
    assert "makes VALID false, which something waits for" in str(freeing(careful))


# ---- Which instructions empty caches and wait, and in which order ----------------------------------


def names(machine: Architecture) -> tuple[list[str], list[str]]:
    return [it.name for it in write_backs(machine)], [it.name for it in invalidations(machine)]


@pytest.mark.parametrize(
    ("machine", "out", "lost"),
    [
        ("rsp-inv-l2", ["FLU_L1", "FLU_L2"], ["INV_L2", "INV_L1"]),
        ("quickrelease", ["FLU_L1", "FLU_L2"], []),
        ("amdgpu-gfx10", [], ["buffer_gl1_inv", "buffer_gl0_inv"]),
        ("amdgpu-gfx942", ["buffer_wbl2 sc1"], ["buffer_inv sc1"]),
        ("amdgpu-gfx90a", ["buffer_wbl2"], ["buffer_invl2", "buffer_wbinvl1"]),
        ("amdgpu-gfx1250", ["global_wb scope:SCOPE_SYS"], ["global_inv scope:SCOPE_DEV"]),
    ],
)
def test_out_from_the_nearest_and_invalid_from_the_farthest(
    machine: str, out: list[str], lost: list[str]
) -> None:
    assert names(MACHINES[machine]) == (out, lost)


def test_what_waits_and_for_what() -> None:
    machine = MACHINES["amdgpu-gfx1250"]
    loads, stores, local = waits(machine)
    (out,), (lost,) = write_backs(machine), invalidations(machine)
    assert (loads.name, stores.name, local.name) == (
        "s_wait_loadcnt 0x0",
        "s_wait_storecnt 0x0",
        "s_wait_dscnt 0x0",
    )
    assert [completes(it, out) for it in (loads, stores, local)] == [False, True, False]
    assert [completes(it, lost) for it in (loads, stores, local)] == [True, False, False]


def test_of_two_names_for_one_there_is_one() -> None:
    known = MACHINES["amdgpu-gfx942"].instructions
    assert does_the_same(known["buffer_inv sc1"], known["buffer_inv sc0 sc1"])
    assert not does_the_same(known["buffer_inv sc1"], known["buffer_wbl2 sc1"])
    assert place_of(known["buffer_inv sc1"], MACHINES["amdgpu-gfx942"]) == "die"


PLANTED = Path(__file__).with_name("planted.machine")


def test_what_is_nearly_so() -> None:
    planted = read_architecture(read_machine(PLANTED))
    out, lost = names(planted)
    assert sorted(out) == ["BOTH_L1", "FLU_L1", "FLU_L2"] and out[-1] == "FLU_L2"
    assert sorted(lost) == ["BOTH_L1", "INV_L1"]
    assert [it.name for it in waits(planted)] == ["CLEAN_L1"]
