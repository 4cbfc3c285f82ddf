"""The smallest program that a scheme breaks, and the programs that must be decided to find it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass

from rspverify.axiomatic import MemoryModel
from rspverify.engineering.hunt.decide import Deciding, test_of_shape
from rspverify.enumeration.packed import decoded
from rspverify.enumeration.space import Space
from rspverify.enumeration.survey import Counts, Survey
from rspverify.judge.judge import Judge
from rspverify.judge.loaded_test import LoadedTest
from rspverify.scheme import Scheme
from rspverify.soundness.settings import Settings
from rspverify.verdict import Word


@dataclass(frozen=True)
class Broken:
    """What `first_broken` found.

    test: the smallest program that is UNSOUND, None if none is. decided: how many were decided.
    counts: of all programs of the phases that were looked at. unknown: the programs, each with a
    reason, that could not be decided: where there are any, no program was found to be broken among
    the others, and nothing is said of these.
    """

    test: LoadedTest | None
    decided: int
    counts: Counts
    unknown: tuple[str, ...]


def survivors(
    space: Space,
    model: MemoryModel,
    settings: Settings,
    *,
    judge: Judge | None = None,
    larger: bool = False,
) -> Iterator[LoadedTest]:
    """The programs of a space that must be decided for a scheme, the smallest first.

    All others race, or cannot be UNSOUND unless one of these is. larger: also those that smaller
    ones stand for under schemes that give back their locks (lemmas.py); needed for all others.
    Each is a test as hunt writes it.
    """
    survey = Survey(space, model, judge)
    for phase in survey.phases():
        for each in phase.to_decide(space, larger=larger):
            yield test_of_shape(decoded(each), space, settings)


def first_broken(
    survey: Survey,
    scheme: Scheme,
    settings: Settings,
    *,
    file: str = "",
    decided: Callable[[int], None] = lambda count: None,
) -> Broken:
    """The smallest program of a survey's space that a scheme breaks, by the survey's workers.

    One survey serves any number of schemes: what it enumerates, it enumerates once. Words are kept
    in its cache by chunks, under the code of the rows that a chunk uses. decided: told of each
    chunk how many more programs have been decided.
    """
    deciding = Deciding(survey, settings, file)
    counts, total = Counts(), 0
    unknown: list[str] = []
    for phase in survey.phases():
        counts += phase.counts
        programs = phase.to_decide(survey.space, larger=deciding.needs_larger(scheme))
        with closing(deciding.words(programs, scheme)) as coming:
            for chunk, words in coming:
                total += len(chunk)
                decided(len(chunk))
                unknown += words.reasons
                if Word.UNSOUND in words.words:
                    broken = chunk[words.words.index(Word.UNSOUND)]
                    test = test_of_shape(decoded(broken), survey.space, deciding.settings)
                    return Broken(test, total, counts, tuple(unknown))
    return Broken(None, total, counts, tuple(unknown))
