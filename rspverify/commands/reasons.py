"""What some forms tell of findings besides: asked after the verdicts, which do not depend on it."""

from __future__ import annotations

from collections.abc import Collection, Generator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeVar

from rspverify.commands.guard import collect, stoppable, tell
from rspverify.commands.reports import DETAILS, FAULTS, Form
from rspverify.source import InputError

if TYPE_CHECKING:
    from rspverify.answers import Detail, Fault, Result, SuiteReport
    from rspverify.judge.judge import Judge
    from rspverify.render.progress import Stream
    from rspverify.soundness.settings import Settings

MOST = 200
"""So many findings of a run have details: those with the smallest tests."""
T = TypeVar("T")


@dataclass(frozen=True)
class Wanted:
    """What is asked: the rows at fault of every finding; of so many, details and these rows."""

    faults: bool
    details: int

    @staticmethod
    def of(forms: Collection[Form]) -> Wanted:
        """What some forms tell."""
        details = not DETAILS.isdisjoint(forms)
        return Wanted(not FAULTS.isdisjoint(forms), MOST if details else 0)

    def after(self, report: SuiteReport) -> Wanted:
        """What is asked of the next suite."""
        return replace(self, details=self.details - len(report.details))


def with_reasons(
    report: SuiteReport, settings: Settings, judge: Judge, wanted: Wanted, stream: Stream
) -> SuiteReport:
    """The report with what is wanted, as far as it is known before an interrupt.

    stream: where it is told how far it is.
    """
    if report.stopped or not (wanted.faults or wanted.details):
        return report
    from rspverify.answers import Result
    from rspverify.drawing.details import details
    from rspverify.judge.faults import faults
    from rspverify.render.findings import findings
    from rspverify.verdict import ProgressWord, Word

    found = [it for each in findings(report) if isinstance(it := each.result, Result)]
    stuck = ProgressWord.STUCK
    broken = [it for it in found if it.verdict is Word.UNSOUND or it.progress is stuck]
    shown = smallest(broken, wanted.details)
    blamed = broken if wanted.faults else shown
    unsound = [it for it in blamed if it.verdict is Word.UNSOUND]
    at_fault: list[Fault] = []
    seen: list[Detail] = []
    with stoppable() as stop:
        if unsound:
            stream.count("rows at fault", len(unsound))
            _ask(faults(unsound, settings, judge), at_fault, stream)
        if shown:
            stream.count("executions", len(shown))
            _ask(details(shown, settings, judge), seen, stream)
    return replace(
        report,
        faults={_named(it): fault for it, fault in zip(unsound, at_fault, strict=False)},
        details={_named(it): detail for it, detail in zip(shown, seen, strict=False)},
        interrupted=stop.interrupted,
        limit=stop.limit,
    )


def smallest(results: Sequence[Result], number: int) -> list[Result]:
    """So many results, those with the smallest tests, in their order."""
    if len(results) <= number:
        return list(results)
    by_size = sorted(range(len(results)), key=lambda place: _size(results[place].file))
    return [results[place] for place in sorted(by_size[:number])]


def _size(file: str) -> int:
    from rspverify.shipped import located

    try:
        return located(file).stat().st_size
    except OSError:  # it has gone meanwhile
        return 0


def _ask(coming: Generator[T, None, None], found: list[T], stream: Stream) -> None:
    try:
        collect(coming, found, lambda _: stream.advance())
    except InputError as error:  # a file has changed meanwhile: the verdicts stand
        tell(error.problems)


def _named(it: Result) -> tuple[str, str]:
    return it.file, it.scheme_file
