"""Whether tests hang under schedulers."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from rspverify.api.asked import Asked, Stop, rendered
from rspverify.api.inputs import ATest, settled, several, tests_given
from rspverify.api.judges import chosen
from rspverify.axiomatic import load_model
from rspverify.convert import to_json
from rspverify.corpus.inputs import tests_meant
from rspverify.judge.judge import Judge
from rspverify.judge.waits import Waits
from rspverify.soundness.hang import ProgressReport, ScheduledAnswer
from rspverify.soundness.schedulers import DEFAULT, schedulers_of
from rspverify.soundness.settings import Settings
from rspverify.source import Given, InputError, Problem, require

if TYPE_CHECKING:
    from rich.console import Console


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

    @property
    def forms(self) -> Mapping[str, Callable[[ProgressReport], str]]:
        """Text and JSON."""
        return {"text": _printed, "json": to_json}


def _printed(report: ProgressReport) -> str:
    from rspverify.render.progress_text import ProgressStream

    def show(console: Console) -> None:
        tests = len(report.results) // max(1, len(report.schedulers))
        with ProgressStream(console, report.schedulers, total=tests, text=True) as stream:
            for each in report.results:
                stream.show(each)
        stream.finish(report)

    return rendered(show)


def progress(
    tests: ATest | Iterable[ATest],
    schedulers: str | Iterable[str] = DEFAULT,
    settings: Settings | None = None,
    *,
    judge: Judge | None = None,
) -> Progress:
    """Whether tests hang: LIVE, STUCK with an execution that hangs, or UNKNOWN.

    schedulers: `fair`, `obe`, `obe:N`, `hsa`, `hsa-obe`, `lobe`, `unfair`. Asked is the model, and
    no machine. Raises InputError.

    Examples:
        >>> [str(it.progress) for it in rspverify.progress("Fig4", ["fair", "obe"])]
        ['LIVE', 'LIVE']
    """
    settings = settled(settings)
    known = schedulers_of(several(schedulers))
    require(bool(known), "at least one scheduler must be given")
    problems: list[Problem] = []
    files = tests_meant(tests_given(tests), problems).tests
    if problems:
        raise InputError(problems)
    waits = Waits(chosen(judge, settings), load_model(settings.model), known, settings)
    return Progress(waits, files)
