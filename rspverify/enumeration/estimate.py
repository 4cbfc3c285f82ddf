"""How many tests a space has and how long they take, from a sample, before all are looked at."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator, Sequence

from msgspec import Struct

from rspverify.convert import Count, Seconds
from rspverify.enumeration.growth import Growth
from rspverify.enumeration.lemmas import Sort, sort_of
from rspverify.enumeration.packed import decoded
from rspverify.enumeration.races import races
from rspverify.enumeration.survey import Survey

_PARENTS = 300
"""So many tests of each size are extended."""
_DECIDED = 30
"""So many tests of each size are decided,"""
_PATIENCE = 5.0
"""as long as that takes no more than so many seconds of this process."""

Decide = Callable[[bytes], object]
"""Decides a test of a survey, in this process."""


class Estimate(Struct, frozen=True, kw_only=True):
    """What a hunt is expected to find and to take, from a sample; `events`: of operations at most.

    programs: those without a race. deciding: whether `seconds` are for deciding them as well, or
    for listing alone. workers: by so many processes. sampled: parents looked at.
    """

    events: Count
    programs: Count
    to_decide: Count
    seconds: Seconds
    deciding: bool
    workers: Count
    sampled: Count


def expectations(
    survey: Survey, known: int, *, larger: bool, decide: Decide | None
) -> Iterator[Estimate]:
    """What spaces of `known` + 1, + 2, … accesses take, up to one more than the survey's space.

    The tests of `known` accesses and fewer are listed; of each size beyond, a sample of the tests
    that grow, chosen at random from those of the size before, is extended. A number is good to a
    factor of two or three. Only where the lemmas are proved. decide: None if nothing is to be
    decided.
    """
    rng = random.Random(0)
    growth = Growth(survey.tables)
    wanted = {Sort.CORE, Sort.LARGER} if larger else {Sort.CORE}

    def race_free(encoding: bytes) -> bool:
        return not races(decoded(encoding), survey.tables)

    def per_decision(tests: Sequence[bytes]) -> float:
        """Seconds for one decision, on average over a sample."""
        if decide is None:
            return 0.0
        started, done = time.process_time(), 0
        for each in rng.sample(tests, min(_DECIDED, len(tests))):
            decide(each)
            done += 1
            if time.process_time() - started > _PATIENCE:
                break
        return (time.process_time() - started) / max(1, done)

    base = Survey(survey.space.within(known + 1), survey.model)
    phases = list(base.phases(upto=known))
    listed = [each for phase in phases for each in phase.to_decide(survey.space, larger=larger)]
    programs = float(sum(each.counts.programs for each in phases))
    to_decide = float(len(listed))
    seconds = len(listed) * per_decision(listed)
    sample: Sequence[bytes] = base.growing(known)
    size = float(len(sample))
    for events in range(known + 1, survey.space.events + 2):
        chosen = rng.sample(sample, min(_PARENTS, len(sample)))
        started = time.process_time()
        children: list[bytes] = []
        for each in map(decoded, chosen):
            for threads in (len(each.threads), len(each.threads) + 1):
                if threads <= survey.space.threads:
                    children += growth.children(each, race_free, threads).children
        core = [each for each in children if sort_of(decoded(each), survey.tables) in wanted]
        factor = size / max(1, len(chosen))
        seconds += (time.process_time() - started) * factor
        seconds += len(core) * factor * per_decision(core)
        programs += len(children) * factor
        to_decide += len(core) * factor
        sample, size = children, len(children) * factor
        yield Estimate(
            events=events,
            programs=round(programs),
            to_decide=round(to_decide),
            seconds=seconds / survey.judge.workers,
            deciding=decide is not None,
            workers=survey.judge.workers,
            sampled=min(_PARENTS, len(sample)),
        )
