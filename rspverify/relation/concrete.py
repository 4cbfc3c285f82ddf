"""Relational expressions over the events of one execution: plain values, no terms.

A set is a bit mask: bit i is event i. A relation is a row for each event, the set of those it is
related to. Events are counted from 0, and all of them are executed. No operator is shared with
terms.py, whose answers are checked by these.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import reduce
from operator import and_, invert, or_
from typing import Any, TypeAlias

from rspverify.relation import expression as operators
from rspverify.relation.algebra import Algebra, Definitions
from rspverify.relation.expression import Operator, Sort

Rows: TypeAlias = tuple[int, ...]
Value: TypeAlias = int | Rows
Operation: TypeAlias = Callable[..., Any]
"""From the number of events and the values of the operands to the value of the expression."""


class Concrete(Algebra[Value]):
    """Plain sets and relations over so many events."""

    def __init__(self, events: int) -> None:
        self._events = events

    def apply(self, operator: Operator, operands: tuple[Value, ...]) -> Value:
        """What an operator makes of its operands."""
        found: Value = operation(operator)(self._events, *operands)
        return found

    def least(self, definitions: Definitions, names: Mapping[str, Value]) -> Mapping[str, Value]:
        """The least values that satisfy definitions by each other, from nothing upwards."""
        found = {name: nothing(self._events, each.sort) for name, each in definitions}
        while True:
            known = {**names, **found}
            grown = {name: self.value(each, known) for name, each in definitions}
            if grown == found:
                return found
            found = grown


def nothing(events: int, sort: Sort) -> Value:
    """The empty set or relation."""
    return 0 if sort is Sort.SET else (0,) * events


def operation(operator: Operator) -> Operation:
    """What an operator does with the values of its operands."""
    table = _ON_SETS if operator.sort is Sort.SET else _ON_RELATIONS
    return table[type(operator)]


def members(mask: int) -> Iterator[int]:
    """The events of a set, ascending."""
    while mask:
        lowest = mask & -mask
        yield lowest.bit_length() - 1
        mask ^= lowest


def irreflexive(rows: Rows) -> bool:
    """Whether no event is related to itself."""
    return not any(row >> event & 1 for event, row in enumerate(rows))


def empty(value: Value) -> bool:
    """Whether there is nothing in a set or a relation."""
    return not value if isinstance(value, int) else not any(value)


def _complement(events: int, rows: Rows) -> Rows:
    everything = (1 << events) - 1
    return tuple([everything & ~row for row in rows])


def _composition(events: int, first: Rows, second: Rows) -> Rows:
    found = []
    for row in first:
        reached = 0
        while row:
            lowest = row & -row
            reached |= second[lowest.bit_length() - 1]
            row ^= lowest
        found.append(reached)
    return tuple(found)


def _product(events: int, left: int, right: int) -> Rows:
    return tuple([right if left >> event & 1 else 0 for event in range(events)])


def _identity(events: int, those: int) -> Rows:
    return tuple([those & 1 << event for event in range(events)])


def _inverse(events: int, rows: Rows) -> Rows:
    found = [0] * events
    for source, row in enumerate(rows):
        for target in members(row):
            found[target] |= 1 << source
    return tuple(found)


def _optionally(events: int, rows: Rows) -> Rows:
    return tuple([row | 1 << event for event, row in enumerate(rows)])


def _plus(events: int, rows: Rows) -> Rows:
    """The transitive closure by Warshall: after event k, over paths through events up to k."""
    found = list(rows)
    for middle in range(events):
        onward = found[middle]
        if onward:
            for source, row in enumerate(found):
                if row >> middle & 1:
                    found[source] = row | onward
    return tuple(found)


_ON_SETS: Mapping[type[Operator], Operation] = {
    operators.Union: lambda events, left, right: left | right,
    operators.Intersection: lambda events, left, right: left & right,
    operators.Difference: lambda events, left, right: left & ~right,
    operators.Complement: lambda events, those: ((1 << events) - 1) & ~those,
    operators.Domain: lambda events, rows: sum(1 << at for at, row in enumerate(rows) if row),
    operators.Range: lambda events, rows: reduce(or_, rows, 0),
    operators.Nothing: lambda events: nothing(events, Sort.SET),
}
_ON_RELATIONS: Mapping[type[Operator], Operation] = {
    operators.Union: lambda events, left, right: tuple(map(or_, left, right)),
    operators.Intersection: lambda events, left, right: tuple(map(and_, left, right)),
    operators.Difference: lambda events, left, right: tuple(map(and_, left, map(invert, right))),
    operators.Complement: _complement,
    operators.Composition: _composition,
    operators.Product: _product,
    operators.Identity: _identity,
    operators.Inverse: _inverse,
    operators.Optionally: _optionally,
    operators.Plus: _plus,
    operators.Star: lambda events, rows: _optionally(events, _plus(events, rows)),
    operators.Nothing: lambda events: nothing(events, Sort.RELATION),
}
