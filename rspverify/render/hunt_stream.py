"""`hunt` as it goes: findings as they come, and on a terminal how far it is, how fast, how long."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence

from rich.console import Console
from rich.progress import BarColumn, TextColumn, TimeRemainingColumn
from rich.text import Text

from rspverify.engineering.hunt.by import By
from rspverify.engineering.hunt.finding import Finding, HuntReport
from rspverify.engineering.hunt.strategy import Watcher
from rspverify.enumeration.estimate import Estimate
from rspverify.render import hunt_text
from rspverify.render.progress import Stream


class HuntStream(Stream, Watcher):
    """Prints findings as soon as there are any. Without `text` (JSON) progress alone is shown."""

    def __init__(self, console: Console, *, text: bool) -> None:
        what = TextColumn("{task.description}")
        done = TextColumn("{task.completed:,.0f} of {task.total:,.0f}{task.fields[rate]}")
        super().__init__(console, what, BarColumn(), done, TimeRemainingColumn(), text=text)
        self._scheme = ""
        self._by = By.PROGRAMS
        self._started = time.monotonic()

    def heading(self, report: HuntReport) -> None:
        """What is to be hunted."""
        self._scheme = report.subject.scheme
        self.print(hunt_text.heading(report))

    def surveying(self, events: int, threads: int, done: int, total: int) -> None:
        """So many of the blocks of a phase have been enumerated."""
        if not done:
            self.begin(f"listing {hunt_text.phase_in_words(events, threads)}", total)
        else:
            self._advance(done)

    def deciding(self, events: int, threads: int, total: int) -> None:
        """The programs of a phase are decided from now on."""
        self.begin(f"deciding {hunt_text.phase_in_words(events, threads)}", total)

    def asking(self, events: int, threads: int, total: int) -> None:
        """The formulas of a phase are asked from now on."""
        self._by = By.FORMULA
        self.begin(f"formulas for {hunt_text.phase_in_words(events, threads)}", total)

    def expecting(self, events: int, seconds: float) -> None:
        """How long the formulas for so many operations take; among what is shown, or beside it."""
        self._said([hunt_text.expected_formulas(events, seconds)])

    def answered(self, report: HuntReport) -> None:
        """All formulas have been asked; now the programs are counted."""
        self.print(hunt_text.before_counting(report))

    def decided(self, count: int) -> None:
        """So many more have been."""
        self._advance(self.bar.tasks[0].completed + count)

    def found(self, finding: Finding) -> None:
        """A program breaks the scheme."""
        self.print(hunt_text.finding(finding, self._scheme, self._by))

    def estimated(self, estimates: Sequence[Estimate]) -> None:
        """What it will take; among what is shown where that is text, or beside it."""
        self._said(hunt_text.expectation(estimates))

    def begin(self, what: str, total: int) -> None:
        """From now on something else is counted, and how fast."""
        self._started = time.monotonic()
        super().begin(what, total)

    def _said(self, lines: Iterable[Text]) -> None:
        console = self.console if self.text else Console(stderr=True)
        for line in lines:
            console.print(line, soft_wrap=True)

    def _advance(self, done: float) -> None:
        seconds = time.monotonic() - self._started
        rate = f", {done / seconds:,.0f}/s" if seconds < done else ""
        self.bar.update(self.task, completed=done, rate=rate)
