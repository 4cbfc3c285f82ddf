"""Machines with several kinds of memory: the engines agree on programs that access both."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from machine.engines import Unrolled, events_outcomes, searched
from machine.own_machines import program

from rspverify.architecture.machines import machine_named
from rspverify.assembly.program import AssemblyProgram
from rspverify.machine.machine import Machine, unbounded
from rspverify.records import replace

SCRATCHPAD = machine_named(str(Path(__file__).parents[1] / "scheme/local/scratchpad.machine"))
LOCAL = {"l": "local", "m": "local"}
LOADS = ("LD g", "LD h", "DS_LD l", "DS_LD m")
STORES = ("ST g", "ST h", "DS_ST l", "DS_ST m", "RMW g", "DS_RMW l")


def random_program(seed: int) -> AssemblyProgram:
    """Two threads of one work-group or of two; local memory is that of the first."""
    rng = random.Random(f"spaces {seed}")
    near = rng.random() < 0.6
    threads = []
    for number in range(2):
        code = []
        for _ in range(rng.randint(2, 3)):
            both = near or number == 0
            if rng.random() < 0.5:
                code.append(rng.choice(LOADS if both else LOADS[:2]))
            else:
                name = rng.choice(STORES if both else (*STORES[:2], STORES[4]))
                code.append(f"{name} {rng.randint(1, 2)}")
            if rng.random() < 0.3:
                code.append(rng.choice(("DS_WAIT", "INV WG", "INV DV")))
        threads.append("; ".join(code))
    places = ((0, 0), (0, 0 if near else 1))
    found = program(SCRATCHPAD, *threads, places=places)
    initial = dict.fromkeys("ghlm", 0)
    return replace(found, initial=initial, spaces=LOCAL)


def test_the_engine_without_steps_knows_the_machine() -> None:
    assert unbounded(SCRATCHPAD) is None


@pytest.mark.parametrize("seed", range(25))
def test_the_engines_agree(seed: int) -> None:
    machine = Machine(random_program(seed))
    expected = searched(machine)
    assert events_outcomes(machine) == expected
    if seed % 3 == 0:
        assert Unrolled(machine).outcomes() == expected
