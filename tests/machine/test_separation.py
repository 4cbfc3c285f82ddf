"""Whether locations leave no trace at each other: told of machines, and not of planted ones."""

from __future__ import annotations

from functools import reduce
from pathlib import Path

import pytest

from rspverify.architecture import MACHINES, Architecture, machine_named
from rspverify.machine.separation import locations_are_apart


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


@pytest.mark.parametrize(
    "text",
    [
        # An invalidation that nothing else can do.
        "without EVICT",
        # What is done otherwise where a queue of all locations is empty.
        """instruction global_load_dword r x
  when x is global
  do   enqueue self in lds; add self to loads
  later LOAD
    when oldest lds is self
    do   dequeue lds; remove self from loads; r := memory[x]
  later LAST
    when oldest lds is self
    do   dequeue lds; remove self from loads; if empty lds { L0.VALID[x] := false }; r := memory[x]""",
        # A step that takes out of a queue of all locations what is another's.
        """instruction global_load_dword r x
  when x is global
  do   enqueue self in lds; add self to loads
  later LOAD
    when self in loads
    do   dequeue lds; remove self from loads; r := memory[x]""",
        # What accesses of local memory leave behind for others.
        """state { JAM : bit of workgroup }
instruction ds_atomic r x
  when x is local
  do   issue_lds(); JAM := true
  later LDS
    when oldest lds is self
    do   performed_lds(); r := memory[x]; memory[x] := f(r)
instruction ds_read_b32 r x
  when x is local
  do   if JAM { r := memory[x] }; if not JAM { issue_lds() }
  later LDS
    when oldest lds is self
    do   performed_lds(); r := memory[x]""",
        # The same of global memory, where that is not the first that the file names.
        """without ds_read_b32, ds_write_b32, ds_atomic, ds_cmpst
spaces local, global
state { JAM : bit of workgroup }
instruction global_load_dword r x
  when x is global
  do   if JAM { r := memory[x] }; if not JAM { issue_load(x) }
  later LOAD
    when oldest queue[x] is self
    do   loaded(x); r := memory[x]; JAM := true""",
        # A store that drops the lines of all.
        """instruction global_store_dword x r
  when x is global
  do   issue_store(x); each global location y: L0.VALID[y] := false
  later STORE
    when oldest queue[x] is self
    do   stored(x); memory[x] := r""",
        # A step that looks at more than one location.
        """step SWAP of cu
  when each global location y: L0.VALID[y]
  do   each global location y: L0.VALID[y] := false""",
        # A write-back that is over as soon as it is done with one line, whichever.
        """instruction buffer_wbinvl1
  do   add self to stores
  later LINE for global location y
    when self in stores, not L0.VALID[y]
    do   remove self from stores""",
        # One that does with a line what nothing else can do.
        """state { lines[x] : pool of thread }
instruction buffer_wbinvl1
  do   each global location y: add self to lines[y]
  later LINE for global location y
    when self in lines[y], not L0.VALID[y]
    do   remove self from lines[y]; memory[y] := L0.data[y]""",
        # What is done otherwise where another location is waited for.
        """instruction global_store_dword x r
  when x is global
  do   issue_store(x)
  later STORE
    when oldest queue[x] is self
    do   stored(x); memory[x] := r; if empty loads { L0.VALID[x] := false }""",
        # An access with a step for each location.
        """instruction global_store_dword x r
  when x is global
  do   issue_store(x)
  later STORE for global location y
    when oldest queue[x] is self
    do   stored(x); memory[x] := r; L0.VALID[y] := false""",
    ],
)
def test_planted(text: str, tmp_path: Path) -> None:
    assert not locations_are_apart(planted(text, tmp_path))
