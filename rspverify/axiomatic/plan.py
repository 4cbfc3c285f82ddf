"""In which order a model is calculated on one execution after the other, as rf and mo change."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any

from msgspec import Struct

from rspverify.axiomatic.interpretation import interpret
from rspverify.axiomatic.model import Axiom, Linearisation, MemoryModel
from rspverify.axiomatic.vocabulary import (
    CO,
    FINAL_WRITES,
    LO,
    MO,
    RELATIONS,
    RF,
    SETS,
    SYNC_FENCE,
)
from rspverify.limits import LimitReached
from rspverify.relation.calculation import Calculation
from rspverify.relation.concrete import Value, irreflexive
from rspverify.relation.expression import Intersection, Name, Plus, Sort, Test

ATOMIC = "an atomic location"
"""The name of the pairs of events on one location that is declared atomic; no model can say it."""


class Check(Struct, frozen=True):
    """An axiom: the steps up to its value, those of earlier checks left out, and the place of it.

    ACYCLIC has become IRREFLEXIVE, of the closure.
    """

    steps: tuple[int, ...]
    test: Test
    place: int
    negated: bool

    def holds(self, value: Value, events: int) -> bool:
        """Whether the axiom holds of its value."""
        if self.test is Test.EMPTY:
            return (value == 0) is not self.negated
        return irreflexive(value, events) is not self.negated


class WrongTool(LimitReached):
    """The search through rf and mo is not the way to an answer; the solver may be."""


class Steps(Struct, frozen=True):
    """What is calculated of the axioms on executions with certain events.

    values: of what neither rf nor the order matters to. reading: the steps that rf alone matters
    to. rising: the axioms that, once broken, stay so however rf and the order grow, and as much of
    the others. early: those of the others that stay so however the order grows. late: the rest.
    last: the steps up to `later`.
    """

    values: list[Any]
    reading: tuple[int, ...]
    rising: Sequence[Check]
    early: Sequence[Check]
    late: Sequence[Check]
    last: tuple[int, ...]


class Plan:
    """The axioms of a model in the order in which they are calculated.

    every: whether the writes of all locations are in order, and not of atomic ones only.
    orders_fences: whether an execution has an order of PTX's fences in SC, too. later: the
    relations that no last write of a location has to another. by_order: whether the
    order itself says which write to an ordered location is the last.
    Raises WrongTool for a model of which an execution is more than rf and an order.
    """

    def __init__(self, model: MemoryModel) -> None:
        if model.chooses or model.names & {FINAL_WRITES, LO}:
            message = f"an execution of {model.name} is more than rf and an order of writes"
            raise WrongTool(message)
        self.every = CO in model.names
        self._fixed = {*model.names & (SETS.keys() | RELATIONS.keys() | {SYNC_FENCE})}
        self.orders_fences = SYNC_FENCE in model.names
        if self.every:
            self._fixed.add(ATOMIC)
        self.calculation = calculation = Calculation(sorted(self._fixed), [RF, CO])
        found = interpret(model, self._base(model), calculation, _no_order)
        self._axioms = [
            (each, self._place(each, found.at[each.name].values)) for each in model.axioms
        ]
        parts = [(each, calculation.rising(at)) for each, at in self._axioms if not each.negated]
        self._rising = [it for it in parts if it not in self._axioms and calculation.depends(it[1])]
        defined = model.coherence if model.coherence and model.defines(model.coherence) else None
        self.by_order = defined is None
        names = [*model.happens_before, *([defined] if defined else [])]
        self.later = tuple(found.end.values[name] for name in names)

    def steps(self, base: Callable[[str], Value], events: int) -> Steps:
        """The steps for executions with so many events. base: the value of a base name."""
        calculation, axioms = self.calculation, self._axioms
        values = calculation.values({name: base(name) for name in self._fixed})
        asked = [place for _, place in (*axioms, *self._rising)]
        needed = calculation.needed([*asked, *self.later])
        rest = calculation.settled(needed, values, events)
        known = [each for each in needed if values[each] is not None]
        reading = tuple(each for each in rest if calculation.depends(each) == frozenset({RF}))
        known.extend(reading)
        sorts: list[list[tuple[Axiom, int]]] = [[*self._rising], [], []]
        for axiom, place in axioms:
            rises = not axiom.negated and calculation.rises(place, CO)
            sort = 2 if not rises else 0 if calculation.rises(place, RF) else 1
            sorts[sort].append((axiom, place))
        rising, early, late = (self._checks(each, known) for each in sorts)
        return Steps(values, reading, rising, early, late, calculation.needed(self.later, known))

    def _base(self, model: MemoryModel) -> dict[str, int]:
        given = self.calculation.given
        order = Name(CO, Sort.RELATION)
        mo = Intersection(order, Name(ATOMIC, Sort.RELATION)) if self.every else order
        return {**given, MO: self.calculation.value(mo, given)}

    def _place(self, axiom: Axiom, names: Mapping[str, int]) -> int:
        expression = axiom.expression
        asked = Plus(expression) if axiom.test is Test.ACYCLIC else expression
        return self.calculation.value(asked, names)

    def _checks(self, axioms: Sequence[tuple[Axiom, int]], known: list[int]) -> list[Check]:
        checks = []
        for axiom, place in axioms:
            steps = self.calculation.needed([place], known)
            known.extend(steps)
            checks.append(Check(steps, axiom.test, place, axiom.negated))
        return checks


@lru_cache(maxsize=8)
def plan_of(model: MemoryModel) -> Plan:
    """The plan of a model, made once for all outcomes that are asked about."""
    return Plan(model)


def _no_order(asked: Linearisation, names: Mapping[str, int]) -> int:
    raise AssertionError("an order that is chosen is not covered")
