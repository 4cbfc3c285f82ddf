"""Machines on which nothing gets stuck, and those of which that is not said."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from machine.any_program import any_program
from machine.own_machines import program, table
from machine.queued import queued, random_choice
from machine.table_programs import table_program
from machine.whole_graph import TooLarge, whole_graph

from rspverify.architecture.machines import MACHINES
from rspverify.architecture.reader import read_architecture
from rspverify.machine.machine import Machine
from rspverify.machine.settling import settles
from rspverify.scheme.reader import read_scheme_file
from rspverify.source import Source


def test_what_waits_in_queues_settles() -> None:
    for number in (
        2,
        3,
        *range(7, 12),
        13,
        *range(15, 18),
        19,
        20,
        26,
        29,
        30,
        *range(34, 37),
        38,
        39,
    ):
        rng = random.Random(f"settles {number}")
        machine = Machine(any_program(rng, queued(**random_choice(rng))), elide=False)
        assert settles(machine)
        assert not whole_graph(machine, 500).stuck


def test_a_value_that_comes_later() -> None:
    its = queued()
    assert settles(Machine(program(its, "LDG x; ST y r0; WAIT", "LDG y; RMW x 1")))


@pytest.mark.parametrize(
    "machine, code",
    [
        (MACHINES["rsp"], "ST x 1; LD x"),
        (MACHINES["ptx-weak"], "st x 1; ld x"),
    ],
    ids=["rsp", "ptx-weak"],
)
def test_others_are_not_said_to(machine: object, code: str) -> None:
    assert not settles(Machine(program(machine, code)))  # type: ignore[arg-type]


TABLE = table("settling")
LINES = TABLE["lines"]["machine"]

BASE = """machine m "of a test"
places thread < workgroup < device < system
state { memory[x] : value of system }
final memory
instruction ST x r do memory[x] := r
"""


def settles_with(machine: str, code: str) -> bool:
    its = read_architecture(Source("m.machine", BASE + machine))
    return settles(Machine(program(its, *code.split("|"))))


@pytest.mark.parametrize("name", TABLE["stuck"])
def test_what_may_get_stuck(name: str) -> None:
    assert not settles_with(**TABLE["stuck"][name])


def test_what_steps_bring_about() -> None:
    assert settles_with(**TABLE["lines"])


@pytest.mark.parametrize("name", TABLE["lacks"])
def test_what_no_step_brings_about(name: str) -> None:
    old, new = (TABLE["lacks"][name][it] for it in ("old", "new"))
    assert old in LINES
    assert not settles_with(LINES.replace(old, new), TABLE["lines"]["code"])


def test_rows_of_a_table_settle(root: Path) -> None:
    known = 0
    for number, name in enumerate(["gfx90a", "gfx942", "gfx1250", "gfx942"]):
        table = read_scheme_file(root / f"schemes/amdgpu/{name}.yaml")
        machine = Machine(table_program(random.Random(f"settles {number}"), table, 2), elide=False)
        assert settles(machine)
        try:
            assert not whole_graph(machine, 400).stuck
            known += 1
        except TooLarge:
            continue
    assert known
