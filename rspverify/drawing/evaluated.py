"""One execution with the values of all names of its model: rows of bits, no terms."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from rspverify.axiomatic.enumeration import base_value
from rspverify.axiomatic.event import Event
from rspverify.axiomatic.execution import Execution, Pair
from rspverify.axiomatic.interpretation import Scope, interpret
from rspverify.axiomatic.model import Linearisation
from rspverify.axiomatic.vocabulary import (
    CO,
    DERIVED,
    FINAL_WRITES,
    MO,
    RELATIONS,
    SETS,
    names_beneath,
)
from rspverify.relation.concrete import Concrete, Rows, Value, members
from rspverify.relation.expression import Expression


class EvaluatedExecution:
    """An execution, and what each name stands for. A place is the number of an event.

    events: as in the execution. at: the scope where each axiom stands, by its name. end: the scope
    at the end of the model.
    """

    def __init__(self, execution: Execution) -> None:
        self._execution = execution
        self.events: tuple[Event, ...] = execution.events
        self._algebra = Concrete(len(self.events))
        model = execution.candidates.model
        base = {name: self._base(name) for name in model.names - DERIVED.keys()}
        found = interpret(model, base, self._algebra, self._linearised)
        self.at, self.end = found.at, found.end

    def value(self, expression: Expression, scope: Scope[Value]) -> Value:
        """The value of an expression whose names have these meanings."""
        return self._algebra.value(expression, scope.values)

    def pairs(self, name: str) -> frozenset[Pair]:
        """A relation of the model, or a base relation, as pairs of places."""
        found = self.end.values.get(name)
        value = self._base(name) if found is None else found
        return frozenset(pairs_of(value)) if isinstance(value, tuple) else frozenset()

    def _linearised(self, asked: Linearisation, values: Mapping[str, Value]) -> Value:
        return self._rows(self._execution.pairs(self._execution.candidates.linearised[asked]))

    def _base(self, name: str) -> Value:
        """The value of a base name, whether the model mentions it or not."""
        if name in SETS or name in RELATIONS:
            return base_value(name, self.events)
        if name in DERIVED:
            beneath = names_beneath(frozenset({name})) - DERIVED.keys()
            return self._algebra.value(DERIVED[name], {it: self._base(it) for it in beneath})
        execution, candidates = self._execution, self._execution.candidates
        if name == FINAL_WRITES:
            return sum(1 << place for place in execution.members(candidates.final_writes))
        found = candidates.witness[name]
        if name in (MO, CO):  # the one that the model does not mention is drawn as the other
            found = found or candidates.coherence
        return self._rows(execution.pairs(found))

    def _rows(self, pairs: Iterable[Pair]) -> Rows:
        rows = [0] * len(self.events)
        for a, b in pairs:
            rows[a] |= 1 << b
        return tuple(rows)


def pairs_of(rows: Rows) -> list[Pair]:
    """A relation as pairs, ascending."""
    return [(a, b) for a, row in enumerate(rows) for b in members(row)]
