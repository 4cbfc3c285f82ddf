"""`hunt` as it goes: findings as they come, and on a terminal how far it is, how fast, how long."""

from __future__ import annotations

import time
from collections.abc import Sequence

from rich.console import Console
from rich.progress import BarColumn, TextColumn, TimeRemainingColumn

from rspverify.engineering.hunt.by import By
from rspverify.engineering.hunt.finding import Estimate, Finding, HuntReport
from rspverify.engineering.hunt.strategy import Watcher
from rspverify.render import hunt_text
from rspverify.render.progress import WithBar, bar


class HuntStream(WithBar, Watcher):
    """Prints findings as soon as there are any. Without `text` (JSON) progress alone is shown."""

    def __init__(self, console: Console, *, text: bool) -> None:
        self._console = console
        self._scheme = ""
        self._text = text
        self._by = By.PROGRAMS
        self._started = time.monotonic()
        shown = bar(
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("{task.completed:,.0f} of {task.total:,.0f}{task.fields[rate]}"),
            TimeRemainingColumn(),
            beside=console if text else None,
        )
        super().__init__(shown)
        self._task = self._progress.add_task("", total=None, visible=False, rate="")

    def begin(self, report: HuntReport) -> None:
        """What is to be hunted."""
        self._scheme = report.subject.scheme
        if self._text:
            for line in hunt_text.heading(report):
                self._console.print(line, soft_wrap=True)

    def surveying(self, events: int, threads: int, done: int, total: int) -> None:
        """So many of the blocks of a phase have been enumerated."""
        what = f"listing {hunt_text.phase_in_words(events, threads)}"
        if not done:
            self._begin(what, total)
        else:
            self._advance(done)

    def deciding(self, events: int, threads: int, total: int) -> None:
        """The programs of a phase are decided from now on."""
        self._begin(f"deciding {hunt_text.phase_in_words(events, threads)}", total)

    def asking(self, events: int, threads: int, total: int) -> None:
        """The formulas of a phase are asked from now on."""
        self._by = By.FORMULA
        self._begin(f"formulas for {hunt_text.phase_in_words(events, threads)}", total)

    def expecting(self, events: int, seconds: float) -> None:
        """How long the formulas for so many operations take; among what is shown, or beside it."""
        console = self._console if self._text else Console(stderr=True)
        console.print(hunt_text.expected_formulas(events, seconds), soft_wrap=True)

    def answered(self, report: HuntReport) -> None:
        """All formulas have been asked; now the programs are counted."""
        if self._text:
            for line in hunt_text.before_counting(report):
                self._console.print(line, soft_wrap=True)

    def decided(self, count: int) -> None:
        """So many more have been."""
        self._advance(self._progress.tasks[0].completed + count)

    def found(self, finding: Finding) -> None:
        """A program breaks the scheme."""
        if self._text:
            for line in hunt_text.finding(finding, self._scheme, self._by):
                self._console.print(line, soft_wrap=True)

    def estimated(self, estimates: Sequence[Estimate]) -> None:
        """What it will take; among what is shown where that is text, or beside it."""
        console = self._console if self._text else Console(stderr=True)
        for line in hunt_text.expectation(estimates):
            console.print(line, soft_wrap=True)

    def finish(self, report: HuntReport) -> None:
        """The counts, and what follows."""
        for line in hunt_text.conclusion(report):
            self._console.print(line, soft_wrap=True)

    def _begin(self, what: str, total: int) -> None:
        self._started = time.monotonic()
        self._progress.reset(self._task, description=what, total=total, visible=True, rate="")

    def _advance(self, done: float) -> None:
        seconds = time.monotonic() - self._started
        rate = f", {done / seconds:,.0f}/s" if seconds > 0 else ""
        self._progress.update(self._task, completed=done, rate=rate)
