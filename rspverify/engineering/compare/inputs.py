"""The two schemes of a comparison: one may be an edit of the other, with the same name in it."""

from __future__ import annotations

from rspverify.judge.judge import Judge
from rspverify.judge.reading import Inputs, read_inputs
from rspverify.soundness.settings import Settings
from rspverify.source import InputError, Problem


def read_both(old: str, new: str, settings: Settings, judge: Judge) -> Inputs:
    """Both schemes, old and new, and the model. Raises InputError for all that is wrong."""
    found: list[Inputs] = []
    problems: dict[str, Problem] = {}
    for path in (old, new):
        try:
            found.append(read_inputs([path], settings, judge))
        except InputError as error:  # What is wrong with the model is met twice.
            problems.update((str(problem), problem) for problem in error.problems)
    if problems:
        raise InputError(problems.values())
    first, second = found
    model = first.model or second.model
    return Inputs((*first.schemes, *second.schemes), second.model_facts, model, settings)
