"""What a user may choose about a check."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from rspverify.limits import DEFAULT_UNROLL, MEMORY, SECONDS, Limits
from rspverify.options import Option, declared, option, words_of
from rspverify.records import replace
from rspverify.schedulers import schedulers_of
from rspverify.source import require
from rspverify.verdict import Engine as Engine
from rspverify.verdict import Reading as Reading

if TYPE_CHECKING:
    from rspverify.litmus.program import Program
    from rspverify.source import Source

DEFAULT_MODEL = "opencl-rsp"

FAIR = "fair"
"""The scheduler that stops no work-group for ever."""


class L2(StrEnum):
    """How L2 caches are treated: `auto` elides them where that is exact, on one device."""

    AUTO = "auto"
    REAL = "real"


class Dependencies(StrEnum):
    """What of its dependencies the code of a table for a target has: those of its text, or only
    those that carry a value."""

    KEPT = "kept"
    FOLDED = "folded"


@dataclass(frozen=True)
class Settings:
    """The choices of one check.

    allow_fallback: whether explicit decides where events does not know a machine's steps.
    seconds: limit per test and scheme. steps: None for as many as are enough. states: limit of the
    explicit engine, and of progress. shortest: whether a counterexample must be a shortest one,
    which costs more than finding it; scheme engineering alone has no use for one.
    """

    engine: Engine = option(
        Engine.EVENTS,
        "events: all executions as one formula, without steps; unroll: K steps as one formula; "
        "explicit: every state. Default: events, and unroll where there are --steps.",
        late=True,
    )
    model: str = option(
        DEFAULT_MODEL,
        "The memory model: a name that `list` shows, or a .cat file.",
        completes="model",
    )
    seconds: float | None = option(
        None,
        f"Seconds for one test and scheme, beyond which it is UNKNOWN; 0 for no limit. "
        f"Default: {SECONDS:g}, and {MEMORY / 2**30:g} GiB of memory.",
        name="--timeout",
        least=0,
        late=True,
    )
    steps: int | None = option(
        None,
        "Bound the machine to so many steps (engine unroll). Below the number that is enough, "
        "verdicts say so. Default: as many as are enough.",
        least=0,
    )
    machine: str | None = option(
        None, "The machine, instead of the one that the scheme names.", completes="machine"
    )
    l2: L2 = option(L2.AUTO, "auto: take L2 for memory where one device makes that exact; real.")
    states: int = option(
        Limits().states,
        "State limit of the explicit engine; beyond it UNKNOWN (--progress: then by events).",
        least=1,
    )
    reading: Reading = option(
        Reading.OUTCOME,
        "outcome: each outcome of the machine must be allowed; witness: also by its own rf and mo "
        "(engine events).",
    )
    confirm: str | None = option(
        None,
        "Have a second solver confirm each SOUND: cvc5, bitwuzla, another that pySMT finds, or a "
        "program that reads SMT-LIB 2.",
        metavar="SOLVER",
        local=True,
    )
    smt_dir: str | None = option(
        None,
        "Write the questions that each verdict rests on there, as SMT-LIB 2.",
        metavar="DIR",
        local=True,
    )
    progress: bool = option(
        False,
        "Also ask whether the compiled program can always go on: LIVE, STUCK or UNKNOWN "
        "(--timeout bounds this question for itself). explain: explain that instead.",
    )
    scheduler: str = option(
        FAIR,
        "With --progress: which work-groups may be stopped for ever: fair (none), obe, obe:N, hsa, "
        "hsa-obe, lobe or unfair.",
    )
    unroll: int = option(
        DEFAULT_UNROLL,
        "Look at so many iterations of each loop. Where a loop may go on after them, verdicts say "
        "so.",
        least=1,
    )
    mixed: bool = option(
        False,
        "Let the threads of a test in OpenCL declare a location differently: it is atomic if all "
        "say so, as Dartagnan has it.",
    )
    dependencies: Dependencies = option(
        Dependencies.KEPT,
        "Of tables for a target: kept, as in the text of the test; folded: a compiler folds away "
        "those that carry no value, as r ^ r and a branch whose sides do the same.",
    )
    shortest: bool = True
    allow_fallback: bool = True

    def read(self, source: Source, *, assembly: bool = False) -> Program:
        """The program of a test, read as the settings say. Raises InputError.

        assembly: whether it may be a test in assembly.
        """
        from rspverify.litmus.reader import read_program

        program = read_program(source, self.unroll, self.mixed, assembly=assembly)
        if self.dependencies is Dependencies.KEPT:
            return program
        unrolled = program.unrolled and replace(program.unrolled, folded=True)
        return replace(program, folded=True, unrolled=unrolled)

    def limits(self) -> Limits:
        """The limits of one question, their clock started now."""
        seconds = SECONDS if self.seconds is None else self.seconds
        memory = MEMORY if seconds else None
        return Limits(seconds=seconds or None, states=self.states, memory=memory)


def require_consistent(settings: Settings) -> None:
    """Raises InputError where a setting has no meaning beside another."""
    engine = settings.engine.value
    require(
        settings.steps is None or settings.engine is Engine.UNROLL,
        f"--steps must go with --engine unroll: the {engine} engine has no steps to bound",
    )
    schedulers_of([settings.scheduler])
    require(
        settings.scheduler == FAIR or settings.progress,
        "--scheduler must go with --progress: a verdict counts executions that end",
    )
    require(
        settings.reading is Reading.OUTCOME or settings.engine is Engine.EVENTS,
        f"--reading witness must go with --engine events: the {engine} engine has no rf and mo "
        "of its own",
    )
    require(
        settings.engine is not Engine.EXPLICIT or (settings.confirm or settings.smt_dir) is None,
        "--confirm and --smt-dir must go with --engine events or unroll: the explicit engine "
        "asks no solver about the machine",
    )


OPTIONS: Mapping[str, Option] = {name: it.option for name, it in declared(Settings).items()}
"""The option of each setting that has one, in the order in which --help shows them."""

OF_A_TEST = ("model", "seconds", "unroll", "mixed")
"""The settings that count where no scheme is looked at."""

OF_MACHINES = ("engine", "seconds", "steps", "states")
"""The settings that count where tests in assembly are put to a machine."""


def explain_command(scheme: str, test: str, settings: Settings, *, progress: bool = False) -> str:
    """The command that shows the execution behind a verdict, or with `progress` a deadlock."""
    going = ["--progress"] if progress else []
    left_out = {"progress"} if progress else {"progress", "scheduler"}
    chosen = words_of(settings, OPTIONS.keys() - left_out)
    return shlex.join(["rspverify", "explain", *going, scheme, test, *chosen])
