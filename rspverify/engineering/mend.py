"""A change of one row, or a wait more in each of two, with which a table is SOUND on a test.

The search of `repair` is another: it knows no machine with write-backs of its own, and of one test
it leaves out of each row whatever that test does not need, which takes half a minute on gfx900.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain, combinations
from typing import Any

from msgspec import Struct

from rspverify.scheme.cost import default_costs
from rspverify.scheme.row import AnyRow
from rspverify.soundness.blame import width
from rspverify.soundness.case import Case, side_of
from rspverify.soundness.sides import ModelSide
from rspverify.soundness.theorem import soundness
from rspverify.translators import rows_in
from rspverify.verdict import Word


class Changed(Struct, frozen=True):
    """A row, and a stronger code for it, and what that costs. waits: whether it only waits more."""

    row: AnyRow
    code: tuple[Any, ...]
    cost: int
    waits: bool


class Mend(Struct, frozen=True):
    """What mends a test, empty where nothing does, and how many changes were tried."""

    changes: tuple[Changed, ...]
    tried: int


def mend(case: Case) -> Mend:
    """The cheapest change of a table that mends a test, by the shipped costs.

    Of equal ones that of the widest scope, and waits first. Raises LimitReached.
    """
    scheme, source = rows_in(case.scheme), ModelSide(case.program, case.model)
    rows = sorted(scheme.rows_used(case.program), key=lambda it: width([it]), reverse=True)
    single = sorted(_changes(scheme.steps, rows), key=lambda it: it.cost)
    double = combinations([each for each in single if each.waits], 2)
    number = 0
    for changes in chain(((each,) for each in single), double):
        if len({each.row.number for each in changes}) < len(changes):
            continue
        changed = scheme
        for each in changes:
            changed = changed.with_code(each.row.number, each.code)
        number += 1
        target = side_of(changed.compiled(case.program), case.settings, case.limits)
        if soundness(source, target).word is Word.SOUND and not target.within:
            return Mend(tuple(changes), number)
    return Mend((), number)


def _changes(steps: Any, rows: Sequence[AnyRow]) -> Iterator[Changed]:
    """Each code that has an instruction more than a row, or a stronger one."""
    costs = default_costs()
    for row in rows:
        codes: dict[tuple[str, ...], Changed] = {}
        for code, waits in steps.additions(row):
            cost = costs.of(code) - costs.of(row.code)
            codes.setdefault(tuple(map(str, code)), Changed(row, code, cost, waits))
        yield from codes.values()
