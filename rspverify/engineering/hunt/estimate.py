"""How many programs there are and how long they take, from a sample, before all are looked at."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from rspverify.check.settings import Settings
from rspverify.check.soundness import SourceSide, check
from rspverify.engineering.hunt.decide import program_named
from rspverify.enumeration.estimate import expectations
from rspverify.enumeration.packed import decoded
from rspverify.enumeration.survey import Survey
from rspverify.report.hunts import EstimateShown
from rspverify.scheme import Scheme


def estimates(
    survey: Survey,
    scheme: Scheme,
    settings: Settings,
    known: int,
    *,
    larger: bool,
    deciding: bool = True,
) -> Iterator[EstimateShown]:
    """What hunts of `known` + 1, + 2, … operations take, up to one more than the survey's space.

    Without `deciding` the time is for listing the programs alone. See `expectations`.
    """
    settings = replace(settings, shortest=False, progress=False)

    def decide(programs: Sequence[bytes]) -> None:
        for each in programs:
            program = program_named(decoded(each), survey.space)
            side = SourceSide(program, survey.model, race_free=True)
            check(program, scheme, survey.model, settings, side)

    for it in expectations(survey, known, larger=larger, decide=decide if deciding else None):
        yield EstimateShown(
            events=it.events,
            programs=round(it.programs),
            to_decide=round(it.to_decide),
            seconds=it.seconds / survey.workers,
            deciding=deciding,
            workers=survey.workers,
            sampled=it.sampled,
        )
