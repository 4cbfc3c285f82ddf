"""An instruction more, or a wait in each of two rows, with which a scheme is SOUND on a test.

The search of `repair` is another: it knows no machine with write-backs of its own, and of one test
it leaves out of each row whatever that test does not need, which takes half a minute on gfx900.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain, combinations

from msgspec import Struct

from rspverify.records import replace
from rspverify.scheme.cost import default_costs
from rspverify.scheme.row import Row, Template
from rspverify.scheme.scheme import Scheme
from rspverify.scheme.steps import locks_of
from rspverify.soundness.blame import width
from rspverify.soundness.case import Case
from rspverify.soundness.machine_side import MachineSide
from rspverify.soundness.sides import ModelSide
from rspverify.soundness.theorem import soundness
from rspverify.translators import table_of
from rspverify.verdict import Word


class Changed(Struct, frozen=True):
    """A row, and its code with an instruction more, and what that costs.

    waits: whether it only waits.
    """

    row: Row
    code: tuple[Template, ...]
    cost: int
    waits: bool


class Mend(Struct, frozen=True):
    """What mends a test, empty where nothing does, and how many changes were tried."""

    changes: tuple[Changed, ...]
    tried: int


def mend(case: Case) -> Mend:
    """The cheapest change of a scheme that mends a test, by the shipped costs.

    Of equal ones that of the widest scope, and waits first. Instructions are those that rows of the
    scheme have, but for accesses and locks. Raises LimitReached.
    """
    scheme, source = table_of(case.scheme), ModelSide(case.program, case.model)
    changes_of_one = _changes(scheme, scheme.rows_used(case.program))
    single = sorted(changes_of_one, key=lambda it: it.cost)
    double = combinations([each for each in single if each.waits], 2)
    number = 0
    for changes in chain(((each,) for each in single), double):
        if len({each.row.number for each in changes}) < len(changes):
            continue
        changed = scheme
        for each in changes:
            changed = changed.with_code(each.row.number, each.code)
        number += 1
        machine = replace(case, scheme=changed).machine()
        target = MachineSide(machine, case.settings, case.limits)
        if soundness(source, target).word is Word.SOUND and not target.within:
            return Mend(tuple(changes), number)
    return Mend((), number)


def _changes(scheme: Scheme, rows: Sequence[Row]) -> Iterator[Changed]:
    every = [each for row in scheme.rows for each in row.code if not each.accesses]
    free = [each for each in every if not any(locks_of(each))]
    known = {str(it): it for it in sorted(free, key=lambda it: bool(it.mnemonic.effects))}
    for row in sorted(rows, key=lambda it: width([it]), reverse=True):
        codes: dict[str, Changed] = {}
        for each in known.values():
            for place in range(len(row.code) + 1):
                added = replace(each, span=row.span)
                code = (*row.code[:place], added, *row.code[place:])
                cost = default_costs().weight(added)
                changed = Changed(row, code, cost, not each.mnemonic.effects)
                codes.setdefault("; ".join(map(str, code)), changed)
        yield from codes.values()
