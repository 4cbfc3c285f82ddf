"""The smallest change of a table with which it is SOUND on a test: rows that are to blame, made as
strong as can be, without all that the test does not need.

The search of `repair` is another: it knows no machine with write-backs of its own, and of one test
it leaves out of each row whatever that test does not need, be it what is given.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from rspverify.limits import Limits
from rspverify.scheme.cost import default_costs
from rspverify.scheme.mutants import mutants_in
from rspverify.scheme.row import AnyRow
from rspverify.scheme.rows import Steps
from rspverify.soundness.blame import blame
from rspverify.soundness.case import Case
from rspverify.soundness.check import is_sound
from rspverify.soundness.sides import ModelSide
from rspverify.translators import rows_in

if TYPE_CHECKING:
    from rspverify.translators import Rows


def mend(case: Case, limits: Limits) -> tuple[tuple[AnyRow, AnyRow], ...]:
    """The rows that are to blame for a test, each as it is and as it mends it with the others; none
    where no row and no two mend it.

    Nothing can be left out of the change, or be weaker. limits: on all of it. Raises LimitReached.
    """
    source, costs = ModelSide(case.program, case.model), default_costs()

    def mends(scheme: Rows) -> bool:
        limits.remaining()
        return is_sound(Case(case.program, scheme, case.model, case.settings), source)

    devices = len({it.device for it in case.program.threads})
    fault = blame(case, devices=devices, limits=limits)
    scheme, steps = rows_in(fault.mended), rows_in(case.scheme).steps
    for given in fault.blamed:
        at = given.number - 1
        whole = _with_idle(given.code, scheme.rows[at].code, steps)
        if mends(more := scheme.with_code(given.number, whole)):
            scheme = more
        for place in range(len(scheme.rows[at].code), 0, -1):
            cost = costs.of(scheme.rows[at].code)
            mutants = mutants_in(scheme.rows[at], scheme.steps).mutants
            those = (it for it in mutants if it.step.place == place)
            for it in sorted(those, key=lambda it: costs.of(it.code)):
                fits = costs.of(it.code) < cost and _is_in(given.code, it.code, steps)
                if fits and mends(less := scheme.with_code(given.number, it.code)):
                    scheme = less
                    break
    return tuple((it, scheme.rows[it.number - 1]) for it in fault.blamed)


def _with_idle(given: Sequence[Any], code: Sequence[Any], steps: Steps) -> tuple[Any, ...]:
    """A strongest code with what is given and not in it, as it does nothing on the machine."""
    found: list[Any] = []
    rest = list(code)
    for each in given:
        until = next((at for at, it in enumerate(rest) if it.accesses), len(rest)) + each.accesses
        at = next((at for at, it in enumerate(rest[:until]) if steps.no_less(it, each)), -1)
        found += rest[: at + 1] if at >= 0 else [each]
        rest = rest[at + 1 :]
    return (*found, *rest)


def _is_in(given: Sequence[Any], code: Sequence[Any], steps: Steps) -> bool:
    """Whether each instruction that is given, or what does no less, has its place in a code."""
    rest = iter(code)
    return all(any(steps.no_less(it, each) for it in rest) for each in given)
