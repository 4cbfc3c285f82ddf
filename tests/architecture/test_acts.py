"""What instructions are for, told from their effects: waits, and invalidations of one memory."""

from __future__ import annotations

import pytest

from rspverify.architecture import MACHINES, Architecture, Deed, acts
from rspverify.architecture.reader import read_architecture
from rspverify.machine import freeing
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
