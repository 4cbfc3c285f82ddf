"""Machines that events does not know, each for one reason: it says which, and the others are right."""

from __future__ import annotations

import pytest
from machine.any_engine import differences
from machine.own_machines import program, table, variant
from pytest import MonkeyPatch

from rspverify.architecture.architecture import Architecture
from rspverify.machine.event import Event, EventOrder
from rspverify.machine.machine import unbounded
from rspverify.machine.rules import Bit
from rspverify.smt.term import Term, any_of

ONE_LEVEL = (
    "without L2, FLUSH_L2, FETCH_L2, EVICT_L2, DEQLOC_L2, DEQMARKER_L2, INC_L2, RMW_L2, FLU_L2",
    "complete when each workgroup w, location y: not w.L1.DIRTY[y]",
    "always when each workgroup w: no marker in w.L1.fifo",
    "step FLUSH_L1 of workgroup, location x when L1.DIRTY[x], ready lock[x]\n"
    " do memory[x] := L1.data[x]; L1.DIRTY[x] := false",
    "step FETCH_L1 of workgroup, location x when clean(L1, x), ready lock[x]\n"
    " do fetch(L1, x, memory[x])",
)
"""The paper's machine without L2s."""

REASONS = table("unknown_machines")


def one_level(items: str) -> Architecture:
    """The paper's machine without L2s, with these items otherwise."""
    own = [it for it in ONE_LEVEL if " ".join(it.split()[:2]) not in items]
    return variant("\n".join([*own, items]))


@pytest.mark.parametrize("reason", REASONS)
def test_a_machine_that_events_does_not_know(reason: str) -> None:
    its = one_level(REASONS[reason]["machine"])
    assert reason.removesuffix(": DIRTY elsewhere") in str(unbounded(its))
    assert differences(program(its, *REASONS[reason]["code"]), 6_000) == {}


def bits_stay_true(patch: MonkeyPatch) -> None:
    """A bit that no step clears is true once it has been."""

    original = EventOrder.has_again

    def has_again(self: EventOrder, bit: Bit, value: bool, at: Event | None) -> Term:
        setting = self._possible.setting.get(bit, ())
        if value or any((each, bit) in self._possible.flushes for each in setting):
            return original(self, bit, value, at)
        found = [self.happens(it) & self.before(it, at) for it in setting if it is not at]
        return ~any_of(found)

    patch.setattr(EventOrder, "has_again", has_again)


def test_it_knows_values_that_nobody_refreshes(monkeypatch: MonkeyPatch) -> None:
    """Whether they count is then a bit like any other."""
    its = one_level("# no step FETCH_L1\nwithout FETCH_L1\ninstruction LD r x do r := L1.data[x]")
    assert unbounded(one_level("")) is None and unbounded(its) is None
    for code in (["ST x 1; INV_L1 WG; LD x", "LD x"], ["INC_L1 x 1; LD x", "ST x 2; LD x"]):
        assert differences(program(its, *code), 6_000) == {}
    it = program(its, "ST x 1; INV_L1 WG; INC_L1 x 1")
    assert differences(it) == {}
    bits_stay_true(monkeypatch)
    assert "events" in (differences(it) or {})
