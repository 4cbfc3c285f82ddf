"""Times the engines side by side, in one process and one run: `make bench`.

For each test of the paper under each scheme: a warm decision by `unroll` and by `explicit` (median
of several), and the unrolling alone, built, and put to Z3 directly and through pySMT. Ratios travel
between machines; milliseconds do not.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table

from rspverify.axiomatic import MemoryModel, Questions, load_model
from rspverify.check.reached import machine_for
from rspverify.check.settings import Engine, Settings
from rspverify.check.soundness import check
from rspverify.limits import Limits
from rspverify.litmus import Program, read_program_file
from rspverify.machine import Unrolling, enough_steps
from rspverify.scheme import Scheme, compile_program, read_scheme_file
from rspverify.smt import Solver, Term
from rspverify.smt.bridge import second_opinion

ROOT = Path(__file__).resolve().parent.parent
TESTS = [
    "MP/MP+st.na-st.DV+ld.DV-ld.na",
    "MP/MP+st.na-inc.DV+inc.DV-ld.na",
    "MP/MP+st.na-st.WG+ld.DV.R-ld.na",
    "MP/MP+st.na-st.DV.R+ld.WG-ld.na",
    "ISA2/ISA2+st.na-st.WG+ld.WG-st.DV+ld.DV-ld.na@01-2",
    "paper/Ex4",
    "IRIW/IRIW+st.WG+st.WG+ld.WG-ld.WG+ld.DV.R-ld.DV.R@012-3",
]
REPEATS = 7


def median_ms(action: Callable[[], object]) -> float:
    """The median time of an action, in milliseconds, after one run to warm up."""
    action()
    times = []
    for _ in range(REPEATS):
        started = time.perf_counter()
        action()
        times.append(time.perf_counter() - started)
    return statistics.median(times) * 1000


@dataclass(frozen=True)
class Case:
    """One test under one scheme."""

    program: Program
    scheme: Scheme
    model: MemoryModel

    def decisions(self) -> list[str]:
        """The row of the first table."""
        unroll, explicit = (
            median_ms(
                lambda: check(self.program, self.scheme, self.model, Settings(engine=Engine.UNROLL))
            ),
            median_ms(
                lambda: check(
                    self.program, self.scheme, self.model, Settings(engine=Engine.EXPLICIT)
                )
            ),
        )
        source = median_ms(lambda: list(Questions(self.program, self.model, Limits()).outcomes()))
        machine = machine_for(compile_program(self.program, self.scheme), Settings())
        times = [f"{unroll:.1f}", f"{explicit:.1f}", f"{unroll / explicit:.1f}", f"{source:.1f}"]
        return [self.program.title, self.scheme.name, str(enough_steps(machine).total), *times]

    def doors(self) -> list[str]:
        """The row of the second table."""
        machine = machine_for(compile_program(self.program, self.scheme), Settings())
        budget = enough_steps(machine)
        steps = budget.total - budget.dequeues
        build = median_ms(lambda: Unrolling(machine, steps, Limits()))
        terms = Unrolling(machine, steps, Limits()).constraints
        direct, bridged = (
            median_ms(lambda: _direct(terms)),
            median_ms(lambda: second_opinion(terms)),
        )
        times = [f"{build:.1f}", f"{direct:.1f}", f"{bridged:.1f}", f"{bridged / direct:.1f}"]
        return [self.program.title, self.scheme.name, *times]


def main() -> None:
    """Print both tables."""
    model = load_model("opencl-rsp")
    schemes = [read_scheme_file(ROOT / f"schemes/{name}.yaml") for name in ("original", "proposed")]
    cases = [
        Case(read_program_file(ROOT / f"litmus/{name}.litmus"), scheme, model)
        for name in TESTS
        for scheme in schemes
    ]
    decisions = _table(
        "One decision in a warm process",
        ["K*", "unroll ms", "explicit ms", "unroll/explicit", "allowed outcomes ms"],
    )
    doors = _table(
        "The unrolling at K*, and Z3 reached directly and through pySMT",
        ["build ms", "direct ms", "pySMT ms", "pySMT/direct"],
    )
    for case in cases:
        decisions.add_row(*case.decisions())
        doors.add_row(*case.doors())
    console = Console(width=150)
    console.print(decisions)
    console.print(doors)


def _table(title: str, columns: list[str]) -> Table:
    table = Table(title=title)
    for column in ("test", "scheme"):
        table.add_column(column)
    for column in columns:
        table.add_column(column, justify="right")
    return table


def _direct(terms: list[Term]) -> object:
    solver = Solver()
    solver.add(*terms)
    return solver.check()


if __name__ == "__main__":
    main()
