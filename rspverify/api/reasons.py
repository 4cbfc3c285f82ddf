"""What some forms tell of findings besides: asked after the verdicts, which do not depend on it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Generator, Mapping, Sequence
from typing import Protocol, TypeVar

from msgspec import Struct

from rspverify.answers import Detail, Result, RowsAtFault, SuiteReport
from rspverify.api.asked import collect, stoppable
from rspverify.judge.judge import Judge
from rspverify.records import replace
from rspverify.soundness.settings import Settings
from rspverify.source import InputError, Source

FAULTS = frozenset({"sarif", "github"})
"""The forms that tell the rows at fault of every finding, which it takes time to find."""
DETAILS = frozenset({"html"})
"""Those that show what findings rest on, which takes time, too; and their rows at fault."""
MOST = 200
"""So many findings of a run have details: those with the smallest tests."""
T = TypeVar("T")


class Listener(Protocol):
    """Whoever is told how far something is."""

    def count(self, what: str, total: int) -> None:
        """From now on so many of these are counted."""

    def advance(self) -> None:
        """One more is there."""


class Silent:
    """Does not listen."""

    def count(self, what: str, total: int) -> None:
        """From now on so many of these are counted."""

    def advance(self) -> None:
        """One more is there."""


class Wanted(Struct, frozen=True):
    """What is asked: the rows at fault of every finding; of so many, details and these rows."""

    faults: bool
    details: int

    @staticmethod
    def of(forms: Collection[str]) -> Wanted:
        """What some forms tell."""
        details = not DETAILS.isdisjoint(forms)
        return Wanted(not FAULTS.isdisjoint(forms), MOST if details else 0)

    def after(self, report: SuiteReport) -> Wanted:
        """What is asked of the next suite."""
        return replace(self, details=self.details - len(report.details))


def with_reasons(
    report: SuiteReport,
    settings: Settings,
    judge: Judge,
    wanted: Wanted,
    texts: Mapping[str, Source],
    listener: Listener,
) -> SuiteReport:
    """The report with what is wanted, as far as it is known before an interrupt.

    texts: those of schemes and tests that are no files, by their names. listener: is told how far
    it is.
    """
    if report.stopped or not (wanted.faults or wanted.details):
        return report
    from rspverify.render.findings import findings
    from rspverify.verdict import ProgressWord, Word

    found = [it for each in findings(report) if isinstance(it := each.result, Result)]
    stuck = ProgressWord.STUCK
    broken = [it for it in found if it.verdict is Word.UNSOUND or it.progress is stuck]
    shown = smallest(broken, wanted.details, texts)
    blamed = broken if wanted.faults else shown
    return _told(report, blamed, shown, settings, judge, texts, listener)


def with_cases(
    report: SuiteReport,
    settings: Settings,
    judge: Judge,
    most: int,
    texts: Mapping[str, Source],
    listener: Listener,
    *,
    broken: bool,
) -> SuiteReport:
    """The report with what so many of its results rest on, those with a counterexample first.

    Of those that are SOUND, with the outcomes that the machine reaches; none of them if only those
    are told that are `broken`. Others have none.
    """
    if report.stopped:
        return report
    from rspverify.render.site_html import BROKEN, kind_of, told

    found = [it for it in report.results if isinstance(it, Result) and told(it)]
    found = [it for it in found if not broken or kind_of(it) in BROKEN]
    shown = sorted(found, key=lambda it: kind_of(it) not in BROKEN)[:most]
    return _told(report, shown, shown, settings, judge, texts, listener, reached=True)


def _told(
    report: SuiteReport,
    blamed: Sequence[Result],
    shown: Sequence[Result],
    settings: Settings,
    judge: Judge,
    texts: Mapping[str, Source],
    listener: Listener,
    *,
    reached: bool = False,
) -> SuiteReport:
    """The report with the rows at fault of some results, and the details of some."""
    from rspverify.drawing.details import details
    from rspverify.judge.faults import faults
    from rspverify.verdict import Word

    unsound = [it for it in blamed if it.verdict is Word.UNSOUND]
    at_fault: list[RowsAtFault] = []
    seen: list[Detail] = []
    with stoppable() as stop:
        if unsound:
            listener.count("rows at fault", len(unsound))
            ask(faults(unsound, settings, judge, texts), at_fault, judge, listener.advance)
        if shown:
            listener.count("executions", len(shown))
            asked = details(shown, settings, judge, texts, reached=reached)
            ask(asked, seen, judge, listener.advance)
    return replace(
        report,
        faults={_named(it): fault for it, fault in zip(unsound, at_fault, strict=False)},
        details={_named(it): detail for it, detail in zip(shown, seen, strict=False)},
        interrupted=stop.interrupted,
        limit=stop.limit,
    )


def smallest(results: Sequence[Result], number: int, texts: Mapping[str, Source]) -> list[Result]:
    """So many results, those with the smallest tests, in their order."""
    if len(results) <= number:
        return list(results)
    by_size = sorted(range(len(results)), key=lambda place: _size(results[place].file, texts))
    return [results[place] for place in sorted(by_size[:number])]


def _size(file: str, texts: Mapping[str, Source]) -> int:
    from rspverify.shipped import located

    if file in texts:
        return len(texts[file].text)
    try:
        return located(file).stat().st_size
    except OSError:  # it has gone meanwhile
        return 0


def ask(
    coming: Generator[T, None, None],
    found: list[T],
    judge: Judge,
    advance: Callable[[], object],
) -> None:
    """Take what comes; what is wrong with a file by now is said, and ends it."""
    try:
        collect(coming, found, lambda _: advance())
    except InputError as error:  # a file has changed meanwhile: the verdicts stand
        judge.warn(str(error))


def _named(it: Result) -> tuple[str, str]:
    return it.file, it.scheme_file
