"""What `selftest` says: how much was compared, of which kinds, and where engines disagree."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import count

from rspverify.render.document import Block, Document, Line, Table, line
from rspverify.render.progress import counting
from rspverify.render.words import counted
from rspverify.selftest.answer import Disagreement, PairCounts, SelftestReport
from rspverify.verdict import Word

_WORDS = (Word.SOUND, Word.UNSOUND, Word.RACY, Word.VACUOUS)


_EVERY = 10.0
"""Seconds between two lines where there is no terminal to draw on."""


@contextmanager
def shown_progress(total: int, shown: bool) -> Iterator[Callable[[], None]]:
    """What to call after each pair. On standard error: a bar, or without a terminal a few lines."""
    if not shown:
        yield lambda: None
    elif sys.stderr.isatty():
        with counting("pairs", total) as advance:
            yield advance
    else:
        yield _lines(total)


def _lines(total: int) -> Callable[[], None]:
    """A line now and then."""
    done, started = count(1), time.monotonic()
    said = started

    def advance() -> None:
        nonlocal said
        number, now = next(done), time.monotonic()
        if now - said >= _EVERY:
            said, rate = now, number / (now - started)
            words = f"{number} of {total} pairs, {rate:.1f}/s, {(total - number) / rate:.0f} s left"
            print(words, file=sys.stderr, flush=True)

    return advance


def document(it: SelftestReport) -> Document:
    """All of it."""
    return Document("selftest", f"seed {it.seed}", list(_blocks(it)), answer=it)


def _blocks(report: SelftestReport) -> Iterator[Block]:
    """The counts, then what was left out, and last what must not be."""
    total = report.total
    rate = total.pairs / report.seconds if report.seconds else 0.0
    head = f"{total.pairs:,} pairs of seed {report.seed}"
    if report.start:
        head += f" from number {report.start:,}"
    yield line(f"{head}, engines {', '.join(report.engines)}, {report.seconds:.1f} s, {rate:.1f}/s")
    if report.kinds:
        yield _table(report.kinds, total)
    if report.missing:
        yield line("answers not given")
    for it in report.missing:
        yield line(f"  {it.count:>6,}  {it.who}: {it.why}")
    for disagreement in report.disagreements:
        yield from _disagreement(disagreement)
    number = len(report.disagreements)
    words = counted(number, "disagreement") if number else "no disagreement"
    yield line(words, kind="ERROR" if number else "head")
    if total.pairs < report.asked:
        left, start = report.asked - total.pairs, report.start + total.pairs
        again = f"--seed {report.seed} --start {start} --programs {left}"
        yield line(f"interrupted after {total.pairs:,} of {report.asked:,}; go on with {again}")


def _table(kinds: Mapping[str, Mapping[str, PairCounts]], total: PairCounts) -> Table:
    words = _WORDS if any(total.verdicts.values()) else ()  # none where none was asked for
    heads = ("", "pairs", "by all", "by some", "skipped", *(word.value for word in words))
    rows = [["all", *_cells(total, words)]]
    for category, labels in kinds.items():
        rows += [[f"{category}: {it}", *_cells(n, words)] for it, n in labels.items()]
    return Table(heads, rows, range(1, len(heads)), gap=2)


def _cells(counts: PairCounts, shown: Sequence[Word]) -> list[str]:
    numbers = (counts.pairs, counts.by_all, counts.by_some, counts.skipped)
    words = [counts.verdicts.get(word.value, 0) for word in shown]
    return [f"{number:,}" for number in (*numbers, *words)]


def _disagreement(it: Disagreement) -> Iterator[Line]:
    yield line(f"pair {it.pair}: {it.words}", kind="ERROR")
    yield line(f"  {it.name}.litmus and {it.name}.yaml, made as small as they go")
    yield line(f"  found by: {it.command}")
