"""`progress`: Whether tests hang, under schedulers that may leave work-groups out."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeAlias

from rspverify.api.asked import Asked, Ending, ending_of
from rspverify.api.inputs import all_tests, several
from rspverify.api.parameters import OfTests, question
from rspverify.axiomatic.cat import load_model
from rspverify.judge.waits import Waits
from rspverify.options import option
from rspverify.schedulers import DEFAULT, Unit, schedulers_of
from rspverify.soundness.hang import ProgressReport, ScheduledAnswer
from rspverify.soundness.settings import OF_A_TEST, Settings
from rspverify.source import require
from rspverify.terminal.command import TEXT_OR_JSON, Command

Progress: TypeAlias = Asked[ScheduledAnswer, ProgressReport]
"""Each test under each scheduler, test by test."""


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
    unit: Unit = option(
        Unit.GROUP,
        "What a scheduler stops: a work-group, or a thread by itself, by their numbers.",
    )
    settings: Settings = Settings()


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
    tests, names = all_tests(asked.tests), tuple(map(str, known))
    model = load_model(settings.model)
    waits = Waits(asked.decider, model, known, settings, Unit(asked.unit))
    return Asked(
        lambda _: waits.answers(tests),
        lambda it: ProgressReport(model.name, names, tuple(it.known), it.stopped.reason),
        "hangs",
        told=lambda render, _: render.told(names, len(tests)),
        ending=_ending,
        total=len(tests) * len(names),
        notes=model.notes,
    )


def _ending(report: ProgressReport) -> Ending:
    words = (word for each in report.results for word in (each.word, each.progress))
    return ending_of(words, report.results)


COMMAND = Command(
    progress,
    ends="1 something is STUCK; 3 something is UNKNOWN or UNSUPPORTED; 0 otherwise",
    takes=OF_A_TEST,
    forms=TEXT_OR_JSON,
    also=("output", "jobs", "no_cache"),
)
