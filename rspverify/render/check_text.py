"""`check` for people: tests that are not as one wishes, with their verdicts, and a summary."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, TextColumn, TimeRemainingColumn
from rich.text import Text

from rspverify.answers import ModelAnswer, Result, SuiteReport
from rspverify.render.expectations import (
    difference,
    gone,
    noun_of,
    progress_in_words,
    unfinished,
)
from rspverify.render.progress import Stream
from rspverify.render.words import PROGRESS_STYLES, STYLES, bounds, counted
from rspverify.verdict import Word

_DECIDED = {Word.SOUND, Word.UNSOUND, Word.RACY, Word.VACUOUS}
_WISHED = {Word.SOUND, Word.RACY, Word.UNSUPPORTED}
_WORD_WIDTH = 11
_PROGRESS_WIDTH = 9
_LONGEST_SCHEME = 24
NARROWEST = 20
_WIDEST = 56
"""Columns for the name of a test at the least and the most; a longer one is cut in its middle."""

ALL = 10
"""So many tests are all shown, whatever their verdicts."""

_NO_ROW = re.compile(r"has no row for (.+?) on \w+")


class CheckStream(Stream):
    """Prints the row of a test as soon as it is decided under every scheme, below its folder.

    tests: their paths. Of many only those are shown that are not as one wishes: `wished` says which
    are. everything: all are shown. progress: that of programs (docs/semantics.md, Progress) stands
    beside their verdicts.
    """

    def __init__(
        self,
        console: Console,
        schemes: Sequence[str],
        tests: Sequence[str],
        text: bool,
        *,
        wished: Callable[[Result], bool],
        everything: bool = False,
        progress: bool = False,
    ) -> None:
        verdicts = TextColumn("{task.completed} of {task.total} {task.description}")
        total = len(tests) * len(schemes)
        left = TimeRemainingColumn(elapsed_when_finished=True)
        super().__init__(console, verdicts, BarColumn(), left, text=text)
        self.count("verdicts", total)
        self._schemes = schemes
        self._with_progress = progress
        self._wished = wished
        self._everything = everything or len(tests) <= ALL
        self._pending: list[Result] = []
        self._results: list[Result] = []
        self._hidden = 0
        self._folder: str | None = None
        word = _WORD_WIDTH + (_PROGRESS_WIDTH if progress else 0)
        self._columns = [max(word, min(len(name), _LONGEST_SCHEME)) for name in schemes]
        room = console.width - 2 - sum(2 + each for each in self._columns)
        names = max((len(_name(test)) for test in tests), default=0)
        self._width = max(NARROWEST, min(names, room, _WIDEST))

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
        row, self._pending = self._pending, []
        if not row:
            return
        if not self._everything and all(map(self._wished, row)):
            self._hidden += 1
            return
        self.print([*self._headings(row[0].file), *self._row(row)])

    def _headings(self, file: str) -> Iterator[Text]:
        """The schemes, before the first row, and the folder of a test where it is another."""
        if self._folder is None:
            names = zip(self._schemes, self._columns, strict=True)
            cells = "  ".join(middle_cut(name, width).ljust(width) for name, width in names)
            yield Text(f"{'test'.ljust(self._width + 2)}  {cells}".rstrip(), style="bold")
        folder = Path(file).parent.as_posix()
        if folder != self._folder:
            self._folder = folder
            if folder != ".":
                yield Text(folder, style="dim")

    def _row(self, results: Sequence[Result]) -> Iterator[Text]:
        """One test: a verdict per scheme, then each reason that is worth a line, and whose."""
        line = Text(f"  {middle_cut(_name(results[0].file), self._width).ljust(self._width)}")
        reasons: dict[tuple[Word, str], list[str]] = {}
        for it, width in zip(results, self._columns, strict=False):
            word, start = it.verdict, len(line)
            line.append("  ").append(word.value.ljust(_WORD_WIDTH), style=STYLES[word])
            if self._with_progress:
                style = PROGRESS_STYLES[it.progress] if it.progress else ""
                line.append(f"  {it.progress or '':{_PROGRESS_WIDTH - 2}}", style=style)
            line.append(" " * (start + 2 + width - len(line)))
            if word is not Word.SOUND or it.within:
                reasons.setdefault((word, it.reason), []).append(it.scheme)
        line.rstrip()
        yield line
        for it in results:
            if reason := progress_in_words(it):
                reasons.setdefault((it.verdict, reason), []).append(it.scheme)
        for (word, reason), schemes in reasons.items():
            who = "" if len(schemes) == len(results) else f"{', '.join(schemes)}: "
            if word is Word.ERROR:
                yield Text(f"{who}{reason}", style="red")
            else:
                internal = any(it.internal and it.reason == reason for it in results)
                yield Text(f"    {who}{reason}", style="bold red" if internal else "dim")

    def end(self, report: SuiteReport) -> None:
        """The rest of the rows."""
        self._print_pending()

    def finish(self, reports: Sequence[SuiteReport], commands: Sequence[str] = ()) -> None:
        """The summary, what is not as expected, and the commands that show more."""
        (report,) = reports
        if self._hidden:
            words = f"{counted(self._hidden, 'test')} as one wishes, not shown (--all)"
            self.print([*([""] if self._folder else []), Text(words, style="dim")])
        self.print(_summary(report, self._results))
        if not self._everything:
            self.print(_unsupported(self._results))
        self.print(comparison(report))
        for command in commands:
            self.print([Text(f"to see why: {command}")])


def wished(it: Result) -> bool:
    """Whether a verdict needs nobody's attention where nothing is expected of it."""
    return it.verdict in _WISHED and not progress_in_words(it) and not it.internal


def middle_cut(name: str, width: int) -> str:
    """A name as it is, or with something left out in its middle."""
    if len(name) <= width:
        return name
    first = (width - 1) // 2
    return f"{name[:first]}…{name[len(name) - (width - 1 - first) :]}"


def _name(file: str) -> str:
    return Path(file).stem


def _unsupported(results: Sequence[Result]) -> Iterator[Text]:
    """Why tests cannot be compiled: operations without a row, and how many tests have them."""
    missing: dict[str, dict[str, dict[str, None]]] = {}
    for it in results:
        if it.verdict is Word.UNSUPPORTED:
            found = [f"no row for {each}" for each in _NO_ROW.findall(it.reason)]
            for reason in found or [it.reason]:
                missing.setdefault(reason, {}).setdefault(it.file, {})[it.scheme] = None
    for reason, files in sorted(missing.items(), key=lambda each: (-len(each[1]), each[0])):
        schemes = ", ".join(dict.fromkeys(name for names in files.values() for name in names))
        words = f"  UNSUPPORTED under {schemes}: {reason}, in {counted(len(files), 'test')}"
        yield Text(words, style="cyan")


def _summary(report: SuiteReport, results: Sequence[Result]) -> Iterator[Text]:
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
            f"{counted(tests, 'test')}, {counted(len(schemes), 'scheme')}, "
            f"{f'machine {first.machine}, ' if first.machine else ''}model {first.model}, "
            f"engine {first.engine}{reach}, {first.reading} reading, {report.seconds:.1f} s"
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
                if word == Word.UNSOUND and (excused := sum(bool(it.sound_if) for it in own)):
                    line.append(f" ({excused} SOUND if a switch is on)")
        yield line.append("  (some only within the bound)" if any(it.within for it in own) else "")
    confirmed = Counter(it.confirmed for it in results if it.confirmed)
    sound = sum(it.verdict is Word.SOUND for it in results)
    for solver, count in sorted(confirmed.items()):
        yield Text(f"  {count} of {sound} SOUND confirmed by {solver}")
    if rest := unfinished(report):
        yield Text(rest, style="bold red")


def comparison(report: SuiteReport, *, at_most: int | None = None) -> Iterator[Text]:
    """What is not as expected, at most so many of it, or that everything is."""
    it, noun = report.held, noun_of(report)
    if it is None:
        return
    for each in it.differences[:at_most]:
        result = each.result
        words = f"{result.file} under {result.column}: {difference(each, noun)}"
        yield Text(words, style="bold red")
    for test in it.gone:
        yield Text(gone(test, it), style="bold red")
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
