"""Where iterations that go on may be left out, no outcome is lost; and where not, one may be."""

from __future__ import annotations

import random
from collections import Counter
from contextlib import suppress

import pytest
from machine.any_program import any_program
from machine.engines import Outcomes, events_outcomes, searched
from machine.spinning import last_iterations, with_rounds, with_spin
from programs import SMALL, TINY_TWO_DEVICES, assembly, listing, random_assembly

from rspverify.architecture.machines import MACHINES
from rspverify.assembly.program import AssemblyProgram, SpinLoop
from rspverify.limits import LimitReached
from rspverify.machine.awaits import iterations_matter
from rspverify.machine.machine import Machine
from rspverify.records import replace
from rspverify.value import Binary, Constant, Read

NAMES = [name for name in MACHINES if not name.startswith(("ptx", "amdgpu"))]

Threads = tuple[tuple[tuple[int, int], list[str]], ...]


def spinning(*threads: tuple[tuple[int, int], list[str]], machine: str = "rsp") -> AssemblyProgram:
    """The first thread goes round while it reads 1 as its first read."""
    program = assembly(*threads, machine=machine)
    going = Binary("==", Read(0), Constant(1))
    return replace(program, spins=(SpinLoop(0, going, 0, len(threads[0][1])),))


def found(program: AssemblyProgram, rounds: int) -> Outcomes:
    return last_iterations(searched(Machine(with_rounds(program, rounds)), 2_000))


@pytest.mark.parametrize(
    "code, other, why",
    [
        (["LD x", "INV_L1 WG"], [], None),
        (["FLU_L1 WG", "INV_L1 WG", "LD x", "INV_L1 WG"], [], None),
        (["LK_L2 x", "FLU_L1 DV", "INV_L1 WG", "LD x", "UL_L2 x"], [], None),
        (["LK_rmw DV", "FLU_L1 DV", "RMW_L2 x", "FLU_L1 DV", "UL_rmw DV"], [], None),
        (["RMW_L1 x"], [], "RMW_L1 r x makes DIRTY true, which is waited for"),
        (["LD x", "ST x 1"], [], "ST r x writes what it has not read there"),
        (
            ["LK_L2 x", "LD x"],
            [],
            "the lock of x on d0 may be held from one iteration to the next",
        ),
        (
            ["LD x", "UL_L2 x"],
            [],
            "the lock of x on d0 may be freed by a thread that does not hold it",
        ),
        (
            ["LK_L2 x", "LD x", "UL_L2 x"],
            ["UL_L2 x"],
            "the lock of x on d0 may be freed by a thread that does not hold it",
        ),
        (["LD x", "arrive B"], ["arrive B", "depart B"], "others wait for arrive B"),
    ],
)
def test_what_an_iteration_may_do(code: list[str], other: list[str], why: str | None) -> None:
    program = spinning(((0, 0), code), ((0, 1), ["ST x 1", *other]))
    said = iterations_matter(Machine(program))
    assert said == why
    assert iterations_matter(Machine(program, elide=False)) == said


def test_an_l2_is_as_good_as_memory_on_one_device_alone() -> None:
    threads = ((0, 0), ["RMW_L2 x"]), ((1, 0), ["ST x 1"])
    assert iterations_matter(Machine(spinning(*threads))) == (
        "RMW_L2 r x makes DIRTY true, which is waited for"
    )
    assert iterations_matter(Machine(spinning(*threads, machine="rsp-coherent-l2"))) is None


def test_what_is_written_back_may_be_old() -> None:
    """An exchange in an L1 that changes nothing there overwrites what came elsewhere meanwhile."""
    other = ["ST x 1", "FLU_L1 WG", "ST x 2", "FLU_L1 WG", "INV_L1 WG", "LD x", "ST x 3"]
    program = spinning(((0, 0), ["RMW_L1 x"]), ((0, 1), other))
    once, again = found(program, 0), found(program, 1)
    assert {tuple(value for _, value in each.reads) for each in again - once} == {(3, 1)}
    assert iterations_matter(Machine(program)) is not None


def test_no_outcome_is_lost() -> None:
    """Random programs on every machine that schemes are for, with no more than two iterations."""
    seen: Counter[str] = Counter()
    for number in range(100):
        rng = random.Random(f"spin {number}")
        name = rng.choice(NAMES)
        if rng.random() < 0.5 and name in ("rsp", "rsp-st-waits"):
            program = random_assembly(rng, rng.choice((SMALL, SMALL, TINY_TWO_DEVICES)), name)
        else:
            program = any_program(rng, MACHINES[name], 4)
        spun = with_spin(rng, program)
        if spun is None:
            continue
        try:
            once = searched(Machine(spun), 500)
            again = [found(spun, rounds) for rounds in ((1, 2) if number % 4 == 0 else (1,))]
        except LimitReached:
            continue
        assert once == found(spun, 0)
        matters = iterations_matter(Machine(spun)) is not None
        text = listing(spun)
        assert matters or all(each <= once for each in again), text
        if not matters and number % 3 == 0:
            with suppress(LimitReached):
                assert events_outcomes(Machine(spun)) == once, text
        seen["goes on"] += not matters and any(again)
        seen["loses"] += matters and not all(each <= once for each in again)
    assert seen["goes on"] >= 6 and seen["loses"] >= 1, seen
