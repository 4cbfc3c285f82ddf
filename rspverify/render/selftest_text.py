"""`selftest` for people: how much was compared, of which kinds, and where engines disagree."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from rspverify.selftest.answer import Disagreement, PairCounts, SelftestReport
from rspverify.verdict import Word

_WORDS = (Word.SOUND, Word.UNSOUND, Word.RACY, Word.VACUOUS)


def summary(report: SelftestReport) -> Iterator[RenderableType]:
    """The counts, then what was left out, and last what must not be."""
    total = report.total
    rate = total.pairs / report.seconds if report.seconds else 0.0
    head = f"{total.pairs:,} pairs of seed {report.seed}"
    if report.start:
        head += f" from number {report.start:,}"
    yield Text(f"{head}, engines {', '.join(report.engines)}, {report.seconds:.1f} s, {rate:.1f}/s")
    if report.kinds:
        yield _table(report.kinds, total)
    if report.missing:
        yield Text("answers not given")
    for it in report.missing:
        yield Text(f"  {it.count:>6,}  {it.who}: {it.why}")
    for disagreement in report.disagreements:
        yield from _disagreement(disagreement)
    count = len(report.disagreements)
    words = f"{count} disagreement{'s' * (count != 1)}" if count else "no disagreement"
    yield Text(words, style="bold red" if count else "bold")
    if total.pairs < report.asked:
        left, start = report.asked - total.pairs, report.start + total.pairs
        again = f"--seed {report.seed} --start {start} --programs {left}"
        yield Text(f"interrupted after {total.pairs:,} of {report.asked:,}; go on with {again}")


def _table(kinds: Mapping[str, Mapping[str, PairCounts]], total: PairCounts) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    table.add_column("")
    words = [
        word for word in _WORDS if any(total.verdicts.values())
    ]  # none where none was asked for
    for title in ("pairs", "by all", "by some", "skipped", *(word.value for word in words)):
        table.add_column(title, justify="right")
    table.add_row("all", *_cells(total, words))
    for category, labels in kinds.items():
        for label, counts in labels.items():
            table.add_row(f"{category}: {label}", *_cells(counts, words))
    return table


def _cells(counts: PairCounts, shown: Sequence[Word]) -> list[str]:
    numbers = (counts.pairs, counts.by_all, counts.by_some, counts.skipped)
    words = [counts.verdicts.get(word.value, 0) for word in shown]
    return [f"{number:,}" for number in (*numbers, *words)]


def _disagreement(it: Disagreement) -> Iterator[Text]:
    yield Text(f"pair {it.pair}: {it.words}", style="red")
    yield Text(f"  {it.name}.litmus and {it.name}.yaml, made as small as they go")
    yield Text(f"  found by: {it.command}")
