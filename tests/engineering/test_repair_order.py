"""What repair rests on: weaker codes have every outcome that stronger ones have."""

from __future__ import annotations

import random
from contextlib import suppress
from itertools import pairwise, product
from pathlib import Path

import pytest
from machine.engines import events_outcomes, searched

from rspverify.architecture.machines import MACHINES
from rspverify.engineering.repair import instructions
from rspverify.engineering.repair.codes import (
    Code,
    Kinds,
    codes,
    count,
    distance,
    parsed,
    weaker,
)
from rspverify.engineering.repair.instructions import InstructionPool, Role
from rspverify.limits import LimitReached
from rspverify.litmus.program import Program
from rspverify.litmus.reader import read_program_file
from rspverify.scheme.cost import default_costs
from rspverify.scheme.reader import read_scheme_file
from rspverify.scheme.scheme import Scheme
from rspverify.soundness.case import machine_of
from rspverify.soundness.settings import Settings

ROOT = Path(__file__).resolve().parents[2]
PROPOSED = read_scheme_file(ROOT / "schemes/proposed.yaml")
DEVICES = read_scheme_file(ROOT / "schemes/proposed-multi-device.yaml")


def pool_of(scheme: Scheme) -> InstructionPool:
    return instructions.pool_of(scheme, default_costs())


POOL = pool_of(PROPOSED)


def code(text: str) -> Code:
    return tuple(POOL.number[each.strip()] for each in text.split(";"))


def is_weaker(one: str, other: str) -> bool:
    return weaker(code(one), code(other), POOL)


@pytest.mark.parametrize(
    ("one", "other", "holds"),
    [
        ("LD", "LD; INV_L1 WG", True),
        ("LD; INV_L1 WG", "LD; INV_L1 DV", True),
        ("LD; INV_L1 DV", "LD; INV_L1 WG", False),
        ("LD; INV_L1 WG", "INV_L1 WG; LD", False),
        ("FLU_L1 WG; ST", "INV_L1 DV; FLU_L1 DV; INV_L1 DV; ST; FLU_L1 WG", True),
        ("FLU_L1 WG; ST", "INV_L1 DV; ST", False),
        ("INC_L1", "INC_L2", False),
        ("ST", "LK_rmw DV; ST; UL_rmw DV", True),
        ("LK_rmw DV; ST; UL_rmw DV", "ST", False),
        ("FLU_L1 DV; LK_rmw DV; ST; UL_rmw DV", "LK_rmw DV; FLU_L1 DV; ST; UL_rmw DV", True),
        ("LK_rmw DV; FLU_L1 DV; ST; UL_rmw DV", "FLU_L1 DV; LK_rmw DV; ST; UL_rmw DV", False),
        ("LK_rmw DV; ST; UL_rmw DV", "LK_rmw SY; ST; UL_rmw SY", True),
        ("LK_L2; ST; UL_L2", "LK_rmw DV; ST; UL_rmw DV", False),
        ("ST; ST", "ST; FLU_L1 WG; ST", True),
        ("ST", "ST; FLU_L1 WG; ST", False),
        ("FLU_L1 WG; ST", "ST; FLU_L1 WG; ST", False),
        ("LK_L2; LK_rmw DV; ST; UL_L2; UL_rmw DV", "LK_rmw DV; LK_L2; ST; UL_L2; UL_rmw DV", True),
    ],
)
def test_which_code_is_weaker(one: str, other: str, holds: bool) -> None:
    assert is_weaker(one, other) is holds


@pytest.mark.parametrize(
    "text",
    [
        "LK_rmw DV; ST",
        "ST; UL_rmw DV",
        "LK_rmw DV; UL_rmw DV; ST",
        "LK_rmw DV; ST; UL_rmw SY",
        "LK_rmw DV; ST; UL_rmw DV; LK_rmw DV; FLU_L1 WG; UL_rmw DV",
    ],
)
def test_locks_must_be_matched(text: str) -> None:
    assert parsed(code(text), POOL) is None


def test_every_code_once() -> None:
    """Codes are all sequences of the instructions whose locks match, but for pointless neighbours."""
    names = ("FLU_L1 WG", "INV_L1 WG", "INV_L1 DV")
    order = tuple(POOL.number[each] for each in names)
    takes = tuple(POOL.number[each] for each in ("LK_L2", "LK_rmw DV"))
    frees = tuple(POOL.frees[each] for each in takes)
    accesses = tuple(POOL.number[each] for each in ("INC_L1", "INC_L2"))
    for length in (1, 3, 5):
        kinds = Kinds(accesses, order, takes, length)
        expected = {
            each
            for size in range(1, length + 1)
            for each in product((*order, *takes, *frees, *accesses), repeat=size)
            if sum(it in accesses for it in each) == 1
            and parsed(each, POOL) is not None
            and not any({a, b} <= set(order[1:]) for a, b in pairwise(each))
        }
        found = list(codes(kinds, POOL))
        assert len(found) == len(set(found)) == count(kinds, POOL)
        assert set(found) == expected
        again = Kinds(accesses, order, takes, length, (POOL.number["ST"],), 2)
        written = list(codes(again, POOL))
        assert len(written) == len(set(written)) == count(again, POOL)
        stored = [each for each in written if POOL.number["ST"] in each]
        assert set(written) - set(stored) == expected
        assert bool(stored) == (length > 1)
        cheap = set(codes(kinds, POOL, 60))
        assert cheap == {each for each in found if sum(POOL.cost[it] for it in each) <= 60}
        assert cheap | set(codes(kinds, POOL, 10**6, 60)) == expected


def test_distance() -> None:
    assert distance((1, 2, 3), (1, 2, 3)) == 0
    assert distance((1, 2, 3), (3,)) == 2
    assert distance((2, 1), (1, 2)) == 2
    assert distance((1, 2, 3), (1, 4, 3, 5)) == 2


TESTS = (
    "MP/MP+st.na-st.DV+ld.DV-ld.na.litmus",
    "MP/MP+st.na-inc.DV+inc.DV-ld.na.litmus",
    "RMW/RMW+inc.DV+inc.DV.R.litmus",
    "RMW/RMW+inc.WG+inc.DV.R.litmus",
    "RMW/RMW+add3.WG+st.DV.R.litmus",
    "coherence/CoRR+st.WG+ld.DV.R-ld.DV.R.litmus",
    "S/S+st.na-inc.DV.R+ld.WG-st.na.litmus",
)
ACROSS = ("MP/MP+st.na-st.ALL+ld.ALL-ld.na@0--1.litmus",)


class Draw:
    """Random codes, and ones that are stronger."""

    def __init__(self, pool: InstructionPool, rng: random.Random) -> None:
        self.pool, self.rng = pool, rng

    def code(self, given: Code, room: int = 3) -> Code:
        """A code with the access of another, and up to so many instructions beside it."""
        found = [each for each in given if self.pool.instructions[each].role is Role.ACCESS]
        for _ in range(self.rng.randint(0, room)):
            found.insert(self.rng.randint(0, len(found)), self.rng.choice(self.pool.order))
        for take in self.rng.sample(self.pool.takes, 2):
            if self.rng.random() < 0.3:
                found = self.locked(found, take)
        return tuple(found)

    def locked(self, found: list[int], take: int) -> list[int]:
        first, last = sorted(self.rng.sample(range(len(found) + 1), 2))
        free = self.pool.frees[take]
        changed = [*found[:first], take, *found[first:last], free, *found[last:]]
        return found if parsed(tuple(changed), self.pool) is None else changed

    def weakened(self, given: Code) -> Code:
        """A code that is weaker by the meaning of «weaker», not by our function."""
        found = list(given)
        for _ in range(self.rng.randint(1, 3)):
            place = self.rng.randrange(len(found))
            it = self.pool.instructions[found[place]]
            if it.role is Role.ORDER:
                narrower = [
                    each
                    for each in self.pool.order
                    if self.pool.instructions[each].name.split()[0] == it.name.split()[0]
                    and each < found[place]
                ]
                if narrower and self.rng.random() < 0.4:
                    found[place] = self.rng.choice(narrower)
                else:
                    del found[place]
            elif it.role is Role.TAKE:
                free = self.pool.frees[found[place]]
                if self.rng.random() < 0.5:
                    found = [each for each in found if each not in (found[place], free)]
                elif place + 1 < len(found):
                    found[place], found[place + 1] = found[place + 1], found[place]
            if parsed(tuple(found), self.pool) is None:
                return given  # a lock with nothing left in its section
        return tuple(found)


@pytest.mark.parametrize("machine", ["rsp", "rsp-st-waits", "rsp-inv-l2"])
@pytest.mark.parametrize("seed", range(8))
def test_weaker_codes_have_every_outcome(machine: str, seed: int) -> None:
    """Random codes in all rows, all of them weakened: no outcome is lost, by two engines."""
    rng = random.Random(f"{machine} {seed}")
    across = seed % 4 == 3
    scheme = (DEVICES if across else PROPOSED).on_machine(MACHINES[machine])
    pool = pool_of(scheme)
    draw = Draw(pool, rng)
    folder, names = (ROOT / "litmus/devices", ACROSS) if across else (ROOT / "litmus/rsp", TESTS)
    program = read_program_file(folder / rng.choice(names))
    strong = {row.number: draw.code(pool.read(row.code)) for row in scheme.rows}
    weak = {number: draw.weakened(each) for number, each in strong.items()}
    for number, each in weak.items():
        assert weaker(each, strong[number], pool)
    few = outcomes(program, scheme, pool, strong)
    many = outcomes(program, scheme, pool, weak)
    assert few <= many


def outcomes(
    program: Program, scheme: Scheme, pool: InstructionPool, chosen: dict[int, Code]
) -> frozenset[object]:
    for number, each in chosen.items():
        scheme = scheme.with_code(number, pool.written(each, scheme.rows[0].span))
    machine = machine_of(scheme.compiled(program), Settings())
    found = events_outcomes(machine)
    with suppress(LimitReached):
        assert searched(machine, 4_000) == found
    return frozenset(found)
