"""`selftest`: Do the engines agree on random programs?"""

from __future__ import annotations

import sys
from collections.abc import Generator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from rspverify.api.asked import Asked, Ending
from rspverify.api.judges import judge_of
from rspverify.api.parameters import question
from rspverify.judge.judge import Judge
from rspverify.options import Parameters, option
from rspverify.selftest.compare import Choices, engines_named
from rspverify.selftest.run import PairResult, SelftestReport, report, tasks_for, write_files
from rspverify.terminal.command import TEXT_OR_JSON, Command

Selftest: TypeAlias = Asked[PairResult, SelftestReport]
"""What was found of each pair; what disagrees is written to a folder."""


@dataclass(frozen=True)
class SelftestParameters(Parameters):
    """Which pairs, and how each is decided."""

    programs: int = option(1000, "How many pairs.", least=1)
    seed: int = option(0, "Which pairs: number i of a seed is always the same.")
    start: int = option(0, "The number of the first pair.", least=0)
    devices: int | None = option(
        None, "Programs on so many devices. Default: either.", least=1, most=2
    )
    machine: str | None = option(
        None,
        "The machine of all pairs, or one drawn for each. Default: any, seldom drawn.",
        metavar="NAME|FILE|random",
    )
    engines: str | None = option(None, "Engines, joined by commas. Default: all there are.")
    states: int = option(
        20_000, "Beyond so many, explicit gives no answer.", name="--limit-states", least=1
    )
    steps: int = option(28, "Where K* is more, unroll is not asked.", name="--limit-steps", least=1)
    timeout: float = option(
        5.0,
        "Seconds for each question about a pair; at most one for the verdict on a "
        "large one that is UNSOUND.",
        least=0.001,
    )
    outcomes: bool = option(
        False,
        "Compare outcomes only, with L2s as check treats them: no verdicts, no progress, "
        "no real L2s on one device. Three to ten times as many pairs in the same time.",
    )
    folder: str | Path = option(".", "The folder for what disagrees.", name="-o --output")
    progress: bool | None = option(
        None,
        "Show progress. Default: where standard error is a terminal.",
        name="--progress/--no-progress",
    )
    judge: Judge | None = None


@question(SelftestParameters)
def selftest(asked: SelftestParameters) -> Selftest:
    """Hold the engines against each other on random programs under random schemes.

    Each disagreement is made as small as it goes, and written as selftest-SEED-NUMBER.litmus,
    .yaml and, if the machine was drawn, .machine. Exit: 1 if there is one, 130 if interrupted, 3 if
    a worker process was lost, 0 otherwise.

    In Python: SelftestParameters has what can be chosen. Raises InputError.
    """
    choices = Choices(engines_named(asked.engines), asked.states, asked.steps, asked.timeout)
    if asked.outcomes:
        choices = choices.of_outcomes()
    given = (asked.seed, asked.programs, asked.start, asked.devices)
    tasks = tasks_for(*given, choices, asked.machine)
    judge = asked.judge or judge_of(cache=False)

    def answers(shown: Any) -> Generator[PairResult, None, None]:
        if sys.stderr.isatty() if asked.progress is None else asked.progress:
            shown.count("pairs", asked.programs)
        for each in judge.run(tasks):
            if each.disagreement:
                write_files(each.disagreement, str(asked.folder))
            yield each

    return Asked(
        answers,
        lambda it: report(it.known, asked.seed, asked.start, len(tasks), choices, it.seconds),
        "selftest",
        ending=lambda report: Ending(found=bool(report.disagreements)),
        total=len(tasks),
    )


COMMAND = Command(selftest, forms=TEXT_OR_JSON, also=("jobs", "cluster"))
