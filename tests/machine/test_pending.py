"""Reads that complete later, held to an interpreter that shares no code with our machine."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from machine.engines import LIMITS, Outcomes, events_outcomes, searched
from machine.own_machines import program, variant
from machine.planted import keep_nothing
from oracle.any_machine import outcomes
from pytest import MonkeyPatch

from rspverify.assembly.program import AssemblyProgram
from rspverify.machine.explicit import ExplicitMachine
from rspverify.machine.machine import Machine
from rspverify.machine.pending import Pending
from rspverify.machine.rules import StepRule
from rspverify.machine.state_graph import find_hang

LATER = """without L2, FLUSH_L2, FETCH_L2, EVICT_L2, DEQLOC_L2, DEQMARKER_L2, INC_L2, RMW_L2, FLU_L2
state { pool : pool of thread }
complete when each workgroup w, location y: not w.L1.DIRTY[y]
always when each workgroup w: no marker in w.L1.fifo
step FLUSH_L1 of workgroup, location x when L1.DIRTY[x]
 do memory[x] := L1.data[x]; L1.DIRTY[x] := false
step FETCH_L1 of workgroup, location x when clean(L1, x) do fetch(L1, x, memory[x])
instruction LD r x
 do add self to pool
 later LOAD when self in pool, L1.VALID[x] do remove self from pool; r := L1.data[x]
"""
"""Loads complete later; that they do is no part of what an execution ends with."""

DECIDES = ("LD x; ST y 1 if 0=1", "LD y; ST x 1 if 2=1")
WRITTEN = ("LD x; ST y r0", "LD y; ST x 1 if 2=1")
OPEN = ("ST x 1; LD x", "")


def ways(it: AssemblyProgram) -> dict[str, Outcomes]:
    """The outcomes by search and by events."""
    machine = Machine(it, elide=False)
    return {"explicit": searched(machine), "events": events_outcomes(machine)}


def right(it: AssemblyProgram) -> bool:
    """Whether both find what the file says."""
    expected = outcomes(it, 4_000)
    assert expected
    return all({(one.reads, one.memory) for one in way} == expected for way in ways(it).values())


@pytest.mark.parametrize("code", [DECIDES, WRITTEN, OPEN])
def test_a_value_is_known_when_it_is_there(code: tuple[str, str]) -> None:
    assert right(program(variant(LATER), *code))


def nobody_waits_for_what_decides(patch: MonkeyPatch) -> None:
    """Whether it is an instruction's turn may be told before the value is there."""
    original = Pending.__init__

    def made(self: Pending, *args: Any) -> None:
        original(self, *args)
        self._turn.clear()

    patch.setattr(Pending, "__init__", made)


def nobody_waits_for_what_is_written(patch: MonkeyPatch) -> None:
    """A value may be written before it is there."""
    patch.setattr(Pending, "_written", lambda self, rule: [])


def reads_may_stay_open(patch: MonkeyPatch) -> None:
    """An execution may end before a read is complete."""
    patch.setattr(Pending, "ending", lambda self, guards: tuple(guards))


@pytest.mark.parametrize(
    "plant, code",
    [
        (nobody_waits_for_what_decides, DECIDES),
        (nobody_waits_for_what_is_written, WRITTEN),
        (reads_may_stay_open, OPEN),
    ],
)
def test_a_planted_mistake_is_noticed(
    plant: Callable[[MonkeyPatch], None], code: tuple[str, str], monkeypatch: MonkeyPatch
) -> None:
    plant(monkeypatch)
    it = program(variant(LATER), *code)
    expected = outcomes(it, 4_000)
    found = events_outcomes(Machine(it, elide=False))
    assert {(one.reads, one.memory) for one in found} != expected


OTHERS = LATER[: LATER.index("instruction LD")]

STORES_LEAVE = f"""{OTHERS}state {{ queue : fifo of thread }}
instruction ST x r
 do L1.data[x] := r; L1.VALID[x] := true; L1.DIRTY[x] := true; enqueue self in queue
 later OUT when oldest queue is self do dequeue queue
instruction LD r x
 do enqueue self in queue
 later LOAD when oldest queue is self, L1.VALID[x] do dequeue queue; r := L1.data[x]
"""

LOADS_LEAVE = f"""{OTHERS}state {{ queue : fifo of workgroup }}
instruction LD r x
 do add self to pool; enqueue self in queue
 later LOAD for workgroup w when self in pool, oldest w.queue is self, L1.VALID[x]
 do remove self from pool; r := L1.data[x]
 later OUT when oldest queue is self do dequeue queue
"""


def leaving_counts_for_nothing(patch: MonkeyPatch) -> None:
    """A step that lets an instruction leave, and does nothing else, is one that only takes away."""
    patch.setattr(StepRule, "turns", ())


@pytest.mark.parametrize(
    ("its", "code"),
    [
        (STORES_LEAVE, ("ST x 1; LD x", "LD x")),
        (STORES_LEAVE, ("LD x; ST x 2; LD x", "")),
        (LOADS_LEAVE, ("LD x; LD x", "ST x 1; LD x")),
    ],
)
def test_who_leaves_lets_the_next_have_its_turn(
    its: str, code: tuple[str, str], monkeypatch: MonkeyPatch
) -> None:
    assert right(program(variant(its), *code))
    keep_nothing(monkeypatch)
    leaving_counts_for_nothing(monkeypatch)
    assert not right(program(variant(its), *code))


LEAVES_EVERYWHERE = f"""{OTHERS}state {{ others : pool of workgroup }}
instruction LD r x
 do add self to pool; add self to others
 later LOAD when self in pool, L1.VALID[x]
 do remove self from pool; each workgroup w: remove self from w.others; r := L1.data[x]
"""


@pytest.mark.parametrize("code", [("LD x", "ST x 1"), ("LD x; LD x", "ST x 1; LD x")])
def test_what_it_never_entered_is_not_left(code: tuple[str, str]) -> None:
    """A pool of the same kind, at another place; also where nothing is left out."""
    it = program(variant(LEAVES_EVERYWHERE), *code)
    assert right(it)
    letter = ExplicitMachine(Machine(it, elide=False, evict=True), reduced=False)
    assert letter.search(LIMITS).outcomes == searched(Machine(it))
    assert find_hang(Machine(it), LIMITS).schedule is None
