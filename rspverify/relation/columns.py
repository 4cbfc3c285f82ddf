"""Sets and relations in many executions at once: an integer a member, a bit an execution.

What is missing is in none. As plain values (concrete.py) no solver is asked, and one step through
an expression does for thousands of executions.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import reduce
from operator import or_

from rspverify.relation.expression import Expression, Sort, Test
from rspverify.relation.graded import Graded, Value, closed


class Columns(Graded):
    """Sets and relations graded by the executions that they are in."""

    def __init__(self, executed: Mapping[int, int]) -> None:
        super().__init__(executed, any_of, 0)

    def closure(self, relation: Value) -> Value:
        """The transitive closure."""
        return closed(relation, 0)

    def holds(self, test: Test, expression: Expression, names: Mapping[str, Value]) -> int:
        """The executions in which an expression is acyclic, irreflexive or empty; negative, as all
        but some."""
        value = self.value(expression, names)
        if test is not Test.EMPTY and expression.sort is Sort.RELATION:
            if test is Test.ACYCLIC:
                return ~_circles(value)
            value = {pair: bits for pair, bits in value.items() if pair[0] == pair[1]}
        return ~any_of(value.values())


def any_of(those: Iterable[int]) -> int:
    """The executions that some of these have."""
    return reduce(or_, those, 0)


def _rows(relation: Value) -> dict[int, dict[int, int]]:
    found: dict[int, dict[int, int]] = {}
    for (a, b), bits in relation.items():
        found.setdefault(a, {})[b] = bits
    return found


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
