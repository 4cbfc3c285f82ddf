"""What a comparison knows before any test is looked at."""

from __future__ import annotations

from rspverify.assembly import MACHINES
from rspverify.convert import counts
from rspverify.engineering.compare.rows import changed_rows
from rspverify.engineering.comparison import Change, Comparison, ComparisonSummary, SchemeName
from rspverify.judge.reading import Inputs, SchemeText
from rspverify.scheme import Scheme, read_scheme
from rspverify.scheme.cost import Costs


def comparison(inputs: Inputs, costs: Costs, tests: int, limit: int) -> Comparison:
    """The schemes and their rows, and no test yet."""
    machine = inputs.settings.machine
    old, new = (_scheme(each, machine) for each in inputs.schemes)
    settings = inputs.settings
    return Comparison(
        old=_name(inputs.schemes[0], old),
        new=_name(inputs.schemes[1], new),
        model=inputs.model_facts.name,
        engine=settings.engine,
        reading=settings.reading,
        costs=costs.file,
        limit_outcomes=limit,
        rows=changed_rows(old, new, costs),
        summary=ComparisonSummary(tests, 0, counts(Change, ())),
    )


def _name(text: SchemeText, scheme: Scheme) -> SchemeName:
    return SchemeName(text.file, scheme.name, scheme.machine.name)


def _scheme(text: SchemeText, machine: str | None) -> Scheme:
    scheme = text.parsed or read_scheme(text.source)
    return scheme.on_machine(MACHINES[machine]) if machine else scheme
