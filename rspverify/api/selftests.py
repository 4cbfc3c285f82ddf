"""Do the engines agree on random programs under random schemes?"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from pathlib import Path

from rspverify.api.asked import Asked, Stop, printed
from rspverify.api.judges import judge_of
from rspverify.convert import to_json
from rspverify.judge.judge import Judge
from rspverify.selftest.answer import SelftestReport
from rspverify.selftest.compare import Choices, engines_named
from rspverify.selftest.run import PairResult, Task, run_pairs, tasks_for, write_files
from rspverify.selftest.tally import report


class Selftest(Asked[PairResult, SelftestReport]):
    """Gives what was found of each pair; what disagrees is written to a folder."""

    def __init__(self, tasks: list[Task], judge: Judge, folder: str) -> None:
        super().__init__()
        self._tasks, self._judge, self._folder = tasks, judge, folder

    def _answers(self) -> Generator[PairResult, None, None]:
        for each in run_pairs(self._tasks, self._judge):
            if each.disagreement:
                write_files(each.disagreement, self._folder)
            yield each

    def _report(self, stop: Stop) -> SelftestReport:
        first = self._tasks[0]
        given = (first.seed, first.number, len(self._tasks), first.choices)
        return report(self.known, *given, self.seconds)

    @property
    def forms(self) -> Mapping[str, Callable[[SelftestReport], str]]:
        """Text and JSON."""
        from rspverify.render.selftest_text import summary

        return {"text": lambda report: printed(summary(report)), "json": to_json}


def selftest(
    programs: int = 1000,
    *,
    seed: int = 0,
    start: int = 0,
    devices: int | None = None,
    machine: str | None = None,
    engines: str | None = None,
    states: int = 20_000,
    steps: int = 28,
    timeout: float = 5.0,
    outcomes: bool = False,
    folder: str | Path = ".",
    judge: Judge | None = None,
) -> Selftest:
    """So many random pairs of a program and a scheme, each decided in every way there is.

    seed, start: pair i of a seed is always the same. devices: None for one or two. machine:
    by name or file, or "random"; None for any. engines: joined
    by commas; None for all. states, steps: beyond them an engine gives no answer. timeout: seconds
    for each question. outcomes: compare outcomes only. folder: for what disagrees. Raises
    InputError.
    """
    choices = Choices(engines_named(engines), states, steps, timeout)
    if outcomes:
        choices = choices.of_outcomes()
    tasks = tasks_for(seed, programs, start, devices, choices, machine)
    return Selftest(tasks, judge or judge_of(cache=False), str(folder))
