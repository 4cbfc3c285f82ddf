"""What `selftest` says: how much was compared, of which kinds, and where engines disagree."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from rspverify.render.document import Block, Document, Line, Table, line
from rspverify.render.words import counted
from rspverify.selftest.run import Disagreement, PairCounts, SelftestReport
from rspverify.verdict import Word

if TYPE_CHECKING:
    from rspverify.selftest.fuzz import FuzzReport

_WORDS = (Word.SOUND, Word.UNSOUND, Word.RACY, Word.VACUOUS)


def document(it: SelftestReport) -> Document:
    """All of it."""
    return Document("selftest", f"seed {it.seed}", list(_blocks(it)), answer=it)


def _blocks(report: SelftestReport) -> Iterator[Block]:
    """The counts, then what was left out, and last what must not be."""
    total = report.total
    engines = f"engines {', '.join(report.engines)}"
    yield line(drawn(report, f"{total.pairs:,} pairs", engines, total.pairs))
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
    yield from go_on(report, total.pairs)


def drawn(it: SelftestReport | FuzzReport, what: str, how: str, done: int) -> str:
    """How many were drawn at random, of which seed, and how long it took."""
    rate = done / it.seconds if it.seconds else 0.0
    start = f" from number {it.start:,}" if it.start else ""
    return f"{what} of seed {it.seed}{start}, {how}, {it.seconds:.1f} s, {rate:.1f}/s"


def go_on(it: SelftestReport | FuzzReport, done: int) -> Iterator[Line]:
    """The options that go on, if not all were decided."""
    if done < it.asked:
        again = f"--seed {it.seed} --start {it.start + done} --programs {it.asked - done}"
        yield line(f"interrupted after {done:,} of {it.asked:,}; go on with {again}")


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
