"""What a user may choose about a check."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from rspverify.limits import DEFAULT_UNROLL, Limits
from rspverify.verdict import Engine as Engine
from rspverify.verdict import Reading as Reading

if TYPE_CHECKING:
    from rspverify.litmus import Program
    from rspverify.source import Source

DEFAULT_MODEL = "opencl-rsp"


class L2(StrEnum):
    """How L2 caches are treated: `auto` elides them where that is exact, on one device."""

    AUTO = "auto"
    REAL = "real"


@dataclass(frozen=True)
class Settings:
    """The choices of one check.

    model: a shipped name or a path. seconds: limit per test and scheme. steps: bound of the unroll
    engine, None for as many as are enough. machine: overrides what schemes name. states: limit of
    the explicit engine, and of progress. confirm: a second solver that must confirm each SOUND.
    smt_dir: a folder for the questions that each verdict rests on. progress: whether it is asked.
    unroll: how many iterations of a loop are looked at. mixed: whether threads of a test in OpenCL
    may declare one location differently. shortest: whether a counterexample must be a shortest one,
    which costs more than finding it.
    """

    engine: Engine = Engine.EVENTS
    model: str = DEFAULT_MODEL
    seconds: float | None = None
    steps: int | None = None
    machine: str | None = None
    l2: L2 = L2.AUTO
    states: int = Limits().states
    reading: Reading = Reading.OUTCOME
    confirm: str | None = None
    smt_dir: str | None = None
    progress: bool = False
    unroll: int = DEFAULT_UNROLL
    mixed: bool = False
    shortest: bool = True

    def read(self, source: Source) -> Program:
        """The program of a test, read as the settings say. Raises InputError."""
        from rspverify.litmus import read_program

        return read_program(source, self.unroll, self.mixed)

    def limits(self) -> Limits:
        """The limits of one question, their clock started now."""
        return Limits(seconds=self.seconds, states=self.states)
