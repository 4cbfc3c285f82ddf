"""Machines with an L2 that is not as good as memory, each for one reason: nothing is left out."""

from __future__ import annotations

import pytest
from machine.any_engine import differences
from machine.own_machines import program, table, variant

from rspverify.machine.machine import Machine

LOCKED = (
    "type cache { data[x] : value DIRTY[x] : bit VALID[x] : bit present[x] : bit fifo : fifo"
    " door : lock }\ninstruction ENTER when ready L2.door do nothing\n"
    "instruction LEAVE do take L2.door"
)

REASONS = table("no_memory")


@pytest.mark.parametrize("reason", REASONS)
def test_an_l2_that_is_not_as_good_as_memory(reason: str) -> None:
    it = program(variant(REASONS[reason]["machine"]), *REASONS[reason]["code"])
    assert not Machine(it).elided
    assert differences(it, 6_000) == {}


def test_an_l2_that_is_as_good_as_memory() -> None:
    for text in ("", "without EVICT_L2", "instruction ZAP x do L2.VALID[x] := false", LOCKED):
        it = program(variant(text), "INC_L2 x 1; FLU_L2 DV", "LD x")
        assert {str(each) for each in Machine(it).elided} == {"L2 d0"}
        assert differences(it, 6_000) == {}
