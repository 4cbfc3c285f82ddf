"""Places of which programs do not say who is in them: every way, and no other."""

from __future__ import annotations

from itertools import product

import pytest
from machine.own_machines import program

from rspverify.architecture.architecture import Kinds
from rspverify.architecture.reader import read_architecture
from rspverify.assembly.program import ThreadId
from rspverify.machine.machine import Machine
from rspverify.machine.placements import placements
from rspverify.machine.reductions import placed
from rspverify.source import Source

CHAINS = {
    "cu": "thread < workgroup < any cu < device < system",
    "parted": "thread < workgroup < device < system, thread < any cu < device",
    "wgp": "thread < workgroup < any wgp < device < system, thread < any cu < wgp",
    "arrays": "thread < workgroup < any cu < any array < device < system",
}

THREADS = {
    "three groups": ((0, 0), (0, 1), (0, 2)),
    "a group of two": ((0, 0), (0, 0), (0, 1)),
    "two devices": ((0, 0), (0, 1), (1, 0), (1, 0)),
}


def kinds(chains: str) -> Kinds:
    return read_architecture(Source("m", f"machine m places {CHAINS[chains]}")).kinds


def threads(places: str) -> tuple[ThreadId, ...]:
    return tuple(ThreadId(*it, number) for number, it in enumerate(THREADS[places]))


@pytest.mark.parametrize("places", THREADS)
@pytest.mark.parametrize("chains", CHAINS)
def test_all_and_no_other(chains: str, places: str) -> None:
    """Brute force: number the threads in every way, but for names, and keep what lies in each other
    as said."""
    its, who = kinds(chains), threads(places)
    said = {
        "thread": [it.thread for it in who],
        "workgroup": [(it.device, it.workgroup) for it in who],
        "device": [it.device for it in who],
        "system": [0 for _ in who],
    }
    numbered = [
        way
        for way in product(range(len(who)), repeat=len(who))
        if all(it in (*way[:at], len(set(way[:at]))) for at, it in enumerate(way))
    ]
    expected = set()
    for ways in product(numbered, repeat=len(its.open)):
        named = said | dict(zip(its.open, ways, strict=True))
        lies = all(
            named[outer][a] == named[outer][b]
            for inner, outers in its.around.items()
            for outer in outers
            for a, b in product(range(len(who)), repeat=2)
            if named[inner][a] == named[inner][b]
        )
        if lies:
            expected.add(tuple(_partition(way) for way in ways))
    found = [tuple(_partition(way) for _, way in it) for it in placements(its, who)]
    assert len(found) == len(set(found))
    assert set(found) == expected


def _partition(way: tuple[int, ...]) -> frozenset[frozenset[int]]:
    return frozenset(
        frozenset(at for at, it in enumerate(way) if it == number) for number in set(way)
    )


def test_where_none_is_said_the_least_is_shared() -> None:
    its = read_architecture(Source("m", MACHINE))
    made = program(its, "ST x 1; LD x", "LD x")
    assert [it.name for it in Machine(made).structures] == ["memory", "L1", "L1"]
    shared = placed(Machine(made))[-1]
    assert [it.name for it in shared.structures] == ["memory", "L1"]
    assert placed(shared) == [shared]


MACHINE = """machine m
places thread < workgroup < any cu < device < system
state { memory[x] : value of system  L1[x] : value of cu }
final memory
instruction ST r x do L1[x] := r; memory[x] := r
instruction LD r x do r := L1[x]
step FETCH of cu, location x do L1[x] := memory[x]
"""


def test_a_place_around_devices_is_one() -> None:
    text = MACHINE.replace("< any cu < device <", "< device < any rack <").replace("cu", "rack")
    its = read_architecture(Source("m", text))
    made = program(its, "ST x 1", "LD x", places=((0, 0), (1, 0)))
    found = [it.structures for it in placed(Machine(made))]
    assert [[str(it) for it in its].count("L1 rack 0") for its in found] == [1, 1]
    assert sorted(len(its) for its in found) == [2, 3]
