"""Survivors put to all programs within bounds, by `hunt`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from rspverify.engineering.hunt import by_shapes
from rspverify.engineering.hunt.assumptions import proved_for
from rspverify.engineering.hunt.by_formula import ByFormula, why_not
from rspverify.engineering.hunt.by_programs import ByPrograms
from rspverify.engineering.hunt.operations import row_of, row_shape
from rspverify.engineering.hunt.strategy import Strategy, proof_of
from rspverify.engineering.repair.answer import Hunted
from rspverify.enumeration.space import (
    DEVICES,
    KINDS,
    ONE_DEVICE,
    Space,
    access_of,
    operations_of,
)
from rspverify.enumeration.survey import Survey
from rspverify.judge.inputs import LoadedTest
from rspverify.judge.verdicts import Verdicts
from rspverify.programs.litmus_test import SHORT_ORDERS

if TYPE_CHECKING:
    from rspverify.translators import Rows

_THREADS = 3


class Hunt:
    """All programs of so many operations at most, of those that a scheme has rows for.

    Up to three threads, in as many work-groups; on two devices where it has rows for scope ALL. But
    where nearly all programs would have to be decided one by one, as on machines on which even one
    work-group may go wrong alone, formulas are asked, if they apply, about one device. again:
    whether candidates may store again what an operation has written, or this is such a machine.
    """

    def __init__(self, verdicts: Verdicts, scheme: Rows, events: int, *, again: bool) -> None:
        self._settings = verdicts.settings
        self._by_formula = False

        def survey(names: Iterable[str], devices: int, again: bool) -> Survey:
            own = tuple(names)
            space = Space(events, _THREADS, _THREADS, devices, operations=own, again=again)
            return Survey(space, verdicts.model, verdicts.judge)

        if scheme.machine is None:
            every = operations_of(("DV",), tuple(SHORT_ORDERS), KINDS)
            own = (name for name in every if row_of(name, scheme) is not None)
            self._survey = survey(own, 1, True)
            return
        names = [name for name in DEVICES if row_shape(access_of(name)) in scheme.table]
        near = [name for name in names if name in ONE_DEVICE]
        if again and not proved_for(scheme.machine):
            self._survey = survey(near, 1, True)
            self._by_formula = why_not(self._survey, scheme, self._settings) is None
        if not self._by_formula:
            self._survey = survey(names, 1 if near == names else 2, again)

    @property
    def bounds(self) -> Mapping[str, int]:
        """The bounds, by name."""
        return self._survey.space.bounds

    def of(self, scheme: Rows) -> LoadedTest | Hunted | None:
        """The smallest program that breaks a scheme; or what is known as there is none; None where
        a proof says so of all programs."""
        if proof_of(self._survey, scheme, self._settings) is not None:
            return None
        by_formula = self._by_formula and why_not(self._survey, scheme, self._settings) is None
        kind: type[Strategy] = ByFormula if by_formula else ByPrograms
        if scheme.machine is None and by_shapes.why_not(self._survey, scheme) is None:
            kind = by_shapes.ByShapes
        strategy = kind(self._survey, scheme, self._settings)
        found = strategy.first()
        if found is not None:
            return found
        programs = None if by_formula else strategy.programs
        return Hunted(self.bounds, programs, strategy.done, len(strategy.unknown))
