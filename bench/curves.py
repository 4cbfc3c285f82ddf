"""Programs that grow: in threads, work-groups, operations of a thread, locations."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from rspverify.litmus.program import Program
from rspverify.litmus.reader import read_program
from rspverify.programs.litmus_test import Thread, litmus_test
from rspverify.programs.notation import read_notation
from rspverify.programs.writer import litmus_text
from rspverify.source import Source

Groups = list[list[int]]


@dataclass(frozen=True)
class Curve:
    """A family of programs with one size. unit: what the size counts; sizes: those to be timed."""

    name: str
    unit: str
    sizes: tuple[int, ...]
    shape: Callable[[int], str]
    groups: Callable[[int], Groups] | None = None

    def program(self, size: int) -> Program:
        """The program of a size; without `groups` each thread is a work-group."""
        title = f"{self.name} {size}"
        threads = read_notation(self.shape(size)).threads
        groups = self.groups(size) if self.groups else [[each] for each in range(len(threads))]
        place = {thread: (0, group) for group, those in enumerate(groups) for thread in those}
        placed = (Thread(place[number], it.accesses) for number, it in enumerate(threads))
        return read_program(Source(title, litmus_text(litmus_test(placed), title)))


def chain(hops: int) -> str:
    """Message passing in so many hops, plain data at its end."""
    middle = [f"r0=ld.DV y{hop}; if r0==1: st.DV y{hop + 1} 1" for hop in range(1, hops)]
    last = f"r0=ld.DV y{hops}; if r0==1: r1=ld.na x"
    return " || ".join(["st.na x 1; st.DV y1 1", *middle, last])


def readers(count: int) -> str:
    """IRIW: two writers, and readers that look in one order and in the other by turns."""
    looks = ("r0=ld.DV x; r1=ld.DV y", "r0=ld.DV y; r1=ld.DV x")
    return " || ".join(["st.DV x 1", "st.DV y 1", *(looks[each % 2] for each in range(count))])


def increments(reach: str) -> Callable[[int], str]:
    """One increment in each of so many threads."""
    return lambda threads: " || ".join([f"inc.{reach} x"] * threads)


def three_way(copies: int) -> str:
    """So many threads of each of `inc.WG ‖ inc.DV.R ‖ st.DV.R`."""
    threads = ["inc.WG x"] * copies + ["inc.DV.R x"] * copies + ["st.DV.R x 10"] * copies
    return " || ".join(threads)


def three_way_groups(copies: int) -> Groups:
    """The narrow increments share a work-group, else they race; the others have their own."""
    return [list(range(copies)), *([each] for each in range(copies, 3 * copies))]


def data(locations: int) -> str:
    """Message passing of so many plain locations under one flag."""
    stores = [f"st.na x{each} 1" for each in range(1, locations + 1)]
    loads = [f"r{each}=ld.na x{each}" for each in range(1, locations + 1)]
    return "; ".join([*stores, "st.DV y 1"]) + " || " + f"r0=ld.DV y; if r0==1: {'; '.join(loads)}"


def stores_and_loads(operations: int) -> str:
    """So many stores of different values to x, and as many loads of it."""
    stores = [f"st.DV x {each}" for each in range(1, operations + 1)]
    loads = [f"r{each}=ld.DV x" for each in range(1, operations + 1)]
    return f"{'; '.join(stores)} || {'; '.join(loads)}"


def two_incrementers(operations: int) -> str:
    """So many increments in each of two threads."""
    return " || ".join(["; ".join(["inc.DV x"] * operations)] * 2)


def together(threads: int) -> Groups:
    """All in one work-group."""
    return [list(range(threads))]


def spread(workgroups: int, threads: int = 5) -> Groups:
    """So many threads in so many work-groups, neighbours together."""
    place = [each * workgroups // threads for each in range(threads)]
    return [
        [each for each in range(threads) if place[each] == group] for group in range(workgroups)
    ]


ONE_TO_EIGHT = tuple(range(1, 9))
ONE_TO_SEVEN = ONE_TO_EIGHT[:-1]
"""With 16 increments there are too many ways to derive a value: UNKNOWN by every engine."""
WIDE = (*ONE_TO_EIGHT, 10, 12)

CURVES = (
    Curve("MP chain", "hops, a work-group for each thread", WIDE, chain),
    Curve(
        "MP chain of 4 hops",
        "work-groups of its 5 threads",
        (1, 2, 3, 4, 5),
        lambda _: chain(4),
        spread,
    ),
    Curve("IRIW", "readers, a work-group for each thread", ONE_TO_EIGHT, readers),
    Curve("inc.WG", "threads, all in one work-group", WIDE, increments("WG"), together),
    Curve("inc.DV, together", "threads, all in one work-group", WIDE, increments("DV"), together),
    Curve("inc.DV, apart", "threads, a work-group for each", WIDE, increments("DV")),
    Curve("inc.DV.R", "threads, a work-group for each", WIDE, increments("DV.R")),
    Curve(
        "inc.WG ‖ inc.DV.R ‖ st.DV.R",
        "copies of the three threads",
        (1, 2, 3, 4),
        three_way,
        three_way_groups,
    ),
    Curve("MP", "data locations", WIDE, data),
    Curve("st.DV ‖ ld.DV", "operations in each thread", ONE_TO_EIGHT, stores_and_loads),
    Curve("inc.DV ‖ inc.DV", "operations in each thread", ONE_TO_SEVEN, two_incrementers),
)
"""Increments at WG scope in different work-groups race, so that there is no such curve."""
