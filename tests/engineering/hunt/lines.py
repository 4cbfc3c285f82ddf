"""Remark 1, program by program: the outcomes of `rsp-lines` are outcomes of `rsp`."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable
from enum import StrEnum
from itertools import islice

from machine.engines import machine_of, searched

from rspverify.architecture.machines import MACHINES
from rspverify.axiomatic.cat import load_model
from rspverify.engineering.hunt.strategy import program_named
from rspverify.enumeration.packed import decoded
from rspverify.enumeration.space import Space
from rspverify.enumeration.survey import Survey
from rspverify.litmus.program import Program
from rspverify.scheme.reader import read_scheme_file
from rspverify.scheme.scheme import Scheme

MACHINE_NAMES = ("rsp", "rsp-lines")


class Compared(StrEnum):
    """The outcomes of a program by lines, beside those by locations."""

    SAME = "the same"
    FEWER = "fewer"
    OTHERS = "others"


def programs_shared(events: int, threads: int) -> Iterable[Program]:
    """The programs of so many operations at most that a hunt decides on either machine."""
    space = Space(events=events, threads=threads, workgroups=threads)
    for phase in Survey(space, load_model("opencl-rsp")).phases():
        for each in phase.to_decide(space, larger=False):
            yield program_named(decoded(each), space)


def compared(program: Program, scheme: Scheme, states: int = 20_000) -> Compared:
    """The outcomes of a compiled program on both machines. Raises LimitReached."""
    fine, coarse = (
        searched(machine_of(scheme.on_machine(MACHINES[name]).compiled(program)), states)
        for name in MACHINE_NAMES
    )
    if coarse == fine:
        return Compared.SAME
    return Compared.FEWER if coarse < fine else Compared.OTHERS


def main(scheme: str, events: int, threads: int, *parts: int) -> int:
    """Compare all, or every n-th; how many have outcomes by lines alone."""
    part, of = parts or (0, 1)
    table = read_scheme_file(scheme)
    found = Counter[Compared]()
    for program in islice(programs_shared(events, threads), part, None, of):
        found[compared(program, table, 2_000_000)] += 1
        if found.total() % 100 == 0:
            print(f"{found.total()} compared: {dict(found)}", flush=True)
    print(f"{found.total()} programs: {', '.join(f'{found[it]} {it}' for it in Compared)}")
    return found[Compared.OTHERS]


if __name__ == "__main__":
    sys.exit(bool(main(sys.argv[1], *map(int, sys.argv[2:]))))
