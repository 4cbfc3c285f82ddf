"""What an instruction does, whatever else a program has."""

from __future__ import annotations

import pytest

from rspverify.architecture.machines import MACHINES, machine_named
from rspverify.machine.machine import effect_of


@pytest.mark.parametrize("name", [it for it in MACHINES if it.startswith("amdgpu")])
def test_what_empties_a_cache_does_something(name: str) -> None:
    """Though nobody looks at the cache in a program that has nothing else."""
    machine = machine_named(name)
    emptying = [it for it in machine.instructions.values() if it.effects and not it.operands]
    assert emptying
    for each in emptying:
        assert effect_of(machine, each, None, 2).updates, each.name
