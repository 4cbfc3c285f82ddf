"""Which entries rest, so that no search need tell when they are flushed and fetched."""

from __future__ import annotations

import pytest
from machine.test_awaits import spinning
from programs import assembly

from rspverify.architecture import MACHINES
from rspverify.assembly import AssemblyProgram
from rspverify.machine import Machine
from rspverify.machine.resting import resting

Threads = tuple[tuple[tuple[int, int], list[str]], ...]


def rests(program: AssemblyProgram) -> tuple[set[str], set[str | None]]:
    """The locations that are idle, and those that one cache keeps."""
    found = resting(Machine(program))
    return set(found.idle), {it.location for it in found.kept}


@pytest.mark.parametrize(
    "threads, idle, kept",
    [
        # y decides whether the loop goes on; x is looked at by nobody.
        ((((0, 0), ["LD y"]), ((0, 1), ["ST y 1", "ST x 1"])), {"x"}, set()),
        ((((0, 0), ["LD y"]), ((0, 0), ["ST y 1", "ST x 1"])), {"x"}, {"y"}),
        ((((0, 0), ["LD y"]), ((0, 0), ["RMW_L1 y"])), set(), {"y"}),
        ((((0, 0), ["LD y"]), ((0, 0), ["RMW_L2 y"])), set(), set()),
        # A lock of y may keep it from being flushed in the other work-group.
        ((((0, 0), ["LD y"]), ((0, 1), ["LK_L2 y", "ST x 1", "UL_L2 y"])), set(), set()),
        ((((0, 0), ["LD y"]), ((0, 0), ["LK_rmw DV", "ST x 1", "UL_rmw DV"])), {"x"}, {"y"}),
        # With real L2s an entry is not flushed to memory at once.
        (
            (((0, 0), ["LD y"]), ((0, 0), ["ST y 1", "ST x 1"]), ((1, 0), ["ST z 1"])),
            {"x", "z"},
            set(),
        ),
    ],
)
def test_which_entries_rest(threads: Threads, idle: set[str], kept: set[str | None]) -> None:
    assert rests(spinning(*threads)) == (idle, kept)


def test_lines_of_several_locations_do_not_rest() -> None:
    threads = ((0, 0), ["LD y"]), ((0, 0), ["ST y 1", "ST x 1"])
    assert MACHINES["rsp-lines"].name == "rsp-lines"
    assert rests(spinning(*threads, machine="rsp-lines"))[1] == set()


def test_without_loops_and_guards_all_is_idle() -> None:
    program = assembly(((0, 0), ["LD x", "ST y 1"]), ((0, 1), ["LD y", "ST x 1"]))
    assert rests(program) == ({"x", "y"}, set())
