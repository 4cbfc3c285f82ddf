"""One candidate execution with the values of all names of its model, as plain data."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from rspverify.axiomatic.event import Event
from rspverify.axiomatic.execution import Executions
from rspverify.axiomatic.model import Axiom, Choice, Let, LetRec, MemoryModel
from rspverify.axiomatic.vocabulary import (
    COHERENCE_ORDER,
    DERIVED,
    LOCK_ORDER,
    MODIFICATION_ORDER,
    READS_FROM,
    RELATIONS,
    SETS,
    names_beneath,
)
from rspverify.relation import Expression, Relation, Sort
from rspverify.relation.concrete import Rows, Value, members, value_of
from rspverify.smt import Model, Term

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

    events: the executed ones, a compare-exchange that fails as the load that it is; a place is the
    number of an event among them. scope: what each name stands for at the end of the model.
    """

    def __init__(self, candidates: Executions, chosen: Model) -> None:
        self._candidates = candidates
        self._chosen = chosen
        executed = [it for it in candidates.events if chosen[candidates.executed[it.index]]]
        self.events = tuple(map(self._as_it_is, executed))
        self._place = {event.index: place for place, event in enumerate(self.events)}
        self._at: dict[str, Scope] = {}
        self.scope = self._scope(candidates.model)

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
        value = self._base(name) if meaning is None else meaning.value
        return pairs_of(value) if isinstance(value, tuple) else frozenset()

    def place(self, index: int) -> int:
        """The place of an event that is executed, by its index."""
        return self._place[index]

    def _as_it_is(self, event: Event) -> Event:
        writing = self._candidates.writing.get(event.index)
        fails = writing is None or not self._chosen[writing]
        return event.failed if event.failed is not None and fails else event

    def _scope(self, model: MemoryModel) -> Scope:
        scope: dict[str, Meaning] = {name: Meaning(self._base(name)) for name in model.names}
        for statement in model.statements:
            match statement:
                case Axiom():
                    self._at[statement.name] = scope
                case Let(definitions):
                    before = scope
                    scope = {
                        **before,
                        **{
                            name: Meaning(self.value(expression, before), expression, before)
                            for name, expression in definitions
                        },
                    }
                case LetRec(definitions):  # by what the solver was told, the least values
                    sorts = {name: expression.sort for name, expression in definitions}
                    scope = {**scope, **{name: self._told(name, it) for name, it in sorts.items()}}
                case Choice(name):
                    scope = {**scope, name: self._told(name, Sort.RELATION)}
        return scope

    def _told(self, name: str, sort: Sort) -> Meaning:
        if sort is Sort.RELATION:
            return Meaning(self._rows(self._candidates.relation(name)))
        return Meaning(self._mask(self._candidates.set(name).items()))

    def _base(self, name: str) -> Value:
        """The value of a base name, whatever the model makes of it."""
        candidates, events = self._candidates, self.events
        if name in SETS:
            return sum(1 << place for place, it in enumerate(events) if SETS[name](it))
        if name in RELATIONS:
            return tuple(
                sum(1 << place for place, b in enumerate(events) if RELATIONS[name](a, b))
                for a in events
            )
        if name in DERIVED:
            beneath = names_beneath(frozenset({name})) - DERIVED.keys()
            names = {each: self._base(each) for each in beneath}
            return value_of(DERIVED[name], len(events), names)
        if name in READS_FROM:
            return self._rows(candidates.rf)
        if name in LOCK_ORDER:
            return self._rows(candidates.lo)
        if name in (*MODIFICATION_ORDER, *COHERENCE_ORDER):
            own = candidates.co if name in COHERENCE_ORDER else candidates.mo
            return self._rows(own or candidates.coherence)
        return self._mask(candidates.set(name).items())

    def _rows(self, relation: Relation) -> Rows:
        rows = [0] * len(self.events)
        for (a, b), term in relation.items():
            if self._chosen[term]:
                rows[self._place[a]] |= 1 << self._place[b]
        return tuple(rows)

    def _mask(self, members: Iterable[tuple[int, Term]]) -> int:
        return sum(1 << self._place[event] for event, term in members if self._chosen[term])


def pairs_of(rows: Rows) -> frozenset[Pair]:
    """A relation as pairs."""
    return frozenset((a, b) for a, row in enumerate(rows) for b in members(row))
