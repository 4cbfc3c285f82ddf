"""How many programs there are and how long they take, from a sample, before all are looked at."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from rspverify.engineering.hunt.decide import program_named
from rspverify.engineering.hunt.finding import Estimate
from rspverify.enumeration.estimate import expectations
from rspverify.enumeration.packed import decoded
from rspverify.enumeration.survey import Survey
from rspverify.scheme import Scheme
from rspverify.soundness.case import Case
from rspverify.soundness.check import check
from rspverify.soundness.settings import Settings
from rspverify.soundness.source import SourceExecutions


def estimates(
    survey: Survey,
    scheme: Scheme,
    settings: Settings,
    known: int,
    *,
    larger: bool,
    deciding: bool = True,
) -> Iterator[Estimate]:
    """What hunts of `known` + 1, + 2, … operations take, up to one more than the survey's space.

    Without `deciding` the time is for listing the programs alone. See `expectations`.
    """
    settings = replace(settings, shortest=False, progress=False)

    def decide(programs: Sequence[bytes]) -> None:
        for each in programs:
            program = program_named(decoded(each), survey.space)
            side = SourceExecutions(program, survey.model, race_free=True)
            check(Case(program, scheme, survey.model, settings), side)

    for it in expectations(survey, known, larger=larger, decide=decide if deciding else None):
        yield Estimate(
            events=it.events,
            programs=round(it.programs),
            to_decide=round(it.to_decide),
            seconds=it.seconds / survey.judge.workers,
            deciding=deciding,
            workers=survey.judge.workers,
            sampled=it.sampled,
        )
