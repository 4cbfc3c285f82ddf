"""What a comparison knows before any test is looked at."""

from __future__ import annotations

from rspverify.assembly import MACHINES
from rspverify.engineering.compare.rows import changed_rows
from rspverify.judge.reading import Inputs, SchemeText
from rspverify.report import Comparison, SchemeName
from rspverify.scheme import Scheme, read_scheme
from rspverify.scheme.cost import Costs


def comparison(inputs: Inputs, costs: Costs, tests: int, limit: int) -> Comparison:
    """The schemes and their rows, and no test yet."""
    machine = inputs.settings.machine
    old, new = (_scheme(each, machine) for each in inputs.schemes)
    settings = inputs.settings
    return Comparison(
        _name(inputs.schemes[0], old),
        _name(inputs.schemes[1], new),
        inputs.model_facts.name,
        settings.engine.value,
        settings.reading.value,
        costs.file,
        changed_rows(old, new, costs),
        (),
        tests,
        limit,
    )


def _name(text: SchemeText, scheme: Scheme) -> SchemeName:
    return SchemeName(text.file, scheme.name, scheme.machine.name)


def _scheme(text: SchemeText, machine: str | None) -> Scheme:
    scheme = text.parsed or read_scheme(text.source)
    return scheme.on_machine(MACHINES[machine]) if machine else scheme
