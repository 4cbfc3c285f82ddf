"""All that a model allows of tests, and what schemes reach of it."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from rspverify.answers import OutcomeAnswer, OutcomesReport
from rspverify.api.asked import Asked, Stop, rendered
from rspverify.api.inputs import AScheme, ATest, schemes_given, settled, tests_given
from rspverify.api.judges import judge_of
from rspverify.architecture import machine_named
from rspverify.axiomatic import load_model
from rspverify.corpus.inputs import meant_by, tests_meant
from rspverify.judge.judge import Judge
from rspverify.judge.listing import Listing
from rspverify.judge.reading import load_scheme
from rspverify.soundness.schedulers import schedulers_of
from rspverify.soundness.settings import Settings
from rspverify.source import Given, InputError, Problem, name_of, require

if TYPE_CHECKING:
    from rich.console import Console


class Outcomes(Asked[OutcomeAnswer, OutcomesReport]):
    """The outcomes of each test, in their order. model: its name."""

    def __init__(self, listing: Listing, tests: Sequence[Given], judge: Judge) -> None:
        super().__init__()
        self.tests, self.model = tests, listing.model.name
        self.notes = listing.model.notes
        self._listing, self._judge = listing, judge

    def watch(self, on_step: Callable[[str], None]) -> None:
        """From now on tell how far it is with the test that it is at, in words."""
        self._listing.so_far.step = on_step

    def _answers(self) -> Generator[OutcomeAnswer, None, None]:
        return self._listing.answers(self.tests, self._judge)

    def each(self, show: Callable[[OutcomeAnswer], object]) -> Stop:
        """As ever; of the test that an interrupt meets, the outcomes that were found by then."""
        stop = super().each(show)
        if stop.interrupted and (known := self._listing.so_far.answer("interrupted")):
            self._listing.so_far.end()
            self.known.append(known)
            show(known)
        return stop

    def _report(self, stop: Stop) -> OutcomesReport:
        machine = self._listing.machine
        named = None if machine is None else machine.name
        return OutcomesReport(self.model, tuple(self.known), stop.reason, named)

    @property
    def forms(self) -> Mapping[str, Callable[[OutcomesReport], str]]:
        """Text, JSON, and what herd7 prints."""
        return {"text": _printed("text"), "json": _printed("json"), "herd": _printed("herd")}


def _printed(form: str) -> Callable[[OutcomesReport], str]:
    """What is printed where no terminal is."""

    def text(report: OutcomesReport) -> str:
        from rspverify.render.outcomes_text import OutcomesStream

        def show(console: Console) -> None:
            with OutcomesStream(console, form, total=len(report.results)) as stream:
                for each in report.results:
                    stream.show(each)
            stream.finish(report)

        return rendered(show)

    return text


def outcomes(
    tests: ATest | Iterable[ATest],
    schemes: AScheme | Iterable[AScheme] = (),
    settings: Settings | None = None,
    *,
    races: bool = False,
    scheduler: str | None = None,
    judge: Judge | None = None,
) -> Outcomes:
    """Every outcome that the model allows of tests, and which of them schemes reach.

    Tests in assembly are put to the machine of the settings, and to no model. races: only whether
    each test races; of one test, also the two accesses. scheduler: whose executions alone count;
    obe:N leaves some out. Raises InputError.

    Examples:
        >>> answer = rspverify.outcomes("Fig4").report().results[0]
        >>> [str(row.outcome) for row in answer.outcomes]
        ['1:r0=0 1:r1=-1 x=42 y=1', '1:r0=1 1:r1=42 x=42 y=1']
    """
    settings = settled(settings)
    named = schemes_given(schemes)
    require(not (races and named), "--races must go without --scheme: it asks the model alone")
    message = "--scheduler must go without --scheme, --races and --machine: it asks the source"
    require(scheduler is None or not (named or races or settings.machine), message)
    chosen = None if scheduler is None else schedulers_of([scheduler])[0]
    problems: list[Problem] = []
    files = tests_meant(tests_given(tests), problems).tests
    if problems:
        raise InputError(problems)
    model = load_model(settings.model)
    found = meant_by(schemes=named).schemes
    tables = tuple(load_scheme(each, settings) for each in found)
    names = tuple(map(name_of, found))
    machine = None if settings.machine is None else machine_named(settings.machine)
    listing = Listing(model, tables, names, settings, races, machine, chosen)
    return Outcomes(listing, files, judge or judge_of(cache=False))
