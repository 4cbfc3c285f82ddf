"""`check` for people: a line per test with its verdicts, the reasons below, and a summary."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from rich.console import Console
from rich.progress import BarColumn, TextColumn, TimeElapsedColumn
from rich.text import Text

from rspverify.answers import ModelAnswer, Result, SuiteReport
from rspverify.render.progress import Stream
from rspverify.render.words import PROGRESS_STYLES, STYLES, bounds, counted
from rspverify.verdict import ProgressWord, Word

_DECIDED = {Word.SOUND, Word.UNSOUND, Word.RACY, Word.VACUOUS}
_WORD_WIDTH = 11
_PROGRESS_WIDTH = 9
_WIDTH = 56
"""Columns for the title of a test; longer ones push their verdicts to the right."""


class CheckStream(Stream):
    """Prints the row of a test as soon as it is decided under every scheme.

    progress: that of programs (docs/semantics.md, Progress) stands beside their verdicts.
    """

    def __init__(
        self,
        console: Console,
        schemes: Sequence[str],
        tests: int,
        text: bool,
        *,
        progress: bool = False,
    ) -> None:
        verdicts = TextColumn("{task.completed} of {task.total} verdicts")
        total = tests * len(schemes)
        super().__init__(
            console, verdicts, BarColumn(), TimeElapsedColumn(), text=text, total=total
        )
        self._schemes = schemes
        self._with_progress = progress
        self._pending: list[Result] = []
        self._results: list[Result] = []
        self._heading = [_heading(schemes, progress)]

    def __exit__(self, *error: object) -> None:
        self._print_pending()
        super().__exit__(*error)

    def begin(self, what: str, total: int) -> None:
        """The heading comes with the first row."""

    def show(self, result: Result | ModelAnswer) -> None:
        """Take the next result, which is that of a scheme."""
        assert isinstance(result, Result)
        self._results.append(result)
        self.advance()
        if self._pending and self._pending[0].file != result.file:
            self._print_pending()
        self._pending.append(result)
        if len(self._pending) == len(self._schemes):
            self._print_pending()

    def _print_pending(self) -> None:
        if self._pending:
            self.print((*self._heading, *_row(self._pending, self._with_progress)))
            self._heading, self._pending = [], []

    def end(self, report: SuiteReport, *, refreshed: bool) -> None:
        """The rest of the rows."""
        self._print_pending()

    def finish(self, reports: Sequence[SuiteReport]) -> None:
        """The summary, and what is not as expected."""
        (report,) = reports
        self.print(_summary(self._results, report.seconds, report.total))
        self.print(comparison(report))


def _heading(schemes: Sequence[str], progress: bool) -> Text:
    column = _WORD_WIDTH + (_PROGRESS_WIDTH if progress else 0)
    names = "  ".join(name.ljust(column) for name in schemes)
    return Text(f"{'test'.ljust(_WIDTH)}  {names}".rstrip(), style="bold")


def _row(results: Sequence[Result], progress: bool) -> Iterator[Text]:
    """One test: a verdict per scheme, then each reason that is worth a line, with who it is for."""
    line = Text(results[0].test.ljust(_WIDTH))
    reasons: dict[tuple[Word, str], list[str]] = {}
    for it in results:
        word = it.verdict
        line.append("  ").append(word.value.ljust(_WORD_WIDTH), style=STYLES[word])
        if progress:
            style = PROGRESS_STYLES[it.progress] if it.progress else ""
            line.append(f"  {it.progress or '':{_PROGRESS_WIDTH - 2}}", style=style)
        if word is not Word.SOUND or it.within:
            reasons.setdefault((word, it.reason), []).append(it.scheme)
    line.rstrip()
    yield line
    for it in results:
        if it.progress and it.progress is not ProgressWord.LIVE:
            reason = f"{it.progress} {it.progress_reason}"
            reasons.setdefault((it.verdict, reason), []).append(it.scheme)
    for (word, reason), schemes in reasons.items():
        who = "" if len(schemes) == len(results) else f"{', '.join(schemes)}: "
        if word is Word.ERROR:
            yield Text(f"{who}{reason}", style="red")
        else:
            internal = any(it.internal and it.reason == reason for it in results)
            yield Text(f"    {who}{reason}", style="bold red" if internal else "dim")


def _summary(results: Sequence[Result], seconds: float, total: int) -> Iterator[Text]:
    """How many of each verdict, per scheme; and how much was decided of what was asked."""
    tests = len({it.file for it in results})
    schemes = dict.fromkeys((it.scheme_file, it.scheme) for it in results)
    yield Text("")
    if results:
        first, within = results[0], bounds(it.within for it in results)
        decided = any(it.verdict in _DECIDED for it in results)
        reach = f" (within {within})" if within else " (exact)" if decided else ""
        cached = sum(it.cached for it in results)
        known = f", {cached:,} of {counted(len(results), 'result')} from the cache"
        yield Text(
            f"{counted(tests, 'test')}, {counted(len(schemes), 'scheme')}, model {first.model}, "
            f"engine {first.engine}{reach}, {first.reading} reading, {seconds:.1f} s"
            f"{known if cached else ''}",
            style="bold",
        )
    width = max((len(name) for _, name in schemes), default=0)
    for file, name in schemes:
        own = [it for it in results if it.scheme_file == file]
        line = Text(f"  {name.ljust(width)}")
        words = Counter(it.verdict for it in own)
        going = Counter(it.progress for it in own if it.progress)
        shown = [(words[word], word.value, style) for word, style in STYLES.items()]
        shown += [(going[word], word.value, style) for word, style in PROGRESS_STYLES.items()]
        for count, word, style in shown:
            if count:
                line.append(f"  {count:4} ").append(word, style=style)
        yield line.append("  (some only within the bound)" if any(it.within for it in own) else "")
    confirmed = Counter(it.confirmed for it in results if it.confirmed)
    sound = sum(it.verdict is Word.SOUND for it in results)
    for solver, count in sorted(confirmed.items()):
        yield Text(f"  {count} of {sound} SOUND confirmed by {solver}")
    if len(results) < total:
        interrupted = f"interrupted: {len(results)} of {total} verdicts decided, the rest not"
        yield Text(interrupted, style="bold red")


def comparison(report: SuiteReport, *, at_most: int | None = None) -> Iterator[Text]:
    """What is not as expected, at most so many of it, or that everything is."""
    it, noun = report.held, "verdict" if report.noun == "scheme" else "answer"
    if it is None:
        return
    for each in it.differences[:at_most]:
        result = each.result
        was = each.expected or f"nothing (no {noun} is written down)"
        yield Text(
            f"{result.file} under {result.column}: expected {was}, got {result.claim}",
            style="bold red",
        )
    for test in it.gone:
        yield Text(f"{test}: must be a test, as {it.file} has it, or be left out", style="bold red")
    if at_most is not None and len(it.differences) > at_most:
        yield Text(f"and {len(it.differences) - at_most:,} more (--format json has all)")
    if it.differences:
        yield Text(f"{counted(len(it.differences), noun)} not as in {it.file}", style="bold red")
    if it.gone:
        yield Text(f"{counted(len(it.gone), 'test')} of {it.file} not there", style="bold red")
    if report.results and not it.unexpected:
        decided = " that was decided" if len(report.results) < report.total else ""
        yield Text(f"every {noun}{decided} is as in {it.file}", style="green")
    if it.unasked:
        what = f"of {counted(it.unasked, noun)} progress is expected, and not asked for"
        yield Text(f"{what} (--progress)", style="yellow")
