"""`progress`: Whether tests hang, under schedulers that may leave work-groups out."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rspverify.api.asked import Asked, Ending, Stop
from rspverify.api.inputs import several, tests_given
from rspverify.api.judges import chosen
from rspverify.api.parameters import OfTests, question
from rspverify.axiomatic.cat import load_model
from rspverify.corpus.inputs import tests_meant
from rspverify.judge.judge import Judge
from rspverify.judge.waits import Waits
from rspverify.options import option
from rspverify.schedulers import DEFAULT, schedulers_of
from rspverify.soundness.hang import ProgressReport, ScheduledAnswer
from rspverify.soundness.settings import OF_A_TEST, Settings
from rspverify.source import Given, InputError, Problem, require
from rspverify.terminal.ask import asking
from rspverify.terminal.command import TEXT_OR_JSON, Command
from rspverify.verdict import ProgressWord, Word

if TYPE_CHECKING:
    from rich.console import Console

    from rspverify.render.document import Document
    from rspverify.render.hangs import ProgressStream


@dataclass(frozen=True)
class ProgressParameters(OfTests):
    """Who decides."""

    schedulers: str | Iterable[str] = option(
        DEFAULT,
        "fair, obe, obe:N, hsa, hsa-obe, lobe or unfair; as often as wanted. Default: "
        "fair, under which only programs hang that are wrong, and obe, which GPUs keep to.",
        name="--scheduler",
        metavar="SCHEDULER",
        completes="scheduler",
    )
    settings: Settings = Settings()
    judge: Judge | None = None


class Progress(Asked[ScheduledAnswer, ProgressReport]):
    """Each test under each scheduler, test by test. model, schedulers: their names."""

    def __init__(self, waits: Waits, tests: Sequence[Given]) -> None:
        super().__init__()
        self.tests, self.model = tests, waits.model.name
        self.schedulers = tuple(map(str, waits.schedulers))
        self.notes = waits.model.notes
        self._waits = waits

    def _answers(self) -> Generator[ScheduledAnswer, None, None]:
        return self._waits.answers(self.tests)

    def _report(self, stop: Stop) -> ProgressReport:
        return ProgressReport(self.model, self.schedulers, tuple(self.known), stop.reason)

    def stream(self, console: Console, form: str) -> ProgressStream:
        """Shows each test once it is decided under every scheduler."""
        from rspverify.render.hangs import ProgressStream

        total, text = len(self.tests), form == "text"
        return ProgressStream(console, self.schedulers, total=total, text=text)

    def document(self, report: ProgressReport, *, detailed: bool = False) -> Document:
        """What is said of all tests."""
        from rspverify.render.hangs import document

        return document(report)

    def ending(self, report: ProgressReport) -> Ending:
        """1: something is STUCK. 3: something is UNKNOWN or UNSUPPORTED."""
        found = {each.progress for each in report.results}
        return Ending(
            internal=any(each.internal for each in report.results),
            wrong=any(each.word is Word.ERROR for each in report.results),
            found=ProgressWord.STUCK in found,
            undecided=ProgressWord.UNKNOWN in found,
        )


@question(ProgressParameters)
def progress(asked: ProgressParameters) -> Progress:
    """Does a program come to its end whatever the model allows and the scheduler does?

    LIVE: no execution hangs. STUCK: one does, and it is shown: a thread goes round in a loop for
    ever and reads what is last in memory, or waits at a barrier; some work-groups may be stopped.
    UNKNOWN: why, as a bound on loops, or a race. Asked is the source; `check --progress` asks the
    compiled program. --timeout is for all schedulers of a test together.

    In Python: ProgressParameters has what can be chosen. Raises InputError.

    Examples:
        >>> [str(it.progress) for it in rspverify.progress("Fig4", ["fair", "obe"])]
        ['LIVE', 'LIVE']
    """
    settings, known = asked.settings, schedulers_of(several(asked.schedulers))
    require(bool(known), "at least one scheduler must be given")
    problems: list[Problem] = []
    files = tests_meant(tests_given(asked.tests), problems).tests
    if problems:
        raise InputError(problems)
    judge = chosen(asked.judge, settings)
    return Progress(Waits(judge, load_model(settings.model), known, settings), files)


COMMAND = Command(
    ProgressParameters,
    asking(progress),
    about=progress,
    ends="1 something is STUCK; 3 something is UNKNOWN or UNSUPPORTED; 0 otherwise",
    takes=OF_A_TEST,
    forms=TEXT_OR_JSON,
    also=("output", "jobs", "no_cache"),
)
