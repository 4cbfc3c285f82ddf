"""`check` of suites for people: a block for each suite, and one line about all of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import Console
from rich.progress import BarColumn, TextColumn, TimeRemainingColumn
from rich.text import Text

from rspverify.answers import ModelAnswer, Result, SuiteReport
from rspverify.render.check_text import comparison
from rspverify.render.expectations import conclusion, unfinished
from rspverify.render.progress import Stream
from rspverify.render.tally import PROGRESS, tally
from rspverify.render.words import PROGRESS_STYLES, STYLES, bounds, counted
from rspverify.verdict import ProgressWord, Word

_STYLES = {
    "racy": STYLES[Word.RACY],
    **{word.value: style for word, style in STYLES.items()},
    **{f"{PROGRESS}{word}": style for word, style in PROGRESS_STYLES.items()},
    ProgressWord.LIVE: PROGRESS_STYLES[ProgressWord.LIVE],
}
_AT_MOST = 20
"""So many results that are not as expected are shown of a suite; of more, their number."""


class SuitesStream(Stream):
    """Prints a block for each suite once it is run."""

    def __init__(self, console: Console, *, text: bool) -> None:
        done = TextColumn("{task.description}: {task.completed:,.0f} of {task.total:,.0f}")
        left = TimeRemainingColumn(elapsed_when_finished=True)
        super().__init__(console, done, BarColumn(), left, text=text)

    def show(self, result: Result | ModelAnswer) -> None:
        """One more result is there."""
        self.advance()

    def end(self, report: SuiteReport) -> None:
        """What is known of a suite."""
        self.print(_block(report))

    def finish(self, reports: Sequence[SuiteReport], commands: Sequence[str] = ()) -> None:
        """One line about all suites."""
        wrong = any((it.held and it.held.unexpected) or unfinished(it) for it in reports)
        style = "bold red" if wrong else "bold green"
        self.print([Text(conclusion(reports), style=style)])


def _block(it: SuiteReport) -> Iterator[Text]:
    """What a suite is for, how many of each word there are, and what is not as expected."""
    yield Text(it.folder, style="bold").append(f": {it.about}", style="not bold")
    yield from _table(it.results)
    yield Text(f"  {_extent(it)}")
    for each in it.results:
        if each.words in (Word.ERROR, Word.UNKNOWN) or each.internal:
            yield Text(f"  {each.file} under {each.column}: {each.reason}", style="red")
    for line in comparison(it, at_most=_AT_MOST):
        yield Text("  ").append(line)
    if it.held is None and not it.refreshed:
        yield Text("  nothing is expected of these tests yet (--refresh)", style="yellow")
    if words := unfinished(it):
        yield Text(f"  {words}", style="bold red")
    yield Text("")


def _table(results: Sequence[Result | ModelAnswer]) -> Iterator[Text]:
    """How many results of each kind, a line for each scheme or model."""
    kinds, rows = tally(results)
    width = max(map(len, rows), default=0)
    if kinds:
        heads = "".join(f"  {_head(kind)}" for kind in kinds)
        yield Text(f"  {'':{width}}{heads}", style="dim")
    for name, counts in rows.items():
        line = Text(f"  {name:{width}}")
        for kind in kinds:
            count = f"  {counts[kind] or '–':>{len(_head(kind))}}"
            line.append(count, style=_STYLES.get(kind, ""))
        yield line


def _head(kind: str) -> str:
    """What stands over a column, right above its numbers."""
    return f"{kind.removeprefix(PROGRESS):>5}"


def _extent(it: SuiteReport) -> str:
    """How much was decided, how far it reaches, and how long it took."""
    tests = len({each.file for each in it.results})
    parts = [counted(tests, "test"), counted(len(it.names), it.noun)]
    first = next((each for each in it.results if isinstance(each, Result)), None)
    if first is not None:
        within = bounds(each.within for each in it.results)
        reach = f"within {within}" if within else "exact"
        parts += [f"model {first.model}", f"engine {first.engine} ({reach})"]
        parts += [f"{first.reading} reading"] * (first.reading != "outcome")
    cached = sum(each.cached for each in it.results)
    parts += [f"{cached:,} cached"] * bool(cached)
    return ", ".join([*parts, f"{it.seconds:.1f} s"])
