"""What a model says of a test in short: how often its condition holds, and whether it races."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from rspverify.answers import Observation
from rspverify.axiomatic import MemoryModel, Questions, require_covered
from rspverify.litmus import Junction, Program
from rspverify.soundness.case import decided
from rspverify.soundness.settings import Settings


@dataclass(frozen=True)
class Observed:
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
    formula = program.condition.formula if program.condition else Junction(True, ())
    holds, solver = questions.satisfying(formula), questions.solver()
    found = Observation.NEVER
    if solver.find([holds]) is not None:
        fails = solver.find([~holds]) is not None
        found = Observation.SOMETIMES if fails else Observation.ALWAYS
    return Observed(found, questions.race() is not None, program.within)
