"""`check` of suites as it goes: how far a suite is, and its block once it is done."""

from __future__ import annotations

import time
from collections.abc import Sequence

from rich.console import Console
from rich.progress import BarColumn, TextColumn, TimeElapsedColumn

from rspverify.answers import ModelAnswer, Result, SuiteReport
from rspverify.render.progress import WithBar, bar
from rspverify.render.suites_text import block, conclusion


class SuitesStream(WithBar):
    """Prints a block for each suite. Without `text` (JSON) only how far the run is is shown."""

    def __init__(self, console: Console, *, text: bool) -> None:
        self._console = console
        self._text = text
        self._started = time.perf_counter()
        shown = bar(
            TextColumn("{task.description}: {task.completed:,.0f} of {task.total:,.0f}"),
            BarColumn(),
            TimeElapsedColumn(),
            beside=console if text else None,
        )
        super().__init__(shown)
        self._task = self._progress.add_task("", total=0, visible=False)

    def begin(self, folder: str, total: int) -> None:
        """The next suite is run from now on."""
        self._progress.reset(self._task, description=folder, total=total, visible=True)

    def show(self, result: Result | ModelAnswer) -> None:
        """One more result is there."""
        self._progress.advance(self._task)

    def end(self, report: SuiteReport, *, refreshed: bool) -> None:
        """What is known of a suite."""
        for line in block(report, refreshed=refreshed) if self._text else ():
            self._console.print(line, soft_wrap=True)

    def finish(self, reports: Sequence[SuiteReport]) -> None:
        """One line about all suites."""
        seconds = time.perf_counter() - self._started
        self._console.print(conclusion(reports, seconds), soft_wrap=True)
