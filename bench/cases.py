"""The tests of docs/semantics.md, Known answers, each under both schemes of the paper."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from rspverify.axiomatic.cat import load_model
from rspverify.axiomatic.model import MemoryModel
from rspverify.axiomatic.question import Questions
from rspverify.limits import Limits
from rspverify.litmus.program import Program
from rspverify.litmus.reader import read_program_file
from rspverify.machine.machine import Machine
from rspverify.scheme.reader import read_scheme_file
from rspverify.scheme.scheme import Scheme
from rspverify.soundness.case import Case, machine_of
from rspverify.soundness.check import check
from rspverify.soundness.settings import Engine, Settings
from rspverify.verdict import Verdict

ROOT = Path(__file__).resolve().parent.parent
SCHEMES = ("original", "proposed")
KNOWN_ANSWERS = {
    "MP": "paper/Fig4",
    "MP, fetch_inc reads": "MP/MP+st.na-st.DV+inc.DV-ld.na",
    "MP, fetch_inc": "MP/MP+st.na-inc.DV+inc.DV-ld.na",
    "ISA2": "ISA2/ISA2+st.na-st.WG+ld.WG-st.DV+ld.DV-ld.na@01-2",
    "Ex. 4": "paper/Ex4",
    "Ex. 3": "paper/Ex3",
    "MP, remote load": "MP/MP+st.na-st.WG+ld.DV.R-ld.na",
    "MP, remote store": "MP/MP+st.na-st.DV.R+ld.WG-ld.na",
    "IRIW": "IRIW/IRIW+st.WG+st.WG+ld.WG-ld.WG+ld.DV.R-ld.DV.R@012-3",
}
"""Row of the table of known answers → the test of our corpus that it is."""


@dataclass(frozen=True)
class Timed:
    """A program under a scheme, and the questions that are timed."""

    name: str
    program: Program
    scheme: Scheme
    model: MemoryModel

    def decide(self, engine: Engine, seconds: float | None = None) -> Verdict:
        """The verdict, counterexample and replay included."""
        settings = Settings(engine=engine, seconds=seconds)
        return check(Case(self.program, self.scheme, self.model, settings))

    def allowed(self) -> int:
        """The number of outcomes that the model allows."""
        return sum(1 for _ in Questions(self.program, self.model, Limits()).outcomes())

    @cached_property
    def racy(self) -> bool:
        """Whether the source races, so that the machine is never asked."""
        return Questions(self.program, self.model, Limits()).race() is not None

    def machine(self) -> Machine:
        """The machine that runs the compiled program."""
        return machine_of(self.scheme.compiled(self.program), Settings())


def scheme_named(name: str) -> Scheme:
    """A scheme of the paper."""
    return read_scheme_file(ROOT / f"schemes/{name}.yaml")


def known_answers() -> Iterator[Timed]:
    """Every row under both schemes."""
    model = load_model("opencl-rsp")
    schemes = [scheme_named(name) for name in SCHEMES]
    for name, file in KNOWN_ANSWERS.items():
        program = read_program_file(ROOT / f"litmus/rsp/{file}.litmus")
        for scheme in schemes:
            yield Timed(name, program, scheme, model)
