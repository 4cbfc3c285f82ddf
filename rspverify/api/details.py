"""What some forms tell of findings besides: asked after the verdicts, which do not depend on it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Generator, Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from msgspec import Struct

from rspverify.answers import Detail, Result, RowsAtFault, SuiteReport
from rspverify.api.asked import Stop, collect, stoppable
from rspverify.judge.judge import Judge
from rspverify.records import replace
from rspverify.soundness.settings import Settings
from rspverify.source import InputError, Source
from rspverify.verdict import WRONG, ProgressWord

K = TypeVar("K", bound=Hashable)
T = TypeVar("T")
if TYPE_CHECKING:
    from rspverify.drawing.details import Broken
    from rspverify.judge.verdicts import Verdicts

MOST = 200
"""So many findings of a run have details: those with the smallest tests."""


class Details(Struct, frozen=True):
    """Asks what the results of a check rest on.

    texts: those of schemes and tests that are no files, by their names.
    """

    settings: Settings
    judge: Judge
    texts: Mapping[str, Source]

    def with_reasons(
        self, report: SuiteReport, needs: Collection[str], before: int = 0
    ) -> SuiteReport:
        """The report with what is needed, as far as it is known before an interrupt: `faults`, the
        rows at fault of every finding; `details` of the first. before: how many have these."""
        if report.stopped or not needs:
            return report
        from rspverify.render.findings import findings

        found = [it for each in findings(report) if isinstance(it := each.result, Result)]
        stuck = ProgressWord.STUCK
        broken = [it for it in found if it.verdict in WRONG or it.progress is stuck]
        shown = smallest(broken, MOST - before if "details" in needs else 0, self.texts)
        return self._whole(report, broken if "faults" in needs else shown, shown)

    def with_cases(self, report: SuiteReport, most: int, *, broken: bool) -> SuiteReport:
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
        return self._whole(report, shown, shown, reached=True)

    def _whole(
        self,
        report: SuiteReport,
        blamed: Sequence[Result],
        shown: Sequence[Result],
        *,
        reached: bool = False,
    ) -> SuiteReport:
        """The report with the rows at fault of some results, and the details of some."""
        stop = Stop()
        of, to = ({(it.file, it.scheme_file): it for it in those} for those in (blamed, shown))
        at_fault, seen = self.told(of, to, stop, reached=reached)
        interrupted, limit = stop.interrupted, stop.limit
        return replace(report, faults=at_fault, details=seen, interrupted=interrupted, limit=limit)

    def told(
        self,
        blamed: Mapping[K, Result],
        shown: Mapping[K, Result],
        stop: Stop,
        *,
        reached: bool = False,
    ) -> tuple[Mapping[K, RowsAtFault], Mapping[K, Detail]]:
        """By name, the rows at fault of those results that are UNSOUND, and the details of some."""
        from rspverify.drawing.details import details, faults, of_results
        from rspverify.judge.faults import of_one_run

        def known_of(what: str, of: Mapping[K, Result], ask: Callable[..., Any]) -> dict[K, Any]:
            def coming() -> Generator[Any, None, None]:  # what it reads may have changed meanwhile
                given = (self.settings, self.judge, self.texts)
                yield from ask(*of_results([*of.values()], *given, reached=reached))

            return known(of, coming(), self.judge, stop, what)

        unsound = {name: it for name, it in blamed.items() if it.verdict in WRONG}
        at_fault = of_one_run(known_of("rows at fault", unsound, faults))
        return at_fault, known_of("executions", shown, details)


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


def known(
    names: Collection[K],
    coming: Generator[T, None, None],
    judge: Judge,
    stop: Stop,
    what: str = "findings",
) -> dict[K, T]:
    """What comes, by name, as far as it is known before an interrupt.

    What is wrong with a file by now is said.
    """
    from rspverify.render.progress import Bar

    found: list[T] = []
    if names and not stop.reason:
        with stoppable() as later, Bar() as bar:
            bar.count(what, len(names))
            try:
                collect(coming, found, lambda _: bar.advance())
            except InputError as error:  # a file has changed meanwhile: the verdicts stand
                judge.warn(str(error))
        stop.interrupted |= later.interrupted
        stop.limit = stop.limit or later.limit
    return dict(zip(names, found, strict=False))


def known_details(
    broken: Mapping[str, Broken], verdicts: Verdicts, stop: Stop
) -> dict[str, Detail]:
    """What the first of these rest on, by name, as far as it is known before an interrupt."""
    from rspverify.drawing.details import details

    first = dict(list(broken.items())[:MOST])
    return known(first, details(first.values(), verdicts), verdicts.judge, stop)
