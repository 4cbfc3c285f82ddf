"""What some forms tell of findings besides: asked after the verdicts, which do not depend on it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Generator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from msgspec import Struct

from rspverify.answers import Detail, Result, RowsAtFault, SuiteReport
from rspverify.api.asked import Stop, collect, stoppable
from rspverify.judge.judge import Judge
from rspverify.records import replace
from rspverify.render.forms import need
from rspverify.soundness.settings import Settings
from rspverify.source import InputError, Source
from rspverify.verdict import ProgressWord, Word

if TYPE_CHECKING:
    from rspverify.drawing.details import Broken
    from rspverify.judge.verdicts import Verdicts
    from rspverify.render.progress import Stream

MOST = 200
"""So many findings of a run have details: those with the smallest tests."""
T = TypeVar("T")


class Wanted(Struct, frozen=True):
    """What is asked: the rows at fault of every finding; of so many, details and these rows."""

    faults: bool
    details: int

    @staticmethod
    def of(forms: Collection[str]) -> Wanted:
        """What some forms tell."""
        return Wanted(need(forms, "faults"), MOST if need(forms, "details") else 0)

    def after(self, report: SuiteReport) -> Wanted:
        """What is asked of the next suite."""
        return replace(self, details=self.details - len(report.details))


class Details(Struct, frozen=True):
    """Asks what the results of a check rest on.

    texts: those of schemes and tests that are no files, by their names. A stream is told how far it
    is.
    """

    settings: Settings
    judge: Judge
    texts: Mapping[str, Source]

    def with_reasons(
        self, report: SuiteReport, wanted: Wanted, stream: Stream | None = None
    ) -> SuiteReport:
        """The report with what is wanted, as far as it is known before an interrupt."""
        if report.stopped or not (wanted.faults or wanted.details):
            return report
        from rspverify.render.findings import findings

        found = [it for each in findings(report) if isinstance(it := each.result, Result)]
        stuck = ProgressWord.STUCK
        broken = [it for it in found if it.verdict is Word.UNSOUND or it.progress is stuck]
        shown = smallest(broken, wanted.details, self.texts)
        return self._told(report, broken if wanted.faults else shown, shown, stream)

    def with_cases(
        self, report: SuiteReport, most: int, stream: Stream | None = None, *, broken: bool = False
    ) -> SuiteReport:
        """The report with what so many of its results rest on, those with a counterexample first.

        Of those that are SOUND, with the outcomes that the machine reaches; none of them if only
        those are told that are `broken`. Others have none.
        """
        if report.stopped:
            return report
        from rspverify.render.site import BROKEN, kind_of, told

        found = [it for it in report.results if isinstance(it, Result) and told(it)]
        found = [it for it in found if not broken or kind_of(it) in BROKEN]
        shown = sorted(found, key=lambda it: kind_of(it) not in BROKEN)[:most]
        return self._told(report, shown, shown, stream, reached=True)

    def _told(
        self,
        report: SuiteReport,
        blamed: Sequence[Result],
        shown: Sequence[Result],
        stream: Stream | None,
        *,
        reached: bool = False,
    ) -> SuiteReport:
        """The report with the rows at fault of some results, and the details of some."""
        from rspverify.drawing.details import details
        from rspverify.judge.faults import faults

        def asked(
            what: str,
            of: Sequence[Result],
            coming: Callable[[], Generator[T, None, None]],
            found: list[T],
        ) -> None:
            if of and stream:
                stream.count(what, len(of))
            if of:
                ask(coming(), found, self.judge, stream.advance if stream else lambda: None)

        given = (self.settings, self.judge, self.texts)
        unsound = [it for it in blamed if it.verdict is Word.UNSOUND]
        at_fault, seen = list[RowsAtFault](), list[Detail]()
        with stoppable() as stop:
            asked("rows at fault", unsound, partial(faults, unsound, *given), at_fault)
            asked("executions", shown, partial(details, shown, *given, reached=reached), seen)
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


def known(
    names: Mapping[str, object], coming: Generator[T, None, None], judge: Judge, stop: Stop
) -> dict[str, T]:
    """What comes, by name, as far as it is known before an interrupt; with a bar."""
    from rspverify.render.progress import counting

    found: list[T] = []
    if names and not stop.reason:
        with stoppable() as later, counting("findings", len(names)) as advance:
            ask(coming, found, judge, advance)
        stop.interrupted |= later.interrupted
    return dict(zip(names, found, strict=False))


def known_details(
    broken: Mapping[str, Broken], verdicts: Verdicts, stop: Stop
) -> dict[str, Detail]:
    """What the first of these rest on, by name, as far as it is known before an interrupt."""
    from rspverify.drawing.details import details_of

    first = dict(list(broken.items())[:MOST])
    return known(first, details_of([*first.values()], verdicts), verdicts.judge, stop)


def _named(it: Result) -> tuple[str, str]:
    return it.file, it.scheme_file
