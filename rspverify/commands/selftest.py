"""`selftest`: Do the engines agree on random programs?"""

from __future__ import annotations

import sys
from collections.abc import Generator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Self

from rspverify.api.asked import Asked, Ending, Shown, Stop
from rspverify.api.judges import judge_of
from rspverify.api.parameters import question
from rspverify.judge.judge import Judge
from rspverify.options import Parameters, option
from rspverify.selftest.answer import SelftestReport
from rspverify.selftest.compare import Choices, engines_named
from rspverify.selftest.run import PairResult, Task, report, run_pairs, tasks_for, write_files
from rspverify.terminal.ask import asking
from rspverify.terminal.command import TEXT_OR_JSON, Command

if TYPE_CHECKING:
    from rich.console import Console

    from rspverify.render.document import Document


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


class Selftest(Asked[PairResult, SelftestReport]):
    """Gives what was found of each pair; what disagrees is written to a folder."""

    def __init__(self, tasks: list[Task], judge: Judge, asked: SelftestParameters) -> None:
        super().__init__()
        self._tasks, self._judge, self.asked = tasks, judge, asked

    def _answers(self) -> Generator[PairResult, None, None]:
        for each in run_pairs(self._tasks, self._judge):
            if each.disagreement:
                write_files(each.disagreement, str(self.asked.folder))
            yield each

    def _report(self, stop: Stop) -> SelftestReport:
        first = self._tasks[0]
        given = (first.seed, first.number, len(self._tasks), first.choices)
        return report(self.known, *given, self.seconds)

    def stream(self, console: Console, form: str) -> Shown[PairResult, SelftestReport]:
        """Shows how many pairs are decided."""
        return _Counted(console, self)

    def document(self, report: SelftestReport, *, detailed: bool = False) -> Document:
        """How many of each, and what disagrees."""
        from rspverify.render.selftest import document

        return document(report)

    def ending(self, report: SelftestReport) -> Ending:
        """1: something disagrees."""
        return Ending(found=bool(report.disagreements))


class _Counted(Shown[PairResult, SelftestReport]):
    """A bar, or a line now and then."""

    def __init__(self, console: Console, asked: Selftest) -> None:
        super().__init__(console, asked.document)
        self._asked, self._bar = asked.asked, ExitStack()

    def __enter__(self) -> Self:
        from rspverify.render.selftest import shown_progress

        wanted = self._asked.progress
        shown = sys.stderr.isatty() if wanted is None else wanted
        self._advance = self._bar.enter_context(shown_progress(self._asked.programs, shown))
        return self

    def __exit__(self, *error: object) -> None:
        self._bar.close()

    def show(self, answer: PairResult) -> None:
        """One more pair is decided."""
        self._advance()


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
    return Selftest(tasks, asked.judge or judge_of(cache=False), asked)


COMMAND = Command(
    SelftestParameters,
    asking(selftest),
    about=selftest,
    forms=TEXT_OR_JSON,
    also=("jobs", "cluster"),
)
