"""Relational expressions over the events of one execution: plain values, no terms.

A set is a bit mask: bit i is event i. A relation is a row for each event, the set of those it is
related to. Events are counted from 0, and all of them are executed. Nothing is shared with
evaluate.py, whose answers are checked by these.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from rspverify.relation.expression import (
    Complement,
    Composition,
    Difference,
    Domain,
    Expression,
    Identity,
    Intersection,
    Inverse,
    Name,
    Nothing,
    Optionally,
    Plus,
    Product,
    Range,
    Sort,
    Star,
    Union,
    operands,
)

Rows = tuple[int, ...]
Value = int | Rows
Operation = Callable[..., Any]
"""From the number of events and the values of the operands to the value of the expression."""


def value_of(expression: Expression, events: int, names: Mapping[str, Value]) -> Value:
    """The value of an expression over so many events, given those of its names."""
    if isinstance(expression, Name):
        return names[expression.name]
    values = (value_of(each, events, names) for each in operands(expression))
    found: Value = operation(expression)(events, *values)
    return found


def bound(
    definitions: Sequence[tuple[str, Expression]], events: int, names: Mapping[str, Value]
) -> dict[str, Value]:
    """The names, and those defined at once: no definition sees another."""
    return {**names, **{name: value_of(each, events, names) for name, each in definitions}}


def bound_recursively(
    definitions: Sequence[tuple[str, Expression]], events: int, names: Mapping[str, Value]
) -> dict[str, Value]:
    """The names, and those defined by each other: the least values that satisfy the definitions.

    The definitions must only grow as the names that they define grow.
    """
    found = {name: nothing(events, each.sort) for name, each in definitions}
    while True:
        scope = {**names, **found}
        grown = {name: value_of(each, events, scope) for name, each in definitions}
        if grown == found:
            return scope
        found = grown


def nothing(events: int, sort: Sort) -> Value:
    """The empty set or relation."""
    return 0 if sort is Sort.SET else (0,) * events


def operation(expression: Expression) -> Operation:
    """What the operator at the root of an expression does with the values of its operands."""
    table = _ON_SETS if expression.sort is Sort.SET else _ON_RELATIONS
    return table[type(expression)]


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


def _union(events: int, left: Rows, right: Rows) -> Rows:
    return tuple([a | b for a, b in zip(left, right, strict=True)])


def _intersection(events: int, left: Rows, right: Rows) -> Rows:
    return tuple([a & b for a, b in zip(left, right, strict=True)])


def _difference(events: int, left: Rows, right: Rows) -> Rows:
    return tuple([a & ~b for a, b in zip(left, right, strict=True)])


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


def _star(events: int, rows: Rows) -> Rows:
    return _optionally(events, _plus(events, rows))


def _domain(events: int, rows: Rows) -> int:
    return sum(1 << event for event, row in enumerate(rows) if row)


def _range(events: int, rows: Rows) -> int:
    found = 0
    for row in rows:
        found |= row
    return found


_ON_SETS: Mapping[type[Expression], Operation] = {
    Union: lambda events, left, right: left | right,
    Intersection: lambda events, left, right: left & right,
    Difference: lambda events, left, right: left & ~right,
    Complement: lambda events, those: ((1 << events) - 1) & ~those,
    Domain: _domain,
    Range: _range,
    Nothing: lambda events: nothing(events, Sort.SET),
}
_ON_RELATIONS: Mapping[type[Expression], Operation] = {
    Union: _union,
    Intersection: _intersection,
    Difference: _difference,
    Complement: _complement,
    Composition: _composition,
    Product: _product,
    Identity: _identity,
    Inverse: _inverse,
    Optionally: _optionally,
    Plus: _plus,
    Star: _star,
    Nothing: lambda events: nothing(events, Sort.RELATION),
}
