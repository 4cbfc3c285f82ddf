"""Which places it matters to share, held to every placement."""

from __future__ import annotations

import random

import pytest
from machine.any_program import any_program
from machine.engines import Outcomes, events_outcomes
from machine.own_machines import program

from rspverify.architecture import MACHINES, Architecture
from rspverify.architecture.reader import read_architecture
from rspverify.assembly import AssemblyProgram
from rspverify.machine import Machine
from rspverify.machine.placements import placements
from rspverify.machine.sharing import placed, shared_with_effect
from rspverify.records import replace
from rspverify.source import Source

COPY = """machine copies
places thread < workgroup < any cu < device < system
type cache { data[x] : value  VALID[x] : bit }
state { memory[x] : value of system  C : cache of cu }
final memory
instruction LD r x when C.VALID[x] do r := C.data[x]
instruction ST r x do memory[x] := r; C.VALID[x] := false
instruction INV do each location y: C.VALID[y] := false
step FILL of cu, location x do C.data[x] := memory[x]; C.VALID[x] := true
step EVICT of cu, location x when C.VALID[x] do C.VALID[x] := false
"""

MATTERS = {
    "a store is seen by those who share": ("C.VALID[x] := false\n", "C.data[x] := r\n"),
    "it is never lost": ("step EVICT of cu, location x when C.VALID[x] do C.VALID[x] := false", ""),
    "others are spoken of": (
        "do each location y: C.VALID[y]",
        "do each cu c outside cu, location y: c.C.VALID[y]",
    ),
    "it is filled where it is not": (
        "location x do C.data",
        "location x when not C.VALID[x] do C.data",
    ),
    "a lock": ("C : cache of cu }", "C : cache of cu  lock : lock of cu }"),
    "an instruction fills it": (
        "instruction INV do each location y: C.VALID[y] := false",
        "instruction INV do each location y { C.data[y] := memory[y]; C.VALID[y] := true }",
    ),
}


QUEUES = """machine queues
places thread < workgroup < any port < device < system
state { memory[x] : value of system  queue[x] : fifo of port  count : pool of port
        go[x] : bit of system = true }
final memory
complete when each port p, location y: empty p.queue[y]
instruction LD r x do enqueue self in queue[x]; add self to count
  later LOAD when oldest queue[x] is self
  do dequeue queue[x]; remove self from count; r := memory[x]
instruction ST r x do enqueue self in queue[x]; add self to count
  later STORE when oldest queue[x] is self
  do dequeue queue[x]; remove self from count; memory[x] := r
instruction WAIT when empty count
step TICK of system, location x when go[x] do go[x] := false
"""

HELD = {
    "another place is waited for": ("when empty count", "when each port p: empty p.count"),
    "a step is that of a place": ("step TICK of system", "step TICK of port"),
    "what is done depends on who is there": (
        "instruction WAIT when empty count",
        "instruction WAIT do each location y: if empty count { go[y] := true }",
    ),
    "something leaves out of turn": (
        "self from count; memory[x] := r",
        "self from count; memory[x] := r later LATE when self in count do dequeue queue[x]",
    ),
}


def machine(old: str = "", new: str = "", text: str = COPY) -> Architecture:
    assert old in text
    return read_architecture(Source("m", text.replace(old, new, 1) if old else text))


def test_copies_that_may_be_lost_may_be_each_ones_own() -> None:
    assert shared_with_effect(machine()) == ()


@pytest.mark.parametrize("why", MATTERS)
def test_where_it_matters(why: str) -> None:
    assert shared_with_effect(machine(*MATTERS[why])) == ("cu",)


@pytest.mark.parametrize("why", HELD)
def test_where_queues_matter(why: str) -> None:
    assert shared_with_effect(machine(text=QUEUES)) == ()
    assert shared_with_effect(machine(*HELD[why], QUEUES)) == ("port",)


def test_what_is_lost_where_it_is_not_seen_to_matter() -> None:
    """Two threads that share a store: without their placement an outcome is missing."""
    its = machine("memory[x] := r; C.VALID[x] := false", "C.data[x] := r; C.VALID[x] := true")
    made = program(its, "ST x 1", "LD x")
    assert outcomes(made, None) != outcomes(made, ())


def outcomes(made: AssemblyProgram, shared: tuple[str, ...] | None) -> Outcomes:
    found: Outcomes = frozenset()
    for it in placements(made.machine.kinds, made.threads, shared):
        found |= events_outcomes(Machine(replace(made, placement=it)))
    return found


@pytest.mark.parametrize("text", [COPY, QUEUES])
def test_every_placement_has_no_more(text: str) -> None:
    its, known = machine(text=text), 0
    for number in range(12):
        made = any_program(random.Random(f"sharing {number}"), its, 2)
        every = outcomes(made, None)
        assert every == outcomes(made, shared_with_effect(its))
        known += len(placements(its.kinds, made.threads)) > len(placed(Machine(made)))
    assert known > 2


READ = "global_load_dword x"


@pytest.mark.parametrize(
    "code",
    [
        (
            "global_store_dword x 1; global_store_dword y 1",
            "global_load_dword y; global_load_dword x",
        ),
        (f"{READ}; buffer_gl0_inv; {READ}", "global_store_dword x 1"),
        (f"{READ}; buffer_gl1_inv; buffer_gl0_inv; {READ}", "global_atomic x 1"),
    ],
)
@pytest.mark.parametrize("name", ["amdgpu-gfx10", "amdgpu-gfx10-cu"])
def test_every_placement_of_a_processor_has_no_more(name: str, code: tuple[str, str]) -> None:
    its = MACHINES[name]
    made = program(its, *code)
    assert len(placements(its.kinds, made.threads)) > len(placed(Machine(made)))
    assert outcomes(made, None) == outcomes(made, shared_with_effect(its))
