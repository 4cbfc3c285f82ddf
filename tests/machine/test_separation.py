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


@pytest.mark.parametrize(
    "planted",
    [
        # An invalidation that nothing else can do.
        "without EVICT",
        # One queue for all locations.
        """instruction global_load_dword r x
  when x is global
  do   enqueue self in lds; add self to loads
  later LOAD
    when oldest lds is self
    do   dequeue lds; remove self from loads; r := memory[x]""",
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
    when not L0.VALID[y]
    do   remove self from stores""",
        # One that does with a line what nothing else can do.
        """state { lines[x] : pool of thread }
instruction buffer_wbinvl1
  do   each global location y: add self to lines[y]
  later LINE for global location y
    when not L0.VALID[y]
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
def test_planted(planted: str, tmp_path: Path) -> None:
    place = tmp_path / "planted.machine"
    head = 'machine planted "one thing else"\ninclude amdgpu-gfx9\n'
    place.write_text(f"{head}{planted}\n")
    assert not locations_are_apart(machine_named(str(place)))
