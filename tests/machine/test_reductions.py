"""Facts about all executions of a machine: told of machines, and not of planted ones."""

from __future__ import annotations

import random
from functools import reduce
from pathlib import Path

import pytest
from machine.any_program import any_program
from machine.engines import Outcomes, events_outcomes
from machine.own_machines import FOLDER, program, table

from rspverify.architecture.architecture import Architecture
from rspverify.architecture.machines import MACHINES, machine_named
from rspverify.architecture.reader import read_architecture
from rspverify.assembly.program import AssemblyProgram
from rspverify.machine.machine import Machine
from rspverify.machine.placements import placements
from rspverify.machine.reductions import idle, locations_are_apart, placed, shared_with_effect
from rspverify.records import replace
from rspverify.source import Source

# ---- Locations that leave no trace at each other -------------------------------------------------


@pytest.mark.parametrize(
    "name", ["amdgpu-gfx9", "amdgpu-gfx10-cu", "amdgpu-gfx942", "amdgpu-gfx1250"]
)
def test_locations_are_apart(name: str) -> None:
    """Also where an invalidation or a write-back goes from line to line."""
    machine = MACHINES[name]
    assert locations_are_apart(machine)
    switches = [it.name for it in machine.switches]
    assert locations_are_apart(reduce(Architecture.switched, switches, machine))


@pytest.mark.parametrize("name", ["rsp", "quickrelease", "ptx-weak", "ptx-strong"])
def test_of_others_it_is_not_said(name: str) -> None:
    """A flush marker stands behind what others have stored; a fence of PTX drains all queues."""
    assert not locations_are_apart(MACHINES[name])


def planted(text: str, folder: Path) -> Architecture:
    """GFX9 with something else."""
    place = folder / "planted.machine"
    place.write_text(f'machine planted "one thing else"\ninclude amdgpu-gfx9\n{text}\n')
    return machine_named(str(place))


def test_one_queue_for_all_locations(tmp_path: Path) -> None:
    """An access that only waits for its turn keeps nobody from his: without it they go on earlier."""
    queue = """instruction global_load_dword r x
  when x is global
  do   enqueue self in lds; add self to loads
  later LOAD
    when oldest lds is self
    do   dequeue lds; remove self from loads; r := memory[x]"""
    assert locations_are_apart(planted(queue, tmp_path))


NOT_APART = table("not_apart")


@pytest.mark.parametrize("reason", NOT_APART)
def test_locations_that_are_not_apart(reason: str, tmp_path: Path) -> None:
    assert not locations_are_apart(planted(NOT_APART[reason], tmp_path))


# ---- Instructions that do nothing where all memory is global -------------------------------------


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("rsp", set()),
        ("amdgpu-gfx9", {"s_waitcnt lgkmcnt(0)"}),
        ("amdgpu-gfx1250", {"s_wait_dscnt 0x0", "s_wait_xcnt 0x0"}),
    ],
)
def test_only_waits_for_local_memory_do_nothing(name: str, expected: set[str]) -> None:
    assert {it for it, _ in idle(MACHINES[name], "global")} == expected


@pytest.mark.parametrize(
    "text",
    ["when empty at_lds, empty loads", "when empty at_lds do invalidate_L0()"],
)
def test_what_waits_for_more_or_does_more(text: str, tmp_path: Path) -> None:
    its = planted(f'instruction "s_waitcnt lgkmcnt(0)" {text}', tmp_path)
    assert not idle(its, "global")


# ---- Which places it matters to share, held to every placement -----------------------------------

COPY = FOLDER.joinpath("copies.machine").read_text()
QUEUES = FOLDER.joinpath("queues.machine").read_text()

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
