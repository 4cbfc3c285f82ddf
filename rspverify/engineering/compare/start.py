"""What a comparison knows before any test is looked at."""

from __future__ import annotations

from rspverify.convert import counts
from rspverify.engineering.compare.rows import changed_rows
from rspverify.engineering.comparison import Change, Comparison, ComparisonSummary, SchemeName
from rspverify.judge.judge import Judge
from rspverify.judge.reading import Inputs, read_inputs
from rspverify.scheme.cost import Costs
from rspverify.soundness.settings import Settings
from rspverify.source import InputError, Problem


def read_both(old: str, new: str, settings: Settings, judge: Judge) -> Inputs:
    """Both schemes, old and new, which may have one name, and the model.

    Raises InputError for all that is wrong.
    """
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


def comparison(inputs: Inputs, costs: Costs, tests: int, limit: int) -> Comparison:
    """The schemes and their rows, and no test yet."""
    settings = inputs.settings
    old, new = (each.scheme(settings) for each in inputs.schemes)
    names = zip(inputs.schemes, (old, new), strict=True)
    before, after = (SchemeName(it.file, each.name, each.machine.name) for it, each in names)
    return Comparison(
        old=before,
        new=after,
        model=inputs.model_facts.name,
        engine=settings.engine,
        reading=settings.reading,
        costs=costs.file,
        limit_outcomes=limit,
        rows=changed_rows(old, new, costs),
        summary=ComparisonSummary(tests, 0, counts(Change, ())),
    )
