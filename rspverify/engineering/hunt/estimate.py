"""How many programs there are and how long they take, from a sample, before all are looked at."""

from __future__ import annotations

import random
import time
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass, replace

from rspverify.engineering.hunt.build import program_of
from rspverify.engineering.hunt.filters import Sort, sort_of
from rspverify.engineering.hunt.finding import Estimate
from rspverify.engineering.hunt.growth import Growth
from rspverify.engineering.hunt.races import races
from rspverify.engineering.hunt.shape import decoded
from rspverify.engineering.hunt.survey import Survey
from rspverify.scheme import Scheme
from rspverify.soundness.case import Case
from rspverify.soundness.check import check
from rspverify.soundness.settings import Settings
from rspverify.soundness.source import SourceExecutions

_PARENTS = 300
"""So many programs of each size are extended."""
_DECIDED = 30
"""So many programs of each size are decided."""


@dataclass(frozen=True)
class _Level:
    """What is expected of one size. sample: programs that grow, as they come."""

    programs: float
    to_decide: float
    seconds: float
    sample: Sequence[bytes]


class _WithoutRace(Container[bytes]):
    """The programs without a race, where they have not been listed."""

    def __init__(self, survey: Survey) -> None:
        self._survey = survey

    def __contains__(self, encoding: object) -> bool:
        assert isinstance(encoding, bytes)
        return not races(decoded(encoding), self._survey.tables)


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

    The programs of `known` operations and fewer are listed, and their decisions sampled; of each
    size beyond, a sample of the programs that grow, chosen at random from those of the size before,
    is extended. A number is good to a factor of two or three. Only where filters are argued.
    Without `deciding` the time is for listing the programs alone.
    """
    rng = random.Random(0)
    settings = replace(settings, shortest=False, progress=False)
    base = Survey(survey.space.within(known + 1), survey.model)
    phases = list(base.phases(upto=known))
    programs = sum(each.counts.programs for each in phases)
    listed = [each for phase in phases for each in phase.to_decide(survey.space, larger=larger)]
    spent = 0.0
    if deciding:
        spent = len(listed) * _per_decision(survey, scheme, settings, listed, rng)
    to_decide = float(len(listed))
    sample: Sequence[bytes] = base.growing(known)
    total, size = float(programs), float(len(sample))
    for events in range(known + 1, survey.space.events + 2):
        level = _next(survey, scheme, settings, sample, size, rng, larger=larger, deciding=deciding)
        total, to_decide = total + level.programs, to_decide + level.to_decide
        spent += level.seconds
        sample, size = level.sample, level.programs
        yield Estimate(
            events=events,
            programs=round(total),
            to_decide=round(to_decide),
            seconds=spent / survey.judge.workers,
            deciding=deciding,
            workers=survey.judge.workers,
            sampled=min(_PARENTS, len(sample)),
        )


def _next(
    survey: Survey,
    scheme: Scheme,
    settings: Settings,
    parents: Sequence[bytes],
    count: float,
    rng: random.Random,
    *,
    larger: bool,
    deciding: bool,
) -> _Level:
    """What comes of extending `count` programs, of which `parents` is a sample."""
    chosen = rng.sample(parents, min(_PARENTS, len(parents)))
    growth = Growth(survey.tables)
    known = _WithoutRace(survey)
    started = time.process_time()
    children: list[bytes] = []
    for each in map(decoded, chosen):
        for threads in (len(each.threads), len(each.threads) + 1):
            if threads <= survey.space.threads:
                children += growth.children(each, known, threads).children
    wanted = {Sort.CORE, Sort.LARGER} if larger else {Sort.CORE}
    core = [each for each in children if sort_of(decoded(each), survey.tables) in wanted]
    factor = count / max(1, len(chosen))
    seconds = (time.process_time() - started) * factor
    if deciding:
        seconds += len(core) * factor * _per_decision(survey, scheme, settings, core, rng)
    return _Level(len(children) * factor, len(core) * factor, seconds, children)


def _per_decision(
    survey: Survey,
    scheme: Scheme,
    settings: Settings,
    programs: Sequence[bytes],
    rng: random.Random,
) -> float:
    """Seconds for one decision, on average over a sample."""
    chosen = rng.sample(programs, min(_DECIDED, len(programs)))
    started = time.process_time()
    for each in chosen:
        program = program_of(decoded(each), survey.space)
        side = SourceExecutions(program, survey.model, race_free=True)
        check(Case(program, scheme, survey.model, settings), side)
    return (time.process_time() - started) / max(1, len(chosen))
