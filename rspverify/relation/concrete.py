"""Relational expressions over the events of one execution: plain values, no terms.

A set is a bit mask: bit i is event i. A relation is one, too, with a row of as many bits for each
event, the set of those it is related to. Events are counted from 0, and all of them are executed.
No operator is shared with terms.py, whose answers are checked by these.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from typing import Any, TypeAlias

from rspverify.relation import expression as operators
from rspverify.relation.algebra import Algebra
from rspverify.relation.expression import Operator, Sort

Value: TypeAlias = int
Pair = tuple[int, int]
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


def operation(operator: Operator) -> Operation:
    """What an operator does with the values of its operands."""
    if isinstance(operator, operators.Complement):
        of_sets = operator.sort is Sort.SET
        return lambda events, those: ((1 << (events if of_sets else events * events)) - 1) & ~those
    return _OPERATIONS[type(operator)]


def members(mask: int) -> Iterator[int]:
    """The events of a set, ascending."""
    while mask:
        lowest = mask & -mask
        yield lowest.bit_length() - 1
        mask ^= lowest


def related(pairs: Iterable[Pair], events: int) -> Value:
    """The relation of so many events that has these pairs."""
    found = 0
    for a, b in pairs:
        found |= 1 << a * events + b
    return found


def pairs_of(relation: Value, events: int) -> list[Pair]:
    """A relation as pairs, ascending."""
    return [divmod(place, events) for place in members(relation)]


def irreflexive(relation: Value, events: int) -> bool:
    """Whether no event is related to itself."""
    return not relation & _diagonal(events)


@cache
def _first_column(events: int) -> int:
    """Every event with the first one."""
    return sum(1 << event * events for event in range(events))


@cache
def _diagonal(events: int) -> int:
    return sum(1 << event * (events + 1) for event in range(events))


def _rows(events: int, relation: Value) -> Iterator[tuple[int, int]]:
    """The events that are related to some, ascending, and these."""
    everything, event = (1 << events) - 1, 0
    while relation:
        if row := relation & everything:
            yield event, row
        relation >>= events
        event += 1


def _composition(events: int, first: Value, second: Value) -> Value:
    """A product of matrices: of each event in the middle the column that leads to it, and its row.

    Multiplied, a column of single bits and a row are all pairs of the two, as rows do not overlap.
    """
    found, column = 0, _first_column(events)
    for middle, row in _rows(events, second):
        found |= (first >> middle & column) * row
    return found


def _plus(events: int, relation: Value) -> Value:
    """The transitive closure by Warshall: after event k, over paths through events up to k."""
    everything, column = (1 << events) - 1, _first_column(events)
    for middle in range(events):
        row = relation >> middle * events & everything
        if row:
            relation |= (relation >> middle & column) * row
    return relation


def _column(events: int, those: Value) -> Value:
    """Those events, each with the first one."""
    found = 0
    for event in members(those):
        found |= 1 << event * events
    return found


def _range(events: int, relation: Value) -> Value:
    found = 0
    for _, row in _rows(events, relation):
        found |= row
    return found


_OPERATIONS: Mapping[type[Operator], Operation] = {
    operators.Union: lambda events, left, right: left | right,
    operators.Intersection: lambda events, left, right: left & right,
    operators.Difference: lambda events, left, right: left & ~right,
    operators.Composition: _composition,
    operators.Product: lambda events, left, right: _column(events, left) * right,
    operators.Identity: lambda events, those: _column(events + 1, those),
    operators.Inverse: lambda events, relation: related(
        ((b, a) for a, b in pairs_of(relation, events)), events
    ),
    operators.Optionally: lambda events, relation: relation | _diagonal(events),
    operators.Plus: _plus,
    operators.Star: lambda events, relation: _plus(events, relation) | _diagonal(events),
    operators.Domain: lambda events, relation: sum(1 << it for it, _ in _rows(events, relation)),
    operators.Range: _range,
    operators.Nothing: lambda events: 0,
}
