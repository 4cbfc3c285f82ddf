"""One candidate execution with the values of all names of its model, as plain data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from rspverify.axiomatic.execution import Executions
from rspverify.axiomatic.model import Axiom, Let, MemoryModel
from rspverify.axiomatic.vocabulary import READS_FROM, RELATIONS, SETS, Event
from rspverify.relation import Expression, Name, Relation, Sort
from rspverify.relation.concrete import Rows, Value, members, value_of
from rspverify.smt import Model

Pair = tuple[int, int]


@dataclass(frozen=True)
class Meaning:
    """What a name stands for at some point of a model: its value, and its definition if it has one.

    scope: what the names of that definition stand for.
    """

    value: Value
    expression: Expression | None = None
    scope: Mapping[str, Meaning] | None = None


Scope = Mapping[str, Meaning]


class RealisedExecution:
    """The execution of a candidate that a solver's assignment chooses.

    events: the executed ones; a place is the number of an event among them. scope: what each name
    stands for at the end of the model.
    """

    def __init__(self, candidates: Executions, model: MemoryModel, chosen: Model) -> None:
        self.events: tuple[Event, ...] = tuple(
            event for event in candidates.events if chosen[candidates.executed[event.index]]
        )
        self._candidates = candidates
        self._chosen = chosen
        self._place = {event.index: place for place, event in enumerate(self.events)}
        self._at: dict[str, Scope] = {}
        self.scope = self._scope(model)

    def value(self, expression: Expression, scope: Scope) -> Value:
        """The value of an expression whose names have these meanings."""
        names = {name: meaning.value for name, meaning in scope.items()}
        return value_of(expression, len(self.events), names)

    def scope_of(self, axiom: Axiom) -> Scope:
        """What names stand for where the model has an axiom."""
        return self._at[axiom.name]

    def pairs(self, name: str) -> frozenset[Pair]:
        """A relation of the model, or a base relation, as pairs of places."""
        meaning = self.scope.get(name)
        if meaning is not None:
            return pairs_of(meaning.value) if isinstance(meaning.value, tuple) else frozenset()
        if name in RELATIONS:
            related, events = RELATIONS[name], list(enumerate(self.events))
            return frozenset((i, j) for i, a in events for j, b in events if related(a, b))
        witness = self._candidates.rf if name in READS_FROM else self._candidates.mo
        return frozenset(self._held(witness))

    def base(self, name: Name) -> Value:
        """The value of a name that the model does not define by an expression."""
        at = self._held(self._candidates.value(name))
        if name.sort is Sort.SET:
            return sum(1 << a for a, _ in at)
        rows = [0] * len(self.events)
        for a, b in at:
            rows[a] |= 1 << b
        return tuple(rows)

    def _held(self, relation: Relation) -> list[Pair]:
        return [
            (self._place[a], self._place[b])
            for (a, b), term in relation.items()
            if self._chosen[term]
        ]

    def _scope(self, model: MemoryModel) -> Scope:
        scope: dict[str, Meaning] = {
            name: Meaning(self.base(Name(name, Sort.SET if name in SETS else Sort.RELATION)))
            for name in sorted(model.names)
        }
        for statement in model.statements:
            if isinstance(statement, Axiom):
                self._at[statement.name] = scope
            elif isinstance(statement, Let):
                before = scope
                values = {
                    name: Meaning(self.value(expression, before), expression, before)
                    for name, expression in statement.definitions
                }
                scope = {**before, **values}
        return scope


def pairs_of(rows: Rows) -> frozenset[Pair]:
    """A relation as pairs."""
    return frozenset((a, b) for a, row in enumerate(rows) for b in members(row))
