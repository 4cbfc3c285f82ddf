"""How many tests a space has and how long they take, from a sample, before all are looked at."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress

from msgspec import Struct

from rspverify.convert import Count, Seconds
from rspverify.enumeration.growth import Growth
from rspverify.enumeration.lemmas import Sort, sort_of
from rspverify.enumeration.packed import PackedTest, decoded
from rspverify.enumeration.races import races
from rspverify.enumeration.survey import Survey

_PARENTS = 300
"""So many tests of each size are extended,"""
_DECIDED = 30
"""and so many decided,"""
_PATIENCE = 3.0
"""each as long as that takes no more than so many seconds of this process."""


class _LongEnough(Exception):
    """The sample has taken its time."""


Decide = Callable[[Sequence[bytes]], Iterator[None]]
"""Decides tests of a survey one after the other, in this process."""


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
    factor of two or three. It ends before a size of which not one can be extended in time. Only
    where the lemmas are proved. decide: None if nothing is to be decided.
    """
    rng = random.Random(0)
    growth = Growth(survey.tables)
    wanted = {Sort.CORE, Sort.LARGER} if larger else {Sort.CORE}
    until = 0.0

    def race_free(encoding: bytes) -> bool:
        if time.process_time() > until:
            raise _LongEnough
        return not races(decoded(encoding), survey.tables)

    def extended(parent: PackedTest) -> tuple[list[bytes], list[bytes]]:
        """The programs that grow from one, and those of them that are to be decided."""
        threads = range(len(parent.threads), min(len(parent.threads) + 1, survey.space.threads) + 1)
        grown = [it for n in threads for it in growth.children(parent, race_free, n).children]
        return grown, [it for it in grown if sort_of(decoded(it), survey.tables) in wanted]

    def per_decision(tests: Sequence[bytes]) -> float:
        """Seconds for one decision, on average over a sample."""
        if decide is None:
            return 0.0
        started, done = time.process_time(), 0
        for _ in decide(rng.sample(tests, min(_DECIDED, len(tests)))):
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
        started, parents = time.process_time(), 0
        until = started + _PATIENCE
        children: list[bytes] = []
        core: list[bytes] = []
        with suppress(_LongEnough):
            for each in rng.sample(sample, min(_PARENTS, len(sample))):
                grown, to_be_decided = extended(decoded(each))
                children += grown
                core += to_be_decided
                parents += 1
        if sample and not parents:
            return
        factor = size / max(1, parents)
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
            sampled=parents,
        )
