"""Sets and relations as mappings from their members to when each is one: a term, or bits.

A set is a mapping from events, a relation one from pairs of events. What is missing never is one.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeAlias, assert_never

from rspverify.relation import expression as operators
from rspverify.relation.algebra import Algebra
from rspverify.relation.expression import Operator, Sort

Value: TypeAlias = Mapping[Any, Any]

AnyOf: TypeAlias = Callable[[list[Any]], Any]
"""When one of several holds, of which there is one at least."""


class Graded(Algebra[Value]):
    """executed: event → when it is executed. never: what is never so."""

    def __init__(self, executed: Value, any_of: AnyOf, never: Any) -> None:
        self.executed = executed
        self._any_of, self._never = any_of, never
        self._same = identity(executed)

    @abstractmethod
    def closure(self, relation: Value) -> Value:
        """The transitive closure."""

    def apply(self, operator: Operator, operands: tuple[Any, ...]) -> Value:
        """What an operator makes of its operands."""
        match operator:
            case operators.Nothing():
                return {}
            case operators.Union():
                return _union(*operands)
            case operators.Intersection():
                left, right = operands
                return self._possible(
                    {it: one & right[it] for it, one in left.items() if it in right}
                )
            case operators.Difference():
                return self._difference(*operands)
            case operators.Composition():
                return self._possible(composition(operands[0], operands[1], self._any_of))
            case operators.Product():
                return self._product(*operands)
            case operators.Identity():
                return identity(*operands)
            case operators.Domain():
                return self._ends(operands[0], 0)
            case operators.Range():
                return self._ends(operands[0], 1)
            case operators.Complement():
                every = self.executed
                of_sets = operator.sort is Sort.SET
                return self._difference(
                    every if of_sets else self._product(every, every), *operands
                )
            case operators.Inverse():
                return {(b, a): when for (a, b), when in operands[0].items()}
            case operators.Optionally():
                return _union(operands[0], self._same)
            case operators.Plus():
                return self.closure(operands[0])
            case operators.Star():
                return _union(self.closure(operands[0]), self._same)
            case _:
                assert_never(operator)

    def _possible(self, value: Value) -> Value:
        return {it: when for it, when in value.items() if when != self._never}

    def _difference(self, left: Value, right: Value) -> Value:
        found = {it: one & ~right[it] if it in right else one for it, one in left.items()}
        return self._possible(found)

    def _product(self, left: Value, right: Value) -> Value:
        pairs = {(a, b): one & two for a, one in left.items() for b, two in right.items()}
        return self._possible(pairs)

    def _ends(self, relation: Value, place: int) -> Value:
        """The events that stand at one place of the pairs: 0 the domain, 1 the range."""
        return _gathered(((it[place], when) for it, when in relation.items()), self._any_of)


def identity(those: Value) -> dict[tuple[int, int], Any]:
    """Every event of a set with itself."""
    return {(event, event): when for event, when in those.items()}


def composition(first: Value, second: Value, any_of: AnyOf) -> dict[tuple[int, int], Any]:
    """The pairs with an event between them; also of what never is so."""
    by_source: dict[int, list[tuple[int, Any]]] = {}
    for (middle, target), when in second.items():
        by_source.setdefault(middle, []).append((target, when))
    pairs = (
        ((source, target), when & other)
        for (source, middle), when in first.items()
        for target, other in by_source.get(middle, ())
    )
    return _gathered(pairs, any_of)


def closed(
    relation: Value, never: Any, always: Any = None, each: Callable[[], object] = lambda: None
) -> dict[tuple[int, int], Any]:
    """The exact transitive closure, by Warshall's elimination of one event after the other.

    Events with few edges go first, which keeps terms small. each: is called for each event.
    """
    successors: dict[int, dict[int, Any]] = {}
    predecessors: dict[int, dict[int, Any]] = {}
    for (a, b), when in relation.items():
        successors.setdefault(a, {})[b] = when
        predecessors.setdefault(b, {})[a] = when
    degree = {
        event: len(predecessors[event]) * len(successors.get(event, ())) for event in predecessors
    }
    for middle in sorted(degree, key=lambda event: (degree[event], event)):
        each()
        for source, before in list(predecessors[middle].items()):
            for target, after in list(successors.get(middle, {}).items()):
                known = successors[source].get(target, never)
                if known is always or source == middle or target == middle:
                    continue
                longer = known | (before & after)
                if longer != never:
                    successors[source][target] = longer
                    predecessors.setdefault(target, {})[source] = longer
    return {(a, b): when for a, row in successors.items() for b, when in row.items()}


def _gathered(members: Iterable[tuple[Any, Any]], any_of: AnyOf) -> dict[Any, Any]:
    found: dict[Any, list[Any]] = {}
    for it, when in members:
        found.setdefault(it, []).append(when)
    return {it: those[0] if len(those) == 1 else any_of(those) for it, those in found.items()}


def _union(left: Value, right: Value) -> Value:
    joined = dict(left)
    for it, when in right.items():
        joined[it] = joined[it] | when if it in joined else when
    return joined
