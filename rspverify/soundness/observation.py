"""What a model says of a test in short: how often its condition holds, and whether it races."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice

from msgspec import Struct

from rspverify.answers import Observation
from rspverify.axiomatic import MemoryModel, Questions, require_covered
from rspverify.litmus import Junction, Program
from rspverify.soundness.case import decided
from rspverify.soundness.final import FinalCount
from rspverify.soundness.settings import Settings

_FEW = 64
"""Up to so many outcomes are listed."""


class Observed(Struct, frozen=True):
    """In which consistent executions the formula holds; racy: whether one of them is undefined.

    within: the bounds that this depends on.
    """

    observation: Observation
    racy: bool
    within: Mapping[str, int]


def observed_by(program: Program, model: MemoryModel, settings: Settings) -> Observed:
    """The answer, for which no outcomes are listed.

    Raises InputError where the model is silent, and LimitReached.
    """
    require_covered(program, model)
    program = decided(program, model, (), settings)
    questions = Questions(program, model, settings.limits())
    holds, fails = _found(program, questions)
    found = Observation.SOMETIMES if fails else Observation.ALWAYS
    if not holds:
        found = Observation.NEVER
    return Observed(found, questions.race() is not None, program.within)


def _found(program: Program, questions: Questions) -> tuple[bool, bool]:
    """Whether there is an execution in which the formula holds, and one in which it does not.

    Where there are few outcomes they are listed: each is a simple question.
    """
    outcomes = list(islice(questions.outcomes(), _FEW + 1))
    if len(outcomes) <= _FEW:
        judged = {*map(FinalCount(program).holds, outcomes)}
        return True in judged, False in judged
    formula = program.condition.formula if program.condition else Junction(True, ())
    holds, solver = questions.satisfying(formula), questions.solver()
    return solver.find([holds]) is not None, solver.find([~holds]) is not None
