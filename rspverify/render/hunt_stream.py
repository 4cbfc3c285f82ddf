"""`hunt` as it goes: findings as they come, and on a terminal how far it is, how fast, how long."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, TextColumn, TimeRemainingColumn
from rich.text import Text

from rspverify.engineering.hunt.finding import By, Estimate, Finding, HuntReport
from rspverify.render import hunt_text
from rspverify.render.progress import Stream


class HuntStream(Stream):
    """Prints findings as soon as there are any. Without `text` (JSON) progress alone is shown."""

    def __init__(self, console: Console, heading: HuntReport, *, text: bool) -> None:
        what = TextColumn("{task.description}")
        done = TextColumn("{task.completed:,.0f} of {task.total:,.0f}{task.fields[rate]}")
        super().__init__(console, what, BarColumn(), done, TimeRemainingColumn(), text=text)
        self._heading = heading
        self._by = By.PROGRAMS
        self._started = time.monotonic()

    def __enter__(self) -> Self:
        super().__enter__()
        self.print(hunt_text.heading(self._heading))
        return self

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
        self.print(hunt_text.finding(finding, self._heading.subject.scheme, self._by))

    def estimated(self, estimates: Sequence[Estimate]) -> None:
        """What it will take; among what is shown where that is text, or beside it."""
        self._said(hunt_text.expectation(estimates))

    def finish(self, report: HuntReport) -> None:
        """The counts, and what follows."""
        self.print(hunt_text.conclusion(report))

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
        rate = f", {done / seconds:,.0f}/s" if seconds > 0 else ""
        self.bar.update(self.task, completed=done, rate=rate)
