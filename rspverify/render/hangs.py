"""What `progress` says: a word for each test and scheduler, and the executions that hang."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from rspverify.render.document import Block, Cell, Document, Line, Matrix, Row, Told, line
from rspverify.render.evidence import execution
from rspverify.render.words import counted, each_counted, progress_class
from rspverify.schedulers import Unit
from rspverify.soundness.hang import Hang, ProgressReport, ScheduledAnswer
from rspverify.verdict import ProgressWord, Word

_WORD = max(map(len, ProgressWord))


def document(it: ProgressReport) -> Document:
    """All of it."""
    total = len({each.file for each in it.results})
    blocks = told(it.schedulers, total).whole(it.results, it)
    return Document("progress", f"model {it.model}", blocks, answer=it)


def told(schedulers: Sequence[str], total: int) -> Told:
    """What is said of so many tests, each under every scheduler; of one its executions, too."""

    def each(row: Sequence[ScheduledAnswer]) -> Iterable[Block | Row]:
        if row[0].word is Word.ERROR:
            return ()
        return [_row(row)] if total > 1 else _of_one(row)

    return Told(
        each,
        summary,
        beside=lambda row: dict.fromkeys(it.reason for it in row if it.word is Word.ERROR),
        together=len(schedulers),
        matrix=Matrix(schedulers, (), [max(_WORD, len(name)) for name in schedulers]),
        counted=("answers", total * len(schedulers)),
    )


def summary(it: ProgressReport) -> Iterator[Line]:
    """How many answers there are of each kind, and why no more were asked."""
    tests = len({each.file for each in it.results})
    if tests > 1:
        words = each_counted(Counter(each.progress for each in it.results), ProgressWord)
        schedulers = counted(len(it.schedulers), "scheduler")
        yield line(f"{counted(tests, 'test')}, {schedulers}, model {it.model}, {words}")
    if it.stopped is not None:
        yield line(f"stopped, other tests were not asked: {it.stopped}", kind="ERROR")


def _row(results: Sequence[ScheduledAnswer]) -> Row:
    """A line of words, and below it why, but for what is LIVE."""
    told = [it for it in results if it.progress is not ProgressWord.LIVE]
    below = []
    for reason in dict.fromkeys(it.reason for it in told):
        whose = ", ".join(it.scheduler for it in told if it.reason == reason)
        below.append(line(f"  {whose}: {reason}", kind="note"))
    cells = [Cell(it.progress, progress_class(it.progress), it.reason) for it in results]
    return Row(results[0].file, cells, results[0].file, below=below)


def _of_one(row: Sequence[ScheduledAnswer]) -> Iterator[Block]:
    """A line for each scheduler, and each execution that hangs."""
    yield line(f"{row[0].test} (model {row[0].model})", kind="head")
    width = max(len(it.scheduler) for it in row)
    for it in row:
        word = it.progress.value if it.hang else f"{it.progress:{_WORD}}"
        told = "" if it.hang else f"  {it.reason}"
        yield line(f"  {it.scheduler:{width}}  ", (word, progress_class(it.progress)), told)
    hangs = [(it.scheduler, it.hang) for it in row if it.hang is not None]
    shown: list[Hang] = []
    for _, hang in hangs:
        if hang in shown:
            continue
        shown.append(hang)
        names = [name for name, other in hangs if other == hang]
        yield line()
        yield from _hang(hang, names, row[0].unit)
        if not hang.repeats and row[0].unit is Unit.GROUP:
            words = f"As a picture: rspverify draw --scheduler {names[0]} {row[0].file}"
            yield line(words, kind="note")


def _hang(hang: Hang, schedulers: Sequence[str], unit: Unit) -> Iterator[Block]:
    bound = f", {counted(hang.occupancy, unit)} occupant at once" if hang.occupancy else ""
    yield line(f"Under {', '.join(schedulers)} this execution hangs{bound}:", kind="head")
    for it in hang.stuck:
        yield line(f"  P{it.thread} goes round in the loop in line {it.line} for ever")
        for each in it.reads:
            writer, where = each.write.thread, each.write.line
            by = "" if writer is None else f" by P{writer}, line {where}"
            yield line(f"    {each.read.access} is from {each.write.access}{by}: nothing is later")
    for at in hang.waiting:
        missing = " and ".join(f"P{each}" for each in at.missing)
        yield line(f"  P{at.thread} waits at the barrier in line {at.line} for {missing} for ever")
    for group in hang.stopped:
        what = "is stopped for ever" if group.started else "never starts"
        threads = ", ".join(
            f"P{each.thread}" + ("" if each.line is None else f" before line {each.line}")
            for each in group.threads
        )
        yield line(f"  {unit} {group.group} {what}: {threads}")
    if hang.repeats:
        first = len(hang.events) - hang.repeats
        for head, events in (("At first", hang.events[:first]), ("For ever", hang.events[first:])):
            if events:
                yield line(f"{head}:", kind="head")
                yield execution(events, {})
    elif any(event.thread is not None for event in hang.events):
        yield execution(
            hang.events, hang.edges, [each.read for it in hang.stuck for each in it.reads]
        )
