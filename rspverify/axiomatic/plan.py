"""In which order a model is calculated on one execution after the other, as rf and mo change."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rspverify.axiomatic.model import Axiom, MemoryModel
from rspverify.axiomatic.vocabulary import MODIFICATION_ORDER, READS_FROM, RELATIONS, SETS
from rspverify.relation.calculation import Calculation
from rspverify.relation.concrete import Value, empty, irreflexive
from rspverify.relation.expression import Plus, Test

RF, MO = READS_FROM[0], MODIFICATION_ORDER[0]


@dataclass(frozen=True)
class Check:
    """An axiom: the steps up to its value, those of earlier checks left out, and the place of it.

    ACYCLIC has become IRREFLEXIVE, of the closure.
    """

    steps: tuple[int, ...]
    test: Test
    place: int

    def holds(self, value: Value) -> bool:
        """Whether the axiom holds of its value."""
        if self.test is Test.EMPTY:
            return empty(value)
        assert not isinstance(value, int)
        return irreflexive(value)


class Plan:
    """The axioms of a model in the order in which they are calculated.

    once: the steps that neither rf nor mo matters to; reading: those that rf alone matters to.
    early: the axioms that, once broken, stay so however the order grows. late: the others.
    last: the steps up to hb, in `happens_before`.
    """

    def __init__(self, model: MemoryModel) -> None:
        fixed = [name for name in model.names if name in SETS or name in RELATIONS]
        self.calculation = calculation = Calculation(sorted(fixed), [RF, MO])
        scope = dict(calculation.given)
        scope |= dict.fromkeys(READS_FROM, scope[RF]) | dict.fromkeys(MODIFICATION_ORDER, scope[MO])
        axioms: list[tuple[Test, int]] = []
        for statement in model.statements:
            if not isinstance(statement, Axiom):
                places = {
                    name: calculation.place(each, scope) for name, each in statement.definitions
                }
                scope |= places
            elif statement in model.axioms:
                axioms.append(self._axiom(statement, scope))
        self.happens_before = scope["hb"]
        everything = calculation.needed([*(place for _, place in axioms), self.happens_before])
        self.once = tuple(each for each in everything if not calculation.depends(each))
        self.reading = tuple(
            each for each in everything if calculation.depends(each) == frozenset({RF})
        )
        known = [*self.once, *self.reading]
        rising = [each for each in axioms if calculation.rises(each[1], MO)]
        self.early = self._checks(rising, known)
        self.late = self._checks([each for each in axioms if each not in rising], known)
        self.last = calculation.needed([self.happens_before], known)

    def _axiom(self, axiom: Axiom, scope: Mapping[str, int]) -> tuple[Test, int]:
        if axiom.test is Test.ACYCLIC:
            return Test.IRREFLEXIVE, self.calculation.place(Plus(axiom.expression), scope)
        return axiom.test, self.calculation.place(axiom.expression, scope)

    def _checks(self, axioms: Sequence[tuple[Test, int]], known: list[int]) -> list[Check]:
        checks = []
        for test, place in axioms:
            steps = self.calculation.needed([place], known)
            known.extend(steps)
            checks.append(Check(steps, test, place))
        return checks
