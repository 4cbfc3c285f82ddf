"""`outcomes`: All outcomes that the model allows and schemes reach; races."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rspverify.answers import OutcomeAnswer, OutcomesReport
from rspverify.api.asked import Asked, Ending, Stop
from rspverify.api.inputs import AScheme, schemes_given, tests_given
from rspverify.api.judges import judge_of
from rspverify.api.parameters import OfTests, question
from rspverify.architecture.machines import machine_named
from rspverify.axiomatic.cat import load_model
from rspverify.corpus.inputs import meant_by, tests_meant
from rspverify.judge.judge import Judge
from rspverify.judge.listing import Listing
from rspverify.options import option
from rspverify.records import replace
from rspverify.schedulers import schedulers_of
from rspverify.soundness.settings import Settings
from rspverify.source import Given, InputError, Problem, name_of, require
from rspverify.terminal.ask import answered
from rspverify.terminal.command import Command
from rspverify.terminal.output import Output, note
from rspverify.translators import read_translator
from rspverify.verdict import Word

if TYPE_CHECKING:
    from rich.console import Console

    from rspverify.render.document import Document
    from rspverify.render.outcomes import OutcomesStream


@dataclass(frozen=True)
class OutcomesParameters(OfTests):
    """Which executions count."""

    schemes: AScheme | Iterable[AScheme] = option(
        (), "Show what this scheme reaches, too.", name="--scheme"
    )
    settings: Settings = Settings()
    races: bool = option(
        False,
        "Only whether each test races; of one test, the two accesses and a consistent "
        "execution that has them.",
    )
    scheduler: str | None = option(
        None,
        "Only executions that this scheduler allows. obe:N: no more than N work-groups "
        "are occupant at once; any other allows them all.",
        metavar="SCHEDULER",
        completes="scheduler",
    )
    judge: Judge | None = None


class Outcomes(Asked[OutcomeAnswer, OutcomesReport]):
    """The outcomes of each test, in their order. model: its name."""

    shown = ("text", "herd")

    def __init__(self, listing: Listing, tests: Sequence[Given], judge: Judge) -> None:
        super().__init__()
        self.tests, self.model = tests, listing.model.name
        self.notes = listing.model.notes
        self._listing, self._judge = listing, judge

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

    def document(self, report: OutcomesReport, *, detailed: bool = False) -> Document:
        """What is said of all tests."""
        from rspverify.render.outcomes import document

        return document(report)

    def stream(self, console: Console, form: str) -> OutcomesStream:
        """Shows each test, and how far it is with the one that it is at."""
        from rspverify.render.outcomes import OutcomesStream

        stream = OutcomesStream(console, form, total=len(self.tests))
        self._listing.so_far.step = stream.step
        return stream

    def ending(self, report: OutcomesReport) -> Ending:
        """3: a limit was met, or a test is beyond this version."""
        words = {each.word for each in report.results}
        return Ending(
            internal=any(each.internal for each in report.results),
            wrong=Word.ERROR in words,
            undecided=bool(words & {Word.UNSUPPORTED, Word.UNKNOWN}),
        )


@question(OutcomesParameters)
def outcomes(asked: OutcomesParameters) -> Outcomes:
    """List every outcome that the model allows, and those that schemes reach on the machine.

    Of many tests, one after the other; what is wrong with one is said, and the others go on. Where
    there are more than 20,000 outcomes, or no time is left (--timeout), or at Ctrl-C, those that
    were found by then are shown, and that they are not all.

    In Python: OutcomesParameters has what can be chosen. Tests in assembly are put to the machine
    of the settings, and to no model. Raises InputError.

    Examples:
        >>> answer = rspverify.outcomes("Fig4").report().results[0]
        >>> [str(row.outcome) for row in answer.outcomes]
        ['1:r0=0 1:r1=-1 x=42 y=1', '1:r0=1 1:r1=42 x=42 y=1']
    """
    settings, races, scheduler = asked.settings, asked.races, asked.scheduler
    named = schemes_given(asked.schemes)
    require(not (races and named), "--races must go without --scheme: it asks the model alone")
    message = "--scheduler must go without --scheme, --races and --machine: it asks the source"
    require(scheduler is None or not (named or races or settings.machine), message)
    chosen = None if scheduler is None else schedulers_of([scheduler])[0]
    problems: list[Problem] = []
    files = tests_meant(tests_given(asked.tests), problems).tests
    if problems:
        raise InputError(problems)
    model = load_model(settings.model)
    found = meant_by(schemes=named).schemes
    tables = tuple(read_translator(each, settings.machine) for each in found)
    names = tuple(map(name_of, found))
    machine = None if settings.machine is None else machine_named(settings.machine)
    listing = Listing(model, tables, names, settings, races, machine, chosen)
    return Outcomes(listing, files, asked.judge or judge_of(cache=False))


def _run(asked: OutcomesParameters, output: Output) -> int:
    for name, given in (("--races", asked.races), ("--scheme", asked.schemes)):
        message = f"{name} must go with --format text or json: herd has no form for it"
        require(not (given and output.format == "herd"), message)
    found = outcomes.of(replace(asked, judge=output.judge()))
    note(found.notes)
    return answered(found, output)


COMMAND = Command(
    OutcomesParameters,
    _run,
    about=outcomes,
    ends="3 a limit was met, or a test is beyond this version; 0 otherwise",
    takes=("engine", "model", "seconds", "steps", "machine", "l2", "states", "unroll", "mixed"),
    forms={"text": "Text, JSON for other tools, or what herd7 prints.", "json": "", "herd": ""},
    also=("output", "jobs"),
)
