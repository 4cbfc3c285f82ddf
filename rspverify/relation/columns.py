"""Sets and relations in many executions at once: an integer a member, a bit an execution.

What is missing is in none. As plain values (concrete.py) no solver is asked, and one step through
an expression does for thousands of executions.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias, assert_never

from rspverify.relation import expression as operators
from rspverify.relation.algebra import Algebra, Definitions
from rspverify.relation.expression import Expression, Operator, Sort, Test

Value: TypeAlias = Mapping[Any, int]
"""Of a set by events, of a relation by pairs of events."""


class Columns(Algebra[Value]):
    """executed: event → the executions that have it.

    An operator is applied to the same values once.
    """

    def __init__(self, executed: Mapping[int, int]) -> None:
        self._executed = executed
        self._same: Value = {(it, it): bits for it, bits in executed.items()}
        self._applied: dict[Any, tuple[tuple[Value, ...], Value]] = {}

    def apply(self, operator: Operator, operands: tuple[Value, ...]) -> Value:
        """What an operator makes of its operands."""
        key = (type(operator), *map(id, operands)) if operands else operator
        if key not in self._applied:  # operands that are kept alive keep their id
            self._applied[key] = operands, self._apply(operator, operands)
        return self._applied[key][1]

    def _apply(self, operator: Operator, operands: tuple[Any, ...]) -> Value:
        match operator:
            case operators.Nothing():
                return {}
            case operators.Union():
                return _union(*operands)
            case operators.Intersection():
                left, right = operands
                return _some({it: bits & right[it] for it, bits in left.items() if it in right})
            case operators.Difference():
                return _difference(*operands)
            case operators.Composition():
                return _composition(*operands)
            case operators.Product():
                return _product(*operands)
            case operators.Identity():
                return {(it, it): bits for it, bits in operands[0].items()}
            case operators.Domain():
                return _ends(operands[0], 0)
            case operators.Range():
                return _ends(operands[0], 1)
            case operators.Complement():
                every = self._executed
                whole = every if operator.sort is Sort.SET else _product(every, every)
                return _difference(whole, *operands)
            case operators.Inverse():
                return {(b, a): bits for (a, b), bits in operands[0].items()}
            case operators.Optionally():
                return _union(operands[0], self._same)
            case operators.Plus():
                return _closure(operands[0])
            case operators.Star():
                return _union(_closure(operands[0]), self._same)
            case _:
                assert_never(operator)

    def least(self, definitions: Definitions, names: Mapping[str, Value]) -> Mapping[str, Value]:
        """The least values that satisfy definitions by each other, from nothing upwards."""
        found: dict[str, Value] = {name: {} for name, _ in definitions}
        while True:
            known = {**names, **found}
            grown = {name: self.value(each, known) for name, each in definitions}
            if grown == found:
                return found
            found = grown

    def holds(self, test: Test, expression: Expression, names: Mapping[str, Value]) -> int:
        """The executions in which an expression is acyclic, irreflexive or empty; negative, as all
        but some."""
        value = self.value(expression, names)
        if test is not Test.EMPTY and expression.sort is Sort.RELATION:
            if test is Test.ACYCLIC:
                return ~_circles(value)
            value = {pair: bits for pair, bits in value.items() if pair[0] == pair[1]}
        return ~_any(value)


def _any(value: Value) -> int:
    found = 0
    for bits in value.values():
        found |= bits
    return found


def _some(value: Value) -> Value:
    return {it: bits for it, bits in value.items() if bits}


def _union(left: Value, right: Value) -> Value:
    found = dict(left)
    for it, bits in right.items():
        found[it] = found.get(it, 0) | bits
    return found


def _difference(left: Value, right: Value) -> Value:
    return _some({it: bits & ~right[it] if it in right else bits for it, bits in left.items()})


def _product(left: Value, right: Value) -> Value:
    return _some({(a, b): one & two for a, one in left.items() for b, two in right.items()})


def _ends(relation: Value, place: int) -> Value:
    found: dict[int, int] = {}
    for pair, bits in relation.items():
        found[pair[place]] = found.get(pair[place], 0) | bits
    return found


def _composition(first: Value, second: Value) -> Value:
    rows: dict[int, list[tuple[int, int]]] = {}
    for (middle, b), bits in second.items():
        rows.setdefault(middle, []).append((b, bits))
    found: dict[tuple[int, int], int] = {}
    for (a, middle), bits in first.items():
        for b, others in rows.get(middle, ()):
            if both := bits & others:
                found[a, b] = found.get((a, b), 0) | both
    return found


def _rows(relation: Value) -> dict[int, dict[int, int]]:
    found: dict[int, dict[int, int]] = {}
    for (a, b), bits in relation.items():
        found.setdefault(a, {})[b] = bits
    return found


def _closure(relation: Value) -> Value:
    """The transitive closure, by paths through one event after the other."""
    rows = _rows(relation)
    for middle in list(rows):
        after = list(rows[middle].items())
        for source, row in rows.items():
            before = row.get(middle)
            if before is None or source == middle:
                continue
            for b, bits in after:
                if both := before & bits:
                    row[b] = row.get(b, 0) | both
    return {(a, b): bits for a, row in rows.items() for b, bits in row.items()}


def _circles(relation: Value) -> int:
    """The executions in which a relation has a circle: events are left out one after the other, and
    what led through them leads past."""
    rows = _rows(relation)
    found = 0
    for middle in list(rows):
        after = rows.pop(middle)
        found |= after.pop(middle, 0)
        for row in rows.values():
            before = row.pop(middle, 0)
            if before:
                for b, bits in after.items():
                    if both := before & bits:
                        row[b] = row.get(b, 0) | both
    return found
