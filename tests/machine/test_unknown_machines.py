"""Machines that events does not know, each for one reason: it says which, and the others are right."""

from __future__ import annotations

import pytest
from machine.any_engine import differences
from machine.own_machines import program, variant
from pytest import MonkeyPatch

from rspverify.architecture.architecture import Architecture
from rspverify.machine.event import Event
from rspverify.machine.event_order import EventOrder
from rspverify.machine.machine import unbounded
from rspverify.machine.rules import Bit
from rspverify.smt.term import TRUE, Term, any_of

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

NOTE = "state { note[x] : bit of workgroup }\ninstruction NOTE x do note[x] := true\n"

REASONS = {
    "what INV_L1 DV changes depends on the state": (
        "instruction INV_L1 s of WG, DV, SY\n do each workgroup w in s, location y:"
        " if not w.L1.DIRTY[y] { w.L1.VALID[y] := false }",
        ["ST x 1; INV_L1 WG; LD x", "ST x 2"],
    ),
    "FLUSH_L1 may matter: what it changes depends on the state": (
        "step FLUSH_L1 of workgroup, location x when L1.DIRTY[x]\n"
        " do if L1.VALID[x] { memory[x] := L1.data[x] }; L1.DIRTY[x] := false",
        ["ST x 1; INV_L1 WG", "LD x"],
    ),
    "REVIVE x makes only one of data and VALID new": (
        "instruction REVIVE x do if not L1.DIRTY[x] { L1.VALID[x] := true }",
        ["ST x 1; INV_L1 WG; REVIVE x; LD x", "ST x 2"],
    ),
    "EVICT_L1 may matter: it needs no bit that it takes away": (
        "step EVICT_L1 of workgroup, location x when L1.VALID[x]\n do L1.DIRTY[x] := false",
        ["ST x 1; LD x", "LD x"],
    ),
    "ODD may matter: it also waits until the bit that it takes away is false": (
        "# no step FLUSH_L1\nwithout FLUSH_L1\n"
        "step ODD of workgroup, location x when L1.DIRTY[x], not L1.DIRTY[x]\n"
        " do memory[x] := L1.data[x]; L1.DIRTY[x] := false\n"
        "# complete when anything holds\ncomplete when each workgroup w: empty w.L1.fifo",
        ["ST x 1", "LD x"],
    ),
    "FORGET may matter: it needs no bit that it takes away": (
        f"{NOTE}step FORGET of workgroup, location x when L1.VALID[x] do note[x] := false\n"
        "complete when each workgroup w, location y: not w.note[y],"
        " each workgroup w, location y: not w.L1.DIRTY[y]",
        ["NOTE x; LD x", "ST x 1"],
    ),
    "SPILL may matter: it needs no bit that it takes away": (
        "state { full[x] : bit of workgroup = true }\n"
        "step SPILL of workgroup, location x when full[x] do full[x] := false; free rmw",
        ["LK_rmw DV", "INC_L1 x 1"],
    ),
    "FETCH_L1 may matter: FETCH_L1 waits until VALID is false": (
        "step FETCH_L1 of workgroup, location x when clean(L1, x), not L1.VALID[x]\n"
        " do fetch(L1, x, memory[x])",
        ["ST x 1; LD x", "LD x; LD x"],
    ),
    "FETCH_L1 may matter: ST r x makes only one of data and VALID new": (
        "instruction ST r x do L1.data[x] := r; L1.DIRTY[x] := true",
        ["ST x 1; LD x", "LD x"],
    ),
    "FETCH_L1 may matter: FLUSH_L1 x takes data without wanting it VALID": (
        "step FETCH_L1 of workgroup, location x when ready lock[x] do fetch(L1, x, memory[x])",
        ["ST x 1; LD x", "LD x"],
    ),
    "FETCH_L1 may matter: ST r x makes only one of data and note new": (
        f"{NOTE}step FETCH_L1 of workgroup, location x when clean(L1, x)\n"
        " do fetch(L1, x, memory[x]); note[x] := true\n"
        "instruction SEE x when note[x] do nothing",
        ["SEE x; LD x", "ST x 1"],
    ),
    "LD r x takes data without wanting it VALID": (
        "instruction LD r x do r := L1.data[x]",
        ["ST x 1; INV_L1 WG; LD x", "LD x"],
    ),
    "FLUSH_L1 x takes data without wanting it VALID": (
        "instruction UP x when L1.VALID[x] do L1.DIRTY[x] := true",
        ["LD x; UP x; LD x", "ST x 1"],
    ),
    "DEQLOC_L1 may matter: an element waits there until a value counts": (
        "step DEQLOC_L1 of workgroup, location x when oldest L1.fifo is x, L1.VALID[x]\n"
        " do dequeue L1.fifo",
        ["ST x 1; INV_L1 WG; FLU_L1 WG; LD x"],
    ),
    "FLUSH_L1 may matter: it does more than to take an element out of a fifo": (
        "step FLUSH_L1 of workgroup, location x when L1.DIRTY[x], oldest L1.fifo is x\n"
        " do memory[x] := L1.data[x]; L1.DIRTY[x] := false",
        ["ST x 1; ST y 1", "LD x"],
    ),
    "FETCH_L1 may matter: FLUSH_L1 x takes data without wanting it VALID: DIRTY elsewhere": (
        "state { due[x] : bit of workgroup }\n"
        "instruction ST r x do L1.data[x] := r; L1.VALID[x] := true; due[x] := true\n"
        "step FLUSH_L1 of workgroup, location x when due[x]\n"
        " do due[x] := false; memory[x] := L1.data[x]\n"
        "step FETCH_L1 of workgroup, location x when not due[x] do fetch(L1, x, memory[x])\n"
        "complete when each workgroup w, location y: not w.due[y]",
        ["ST x 1; LD x", "LD x"],
    ),
    "enters a fifo twice": (
        "state { queue : fifo of thread }\ninstruction WAIT\n"
        " do enqueue self in queue; enqueue self in queue\n"
        " later GO when oldest queue is self do dequeue queue\n"
        "instruction SEE when empty queue do nothing",
        ["WAIT; ST x 1", "LD x"],
    ),
    "puts what may be there already into queue": (
        "state { queue : fifo of thread  once : pool of thread }\n"
        "instruction WAIT do enqueue self in queue; add self to once\n"
        " later AGAIN when self in once do remove self from once; enqueue self in queue\n"
        " later GO when oldest queue is self do dequeue queue\n"
        "instruction SEE when empty queue do nothing",
        ["WAIT; ST x 1", "LD x"],
    ),
    "BOTH may matter: it clears several bits that it needs": (
        "step BOTH of workgroup, location x when L1.DIRTY[x], L1.VALID[x]\n"
        " do memory[x] := L1.data[x]; L1.DIRTY[x] := false; L1.VALID[x] := false",
        ["ST x 1; LD x", "LD x"],
    ),
    "no step takes FLUSH(P0) out of L1 d0 w0": (
        "without DEQMARKER_L1",
        ["ST x 1; FLU_L1 WG", "LD x"],
    ),
    "no step takes x out of L1 d0 w0": ("without DEQLOC_L1", ["ST x 1; FLU_L1 WG; LD x", "LD x"]),
    "DEQMARKER_L1 waits for more than its marker's turn": (
        "step DEQMARKER_L1 of workgroup, thread t\n"
        " when oldest L1.fifo is marker of t, each location y: ready lock[y] do dequeue L1.fifo",
        ["FLU_L1 WG; LD x", "LK_L2 x"],
    ),
    "what its executions end with is more than that bits are cleared": (
        "complete when each workgroup w, location y: not w.L1.DIRTY[y] or w.L1.VALID[y]",
        ["ST x 1; INV_L1 WG", "LD x"],
    ),
    "waits for elements of a fifo that are no markers": (
        "instruction EMPTY when empty L1.fifo do nothing",
        ["ST x 1; EMPTY; LD x", "LD x"],
    ),
    "memory may be made of what it was before": (
        f"{NOTE}state {{ old[x] : value of system }}\n"
        "step BACK of workgroup, location x when note[x]\n"
        " do note[x] := false; memory[x] := old[x]; old[x] := memory[x]",
        ["ST x 1; NOTE x", "NOTE x"],
    ),
    "FETCH_L1 may happen again by what it does itself": (
        "step FETCH_L1 of workgroup, location x, location y when clean(L1, x), L1.VALID[y]\n"
        " do fetch(L1, x, memory[x])",
        ["ST x 1; LD y", "LD x"],
    ),
    "FLUSH_L1 may happen again by what it does itself": (
        "step SHARE of workgroup, location x, other workgroup w when L1.DIRTY[x]\n"
        " do w.L1.data[x] := L1.data[x]; w.L1.DIRTY[x] := true; w.L1.VALID[x] := true;"
        " L1.DIRTY[x] := false",
        ["ST x 1", ""],
    ),
}


def one_level(items: str) -> Architecture:
    """The paper's machine without L2s, with these items otherwise."""
    own = [it for it in ONE_LEVEL if " ".join(it.split()[:2]) not in items]
    return variant("\n".join([*own, items]))


@pytest.mark.parametrize("reason", REASONS)
def test_a_machine_that_events_does_not_know(reason: str) -> None:
    items, code = REASONS[reason]
    its = one_level(items)
    assert reason.removesuffix(": DIRTY elsewhere") in str(unbounded(its))
    assert differences(program(its, *code), 6_000) == {}


def bits_stay_true(patch: MonkeyPatch) -> None:
    """A bit that no step clears is true once it has been."""

    def is_set(self: EventOrder, bit: Bit, at: Event | None, *, at_first: bool) -> Term:
        setting = self._possible.setting.get(bit, ())
        found = [self.happens(it) & self.before(it, at) for it in setting if it is not at]
        return TRUE if at_first else any_of(found)

    patch.setattr(EventOrder, "is_set", is_set)


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
