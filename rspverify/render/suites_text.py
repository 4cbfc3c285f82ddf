"""`check` of suites for people: a block for each suite, and one line about all of them."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Sequence

from rich.console import Console
from rich.progress import BarColumn, TextColumn, TimeElapsedColumn
from rich.text import Text

from rspverify.answers import OBSERVATIONS, ModelAnswer, Result, SuiteReport
from rspverify.render.check_text import comparison
from rspverify.render.progress import Stream
from rspverify.render.words import PROGRESS_STYLES, STYLES, bounds, counted
from rspverify.verdict import Word

_RACY = STYLES[Word.RACY]
_COLUMNS = (
    *((word, "") for word in OBSERVATIONS),
    ("racy", _RACY),
    *((word.value, style) for word, style in STYLES.items()),
    *((f"progress {word}", style) for word, style in PROGRESS_STYLES.items()),
)
"""What is counted, in the order in which it is shown, and its style."""
_AT_MOST = 20
"""So many results that are not as expected are shown of a suite; of more, their number."""


class SuitesStream(Stream):
    """Prints a block for each suite once it is run."""

    def __init__(self, console: Console, *, text: bool) -> None:
        done = TextColumn("{task.description}: {task.completed:,.0f} of {task.total:,.0f}")
        super().__init__(console, done, BarColumn(), TimeElapsedColumn(), text=text)
        self._started = time.perf_counter()

    def show(self, result: Result | ModelAnswer) -> None:
        """One more result is there."""
        self.advance()

    def end(self, report: SuiteReport, *, refreshed: bool) -> None:
        """What is known of a suite."""
        self.print(_block(report, refreshed=refreshed))

    def finish(self, reports: Sequence[SuiteReport], commands: Sequence[str] = ()) -> None:
        """One line about all suites."""
        self.print([_conclusion(reports, time.perf_counter() - self._started)])


def _block(it: SuiteReport, *, refreshed: bool) -> Iterator[Text]:
    """What a suite is for, how many of each word there are, and what is not as expected.

    refreshed: what is expected is written from the results.
    """
    yield Text(it.folder, style="bold").append(f": {it.about}", style="not bold")
    yield from _table(it.results)
    yield Text(f"  {_extent(it)}")
    for each in it.results:
        if each.words in (Word.ERROR, Word.UNKNOWN) or each.internal:
            yield Text(f"  {each.file} under {each.column}: {each.reason}", style="red")
    for line in comparison(it, at_most=_AT_MOST):
        yield Text("  ").append(line)
    if it.held is None and not refreshed:
        yield Text("  nothing is expected of these tests yet (--refresh)", style="yellow")
    if len(it.results) < it.total:
        words = f"  interrupted: {len(it.results):,} of {it.total:,} decided, the rest not"
        yield Text(words, style="bold red")
    yield Text("")


def _conclusion(suites: Sequence[SuiteReport], seconds: float) -> Text:
    results = [each for it in suites for each in it.results]
    tests = len({each.file for each in results})
    held = [it.held for it in suites if it.held is not None]
    unexpected = sum(each.unexpected for each in held)
    incomplete = any(len(it.results) < it.total for it in suites)
    parts = [counted(len(suites), "suite"), counted(tests, "test"), counted(len(results), "result")]
    if incomplete:
        parts.append("interrupted")
    if unexpected:
        parts.append(f"{unexpected:,} not as expected")
    elif held:
        whole = len(held) == len(suites) and not incomplete
        parts.append("all as expected" if whole else "none unexpected")
    style = "bold red" if unexpected or incomplete else "bold green"
    return Text(", ".join([*parts, f"{seconds:.1f} s"]), style=style)


def _table(results: Sequence[Result | ModelAnswer]) -> Iterator[Text]:
    """How many results of each kind, a line for each scheme or model."""
    rows: dict[str, Counter[str]] = {}
    for each in results:
        rows.setdefault(each.column, Counter()).update(_counted_as(each))
    columns = [(kind, style) for kind, style in _COLUMNS if any(kind in it for it in rows.values())]
    width = max(map(len, rows), default=0)
    if columns:
        heads = "".join(f"  {_head(kind)}" for kind, _ in columns)
        yield Text(f"  {'':{width}}{heads}", style="dim")
    for name, counts in rows.items():
        line = Text(f"  {name:{width}}")
        for kind, style in columns:
            line.append(f"  {counts[kind] or '–':>{len(_head(kind))}}", style=style)
        yield line


def _head(kind: str) -> str:
    """What stands over a column, right above its numbers."""
    return f"{kind.removeprefix('progress '):>5}"


def _counted_as(result: Result | ModelAnswer) -> list[str]:
    if isinstance(result, ModelAnswer):
        return result.words.split()
    progress = [f"progress {result.progress}"] if result.progress else []
    return [result.verdict.value, *progress]


def _extent(it: SuiteReport) -> str:
    """How much was decided, how far it reaches, and how long it took."""
    tests = len({each.file for each in it.results})
    parts = [counted(tests, "test"), counted(it.columns, it.noun)]
    first = next((each for each in it.results if isinstance(each, Result)), None)
    if first is not None:
        within = bounds(each.within for each in it.results)
        reach = f"within {within}" if within else "exact"
        parts += [f"model {first.model}", f"engine {first.engine} ({reach})"]
        parts += [f"{first.reading} reading"] * (first.reading != "outcome")
    cached = sum(each.cached for each in it.results)
    parts += [f"{cached:,} cached"] * bool(cached)
    return ", ".join([*parts, f"{it.seconds:.1f} s"])
