"""`progress` for people: a word for each test and scheduler, and the executions that hang."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence

from rich.console import Console, RenderableType
from rich.progress import BarColumn, TextColumn, TimeRemainingColumn
from rich.text import Text

from rspverify.render.check_text import NARROWEST, middle_cut
from rspverify.render.progress import Stream
from rspverify.render.races_text import execution
from rspverify.render.words import PROGRESS_STYLES, counted
from rspverify.soundness.hang import Hang, ProgressReport, ScheduledAnswer
from rspverify.verdict import ProgressWord, Word

_WIDEST = 56
"""Columns for the name of a test at the most; a longer one is cut in its middle."""
_WORD = max(map(len, ProgressWord))


class ProgressStream(Stream):
    """Prints each test once it is decided under every scheduler; of one test the executions, too.

    total: the number of tests. text: whether for people; otherwise all comes at the end, as JSON.
    """

    def __init__(
        self, console: Console, schedulers: Sequence[str], *, total: int, text: bool
    ) -> None:
        answers = TextColumn("{task.completed} of {task.total} {task.description}")
        left = TimeRemainingColumn(elapsed_when_finished=True)
        super().__init__(console, answers, BarColumn(), left, text=text)
        self.count("answers", total * len(schedulers))
        self._schedulers, self._many = schedulers, total > 1
        self._columns = [max(_WORD, len(name)) for name in schedulers]
        room = console.width - sum(2 + each for each in self._columns)
        self._width = max(NARROWEST, min(_WIDEST, room))
        self._row: list[ScheduledAnswer] = []
        self._headed = False

    def show(self, answer: ScheduledAnswer) -> None:
        """Take the next answer."""
        self.advance()
        self._row.append(answer)
        if len(self._row) < len(self._schedulers):
            return
        row, self._row = self._row, []
        for message in dict.fromkeys(it.reason for it in row if it.word is Word.ERROR):
            print(message, file=sys.stderr)
        if row[0].word is not Word.ERROR:
            self.print(self._of_many(row) if self._many else _of_one(row))

    def finish(self, report: ProgressReport) -> None:
        """The document, or how many answers there are of each kind."""
        if not self.text:
            from rspverify.convert import to_json

            self.console.file.write(to_json(report))
            return
        if self._many:
            self.print([Text(_summary(report))])
        if report.stopped is not None:
            words = f"stopped, other tests were not asked: {report.stopped}"
            self.print([Text(words, style="bold red")])

    def _of_many(self, row: Sequence[ScheduledAnswer]) -> Iterator[Text]:
        """A line of words, and below it why, but for what is LIVE."""
        if not self._headed:
            self._headed = True
            names = zip(self._schedulers, self._columns, strict=True)
            cells = "  ".join(name.ljust(width) for name, width in names)
            yield Text(f"{'test'.ljust(self._width)}  {cells}".rstrip(), style="bold")
        line = Text(middle_cut(row[0].file, self._width).ljust(self._width))
        for each, width in zip(row, self._columns, strict=True):
            word = each.progress.value.ljust(width)
            line.append("  ").append(word, style=PROGRESS_STYLES[each.progress])
        line.rstrip()
        yield line
        told = [it for it in row if it.progress is not ProgressWord.LIVE]
        for reason in dict.fromkeys(it.reason for it in told):
            whose = ", ".join(it.scheduler for it in told if it.reason == reason)
            yield Text(f"  {whose}: {reason}", style="dim")


def _of_one(row: Sequence[ScheduledAnswer]) -> Iterator[RenderableType]:
    """A line for each scheduler, and each execution that hangs."""
    yield Text(f"{row[0].test} (model {row[0].model})", style="bold")
    width = max(len(it.scheduler) for it in row)
    for it in row:
        line = Text(f"  {it.scheduler:{width}}  ")
        line.append(it.progress.value.ljust(_WORD), style=PROGRESS_STYLES[it.progress])
        told = "" if it.hang is not None else f"  {it.reason}"
        line.append(told).rstrip()
        yield line
    hangs = [(it.scheduler, it.hang) for it in row if it.hang is not None]
    shown: list[Hang] = []
    for _, hang in hangs:
        if hang in shown:
            continue
        shown.append(hang)
        names = [name for name, other in hangs if other == hang]
        yield Text("")
        yield from _hang(hang, names)
        yield Text(f"As a picture: rspverify draw --scheduler {names[0]} {row[0].file}", "dim")


def _hang(hang: Hang, schedulers: Sequence[str]) -> Iterator[RenderableType]:
    bound = f", {counted(hang.occupancy, 'group')} occupant at once" if hang.occupancy else ""
    yield Text(f"Under {', '.join(schedulers)} this execution hangs{bound}:", style="bold")
    for it in hang.stuck:
        yield Text(f"  P{it.thread} goes round in the loop in line {it.line} for ever")
        for each in it.reads:
            writer, line = each.write.thread, each.write.line
            by = "" if writer is None else f" by P{writer}, line {line}"
            yield Text(f"    {each.read.access} is from {each.write.access}{by}: nothing is later")
    for at in hang.waiting:
        missing = " and ".join(f"P{each}" for each in at.missing)
        yield Text(f"  P{at.thread} waits at the barrier in line {at.line} for {missing} for ever")
    for group in hang.stopped:
        what = "is stopped for ever" if group.started else "never starts"
        threads = ", ".join(
            f"P{each.thread}" + ("" if each.line is None else f" before line {each.line}")
            for each in group.threads
        )
        yield Text(f"  group {group.group} {what}: {threads}")
    if any(event.thread is not None for event in hang.events):
        yield execution(
            hang.events, hang.edges, [each.read for it in hang.stuck for each in it.reads]
        )


def _summary(report: ProgressReport) -> str:
    words = [each.progress for each in report.results]
    counts = [f"{words.count(each)} {each}" for each in ProgressWord if each in words]
    tests = len({each.file for each in report.results})
    parts = [counted(tests, "test"), counted(len(report.schedulers), "scheduler")]
    return ", ".join([*parts, f"model {report.model}", *counts])
