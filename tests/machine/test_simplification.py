"""Machines with an L2 that is not as good as memory, each for one reason: nothing is left out."""

from __future__ import annotations

import pytest
from machine.any_engine import differences
from machine.own_machines import program, variant

from rspverify.machine.machine import Machine

CLEAN = (
    "each workgroup w, location y: not w.L1.DIRTY[y], each device d, location y: not d.L2.DIRTY[y]"
)
FLUSH = "step FLUSH_L2 of device, location x when L2.DIRTY[x], ready lock[x]"
FETCH = "step FETCH_L2 of device, location x when not L2.DIRTY[x], ready lock[x]"
NOTED = (
    "type cache { data[x] : value DIRTY[x] : bit VALID[x] : bit present[x] : bit fifo : fifo"
    " note[x] : bit }\ninstruction NOTE x do L2.note[x] := true"
)
LOCKED = (
    "type cache { data[x] : value DIRTY[x] : bit VALID[x] : bit present[x] : bit fifo : fifo"
    " door : lock }\ninstruction ENTER when ready L2.door do nothing\n"
    "instruction LEAVE do take L2.door"
)

SHUT = "state { shut : bit of device }\ninstruction SHUT do shut := true"

REASONS = {
    "it has two flushes": (
        "step PAST of device, location x when L2.DIRTY[x] do L2.DIRTY[x] := false",
        ["INC_L2 x 1"],
    ),
    "it has two fetches": (
        "state { first[x] : value of system }\n"
        "step PAST of device, location x when not L2.DIRTY[x] do fetch(L2, x, first[x])",
        ["INC_L2 x 1; LD x"],
    ),
    "an execution may end with it DIRTY": (
        "complete when each workgroup w, location y: not w.L1.DIRTY[y]",
        ["INC_L2 x 1"],
    ),
    "the end wants more of it": (
        f"{NOTED}\ncomplete when {CLEAN}, each device d, location y: not d.L2.note[y]",
        ["NOTE x"],
    ),
    "its flush waits for more": (
        f"{SHUT}\n{FLUSH}, not shut do memory[x] := L2.data[x]; L2.DIRTY[x] := false",
        ["SHUT; INC_L2 x 1"],
    ),
    "its fetch waits for more": (
        f"{SHUT}\n{FETCH}, not shut do fetch(L2, x, memory[x])",
        ["SHUT; LD x"],
    ),
    "its flush does more": (
        f"{FLUSH} do memory[x] := L2.data[x]; L2.DIRTY[x] := false; L2.VALID[x] := false;"
        " each workgroup w in device: w.L1.VALID[x] := false",
        ["ST x 1; FLU_L1 WG; LD y; LD x"],
    ),
    "its fetch takes another value": (
        f"state {{ first[x] : value of system }}\n{FETCH} do fetch(L2, x, first[x])",
        ["INC_L2 x 1; LD x"],
    ),
    "somebody else writes into memory": (
        "instruction PUT r x do memory[x] := r",
        ["LD x; PUT x 1; INV_L1 WG; LD x"],
    ),
    "somebody writes into memory under a condition": (
        "instruction PUT r x do if L1.VALID[x] { memory[x] := r }",
        ["LD x; PUT x 1; INV_L1 WG; LD x"],
    ),
    "somebody else takes what memory has": (
        "instruction GET r x do r := memory[x]",
        ["INC_L2 x 1; GET x"],
    ),
    "somebody takes what memory has under a condition": (
        "step PULL of workgroup, location x when not L1.DIRTY[x]\n"
        " do if not L1.VALID[x] { L1.data[x] := memory[x]; L1.VALID[x] := true }",
        ["INC_L2 x 1; LD x"],
    ),
    "somebody drops what is DIRTY": (
        "instruction CL x do L2.DIRTY[x] := false",
        ["INC_L2 x 1; CL x; LD x"],
    ),
    "what is written is not DIRTY": (
        "instruction PUT r x when not L2.DIRTY[x]\n do L2.data[x] := r; L2.VALID[x] := true",
        ["PUT x 1"],
    ),
    "a condition speaks of it": (
        "instruction LOSE x do if empty L2.fifo { L1.VALID[x] := false }",
        ["ST x 1; LOSE x; LD x"],
    ),
    "somebody drops what is DIRTY under a condition": (
        "instruction CL x do if L1.VALID[x] { L2.DIRTY[x] := false }",
        ["INC_L2 x 1; LD x; CL x"],
    ),
    "somebody wants another bit of it": (
        f"{NOTED}\ninstruction SEE x when L2.note[x] do nothing",
        ["SEE x", "NOTE x"],
    ),
    "an element of its fifo waits for something else": (
        "step DEQMARKER_L2 of device, thread t\n"
        " when oldest L2.fifo is marker of t, each location y: ready lock[y] do dequeue L2.fifo",
        ["LK_L2 x; FLU_L2 DV; LD x"],
    ),
    "an element of its fifo waits until a value is there": (
        "step DEQLOC_L2 of device, location x when oldest L2.fifo is x, L2.VALID[x], not L2.DIRTY[x]"
        " do dequeue L2.fifo\ninstruction EMPTY when empty L2.fifo do nothing",
        ["INC_L2 x 1; EMPTY"],
    ),
    "a step waits until an element is the oldest": (
        "step KICK of device, location x when oldest L2.fifo is x\n"
        " do each workgroup w in device: free w.rmw",
        ["LK_rmw DV; INC_L2 x 1", "INC_L1 x 1"],
    ),
    "a marker stays in its fifo": ("without DEQMARKER_L2", ["FLU_L2 DV; LD x"]),
    "a location stays in its fifo": ("without DEQLOC_L2", ["INC_L2 x 1; FLU_L2 DV; LD x"]),
}


@pytest.mark.parametrize("reason", REASONS)
def test_an_l2_that_is_not_as_good_as_memory(reason: str) -> None:
    text, code = REASONS[reason]
    it = program(variant(text), *code)
    assert not Machine(it).elided
    assert differences(it, 6_000) == {}


def test_an_l2_that_is_as_good_as_memory() -> None:
    for text in ("", "without EVICT_L2", "instruction ZAP x do L2.VALID[x] := false", LOCKED):
        it = program(variant(text), "INC_L2 x 1; FLU_L2 DV", "LD x")
        assert {str(each) for each in Machine(it).elided} == {"L2 d0"}
        assert differences(it, 6_000) == {}
