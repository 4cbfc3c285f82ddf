"""From expressions to must | may | never per pair.

A set is a mapping from events to terms, a relation one from pairs of events: TRUE is must, any
other term is may (it holds where the term does), and what is missing is never. Constants fold, so
that most pairs never reach a solver.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias, TypeVar, assert_never

from rspverify.limits import LimitReached, Limits
from rspverify.relation import expression as operators
from rspverify.relation.algebra import Algebra, Definitions
from rspverify.relation.expression import Expression, Operator, Sort, Test
from rspverify.relation.sharing import Sharing
from rspverify.smt.term import FALSE, TRUE, Term, all_of, any_of

EventSet: TypeAlias = Mapping[int, Term]
Relation: TypeAlias = Mapping[tuple[int, int], Term]
Key = TypeVar("Key")
Value: TypeAlias = Mapping[Any, Term]
"""An EventSet or a Relation, as the sort of its expression says."""

_Application: TypeAlias = tuple[Any, ...]
"""An operator and the identities of its operands, which tell its sort; or an expression."""

_MOST_ROUNDS = 400_000
"""Rounds of a recursive definition times the pairs that each of them may change."""


class Terms(Algebra[Value]):
    """Sets and relations over the events of a program.

    executed: event → the term that it is executed. An operator is applied to the same values once.
    """

    def __init__(self, executed: Mapping[int, Term], limits: Limits | None = None) -> None:
        self.executed = executed
        self._limits = limits or Limits()
        self._applied: dict[_Application, tuple[tuple[Value, ...], Value]] = {}
        self._identity = identity(executed)

    def apply(self, operator: Operator, operands: tuple[Value, ...]) -> Value:
        """What an operator makes of its operands."""
        key = (type(operator), *map(id, operands)) if operands else (operator,)
        if key not in self._applied:  # operands that are kept alive keep their id
            self._limits.remaining()
            self._applied[key] = operands, self._apply(operator, operands)
        return self._applied[key][1]

    def _apply(self, operator: Operator, operands: tuple[Any, ...]) -> Value:
        match operator:
            case operators.Nothing():
                return {}
            case operators.Union():
                return _union(*operands)
            case operators.Intersection():
                return _intersection(*operands)
            case operators.Difference():
                return _difference(*operands)
            case operators.Composition():
                return compose(*operands)
            case operators.Product():
                return product(*operands)
            case operators.Identity():
                return identity(*operands)
            case operators.Domain():
                return _ends(operands[0], 0)
            case operators.Range():
                return _ends(operands[0], 1)
            case operators.Complement():
                every = self.executed
                of_sets = operator.sort is Sort.SET
                return _difference(every if of_sets else product(every, every), *operands)
            case operators.Inverse():
                return {(b, a): term for (a, b), term in operands[0].items()}
            case operators.Optionally():
                return _union(operands[0], self._identity)
            case operators.Plus():
                return closure(operands[0], self._limits)
            case operators.Star():
                return _union(
                    self.apply(operators.Plus(operator.argument), operands), self._identity
                )
            case _:
                assert_never(operator)

    def least(self, definitions: Definitions, names: Mapping[str, Value]) -> Mapping[str, Value]:
        """The least values that satisfy definitions by each other.

        Each round replaces all values by what the definitions make of them, starting with nothing.
        A round that changes anything under an assignment adds a pair there, so that after as many
        rounds as there are possible pairs, and one more, nothing changes under any. Mostly the
        terms are equal before. Raises LimitReached where that takes too long.
        """
        sharing = Sharing()
        values: dict[str, Value] = {name: {} for name, _ in definitions}
        rounds = possible = 0
        while rounds <= possible:
            known = {**names, **values}
            grown: dict[str, Value] = {
                name: sharing.shared(self.value(each, known)) for name, each in definitions
            }
            if grown == values:
                break
            self._forget(values.values())
            values, rounds = grown, rounds + 1
            possible = sum(map(len, values.values()))
            if rounds * possible > _MOST_ROUNDS:
                defined = " and ".join(values)
                raise LimitReached(f"the recursive definition of {defined} takes too many rounds")
            self._limits.remaining()
        return values

    def _forget(self, values: Iterable[Value]) -> None:
        """Keep nothing that was made of some values."""
        gone = {*map(id, values)}
        kept = {}
        for key, (operands, value) in self._applied.items():
            if gone.isdisjoint(key[1:]):
                kept[key] = operands, value
            else:
                gone.add(id(value))
        self._applied = kept

    def offending(self, test: Test, expression: Expression, names: Mapping[str, Value]) -> Relation:
        """The pairs of which an axiom wants none; an event of a set is a pair with itself."""
        if expression.sort is Sort.SET:
            expression = operators.Identity(expression)
        relation = self.value(
            operators.Plus(expression) if test is Test.ACYCLIC else expression, names
        )
        if test is Test.EMPTY:
            return relation
        return {(a, b): term for (a, b), term in relation.items() if a == b}

    def holds(self, test: Test, expression: Expression, names: Mapping[str, Value]) -> Term:
        """The term that an axiom holds: its expression is acyclic, irreflexive or empty."""
        return all_of(~term for term in self.offending(test, expression, names).values())


def identity(those: EventSet) -> Relation:
    """Every event of a set with itself."""
    return {(event, event): term for event, term in those.items()}


def product(left: EventSet, right: EventSet) -> Relation:
    """Every event of one set with every event of the other."""
    pairs = {(a, b): one & two for a, one in left.items() for b, two in right.items()}
    return possible(pairs)


def compose(first: Relation, second: Relation) -> Relation:
    """Relational composition."""
    by_source: dict[int, list[tuple[int, Term]]] = {}
    for (middle, target), term in second.items():
        by_source.setdefault(middle, []).append((target, term))
    found: dict[tuple[int, int], list[Term]] = {}
    for (source, middle), term in first.items():
        for target, other in by_source.get(middle, ()):
            found.setdefault((source, target), []).append(term & other)
    return possible(_any(found))


def closure(relation: Relation, limits: Limits | None = None) -> Relation:
    """The exact transitive closure, by Warshall's elimination of one event after the other.

    Events with few edges go first, which keeps the terms small.
    """
    successors: dict[int, dict[int, Term]] = {}
    predecessors: dict[int, dict[int, Term]] = {}
    for (a, b), term in relation.items():
        successors.setdefault(a, {})[b] = term
        predecessors.setdefault(b, {})[a] = term
    degree = {
        event: len(predecessors[event]) * len(successors.get(event, ())) for event in predecessors
    }
    for middle in sorted(degree, key=lambda event: (degree[event], event)):
        if limits is not None:
            limits.remaining()
        for source, before in list(predecessors[middle].items()):
            for target, after in list(successors.get(middle, {}).items()):
                known = successors[source].get(target, FALSE)
                if known is TRUE or source == middle or target == middle:
                    continue
                longer = known | (before & after)
                if longer is not FALSE:
                    successors[source][target] = longer
                    predecessors.setdefault(target, {})[source] = longer
    return {(a, b): term for a, row in successors.items() for b, term in row.items()}


def _ends(relation: Relation, place: int) -> EventSet:
    """The events that stand at one place of the pairs of a relation: 0 its domain, 1 its range."""
    found: dict[int, list[Term]] = {}
    for pair, term in relation.items():
        found.setdefault(pair[place], []).append(term)
    return _any(found)


def _any(found: Mapping[Key, list[Term]]) -> dict[Key, Term]:
    return {key: terms[0] if len(terms) == 1 else any_of(terms) for key, terms in found.items()}


def _union(left: Mapping[Key, Term], right: Mapping[Key, Term]) -> dict[Key, Term]:
    joined = dict(left)
    for key, term in right.items():
        joined[key] = joined[key] | term if key in joined else term
    return joined


def _intersection(left: Mapping[Key, Term], right: Mapping[Key, Term]) -> dict[Key, Term]:
    return possible({key: term & right[key] for key, term in left.items() if key in right})


def _difference(left: Mapping[Key, Term], right: Mapping[Key, Term]) -> dict[Key, Term]:
    return possible(
        {key: term & ~right[key] if key in right else term for key, term in left.items()}
    )


def possible(terms: Mapping[Key, Term]) -> dict[Key, Term]:
    """What a mapping has but FALSE."""
    return {key: term for key, term in terms.items() if term is not FALSE}
