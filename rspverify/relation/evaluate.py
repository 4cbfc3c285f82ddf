"""From expressions to must | may | never per pair.

A set is a mapping from events to terms, a relation one from pairs of events: TRUE is must, any
other term is may (it holds where the term does), and what is missing is never. Constants fold, so
that most pairs never reach a solver.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from rspverify.limits import LimitReached, Limits
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
    Test,
    Union,
    names_in,
)
from rspverify.relation.sharing import Sharing
from rspverify.smt import FALSE, TRUE, Term, all_of, any_of

EventSet = Mapping[int, Term]
Relation = Mapping[tuple[int, int], Term]

_MOST_ROUNDS = 400_000
"""Rounds of a recursive definition times the pairs that each of them may change."""


class Environment:
    """The events of a program and the values of names, over which expressions are evaluated.

    executed: event → the term that it is executed. Names are added in order of definition.
    """

    def __init__(self, executed: Mapping[int, Term], limits: Limits | None = None) -> None:
        self.executed = executed
        self._limits = limits or Limits()
        self._sets: dict[str, EventSet] = {}
        self._relations: dict[str, Relation] = {}
        self._evaluated: dict[Expression, Relation] = {}
        self.identity: Relation = {(event, event): term for event, term in executed.items()}

    def define_set(self, name: str, value: EventSet) -> None:
        """Bind a name to a set."""
        self._sets[name] = value

    def define_relation(self, name: str, value: Relation) -> None:
        """Bind a name to a relation, whatever it was before."""
        if name in self._sets or name in self._relations:
            self._evaluated.clear()
            self._sets.pop(name, None)
        self._relations[name] = value

    def define(self, definitions: Iterable[tuple[str, Expression]]) -> None:
        """Bind names to the values that expressions have now; later ones see the new values."""
        values = [(name, each.sort, evaluate(self, each)) for name, each in definitions]
        for name, sort, value in values:
            self._bind(name, sort, value)

    def define_recursively(self, definitions: Sequence[tuple[str, Expression]]) -> None:
        """Bind names to the least values that satisfy definitions by each other.

        A definition must only grow as the names that are defined grow. Each round replaces all
        values by what the definitions make of them, starting with nothing. A round that changes
        anything under an assignment adds a pair there, so that after as many rounds as there are
        possible pairs, and one more, nothing changes under any. Mostly the terms are equal before.
        Raises LimitReached where that takes too long.
        """
        sharing = Sharing()
        values: list[EventSet | Relation] = [{} for _ in definitions]
        rounds = possible = 0
        while rounds <= possible:
            for (name, each), value in zip(definitions, values, strict=True):
                self._bind(name, each.sort, value)
            grown: list[EventSet | Relation] = [
                sharing.shared(evaluate(self, each)) for _, each in definitions
            ]
            if grown == values:
                return
            values, rounds = [*grown], rounds + 1
            possible = sum(map(len, values))
            if rounds * possible > _MOST_ROUNDS:
                names = " and ".join(name for name, _ in definitions)
                raise LimitReached(f"the recursive definition of {names} takes too many rounds")
            self._limits.remaining()

    def _bind(self, name: str, sort: Sort, value: EventSet | Relation) -> None:
        if name in self._sets or name in self._relations:
            kept = {e: found for e, found in self._evaluated.items() if name not in names_in(e)}
            self._evaluated = kept
            self._sets.pop(name, None)
            self._relations.pop(name, None)
        target = self._sets if sort is Sort.SET else self._relations
        target[name] = value  # type: ignore[assignment]

    def set(self, expression: Expression) -> EventSet:
        """The value of an expression whose sort is SET."""
        match expression:
            case Name(name, Sort.SET):
                return self._sets[name]
            case Union(left, right):
                return _union(self.set(left), self.set(right))
            case Intersection(left, right):
                return _intersection(self.set(left), self.set(right))
            case Difference(left, right):
                return _difference(self.set(left), self.set(right))
            case Complement(argument):
                return _difference(self.executed, self.set(argument))
            case Domain(argument):
                return _ends(self.relation(argument), 0)
            case Range(argument):
                return _ends(self.relation(argument), 1)
            case Nothing(Sort.SET):
                return {}
        raise AssertionError(f"not a set: {expression}")

    def relation(self, expression: Expression) -> Relation:
        """The value of an expression whose sort is RELATION; equal ones are evaluated once."""
        self._limits.remaining()
        if expression not in self._evaluated:
            self._evaluated[expression] = self._relation(expression)
        return self._evaluated[expression]

    def _relation(self, expression: Expression) -> Relation:
        match expression:
            case Name(name, Sort.RELATION):
                return self._relations[name]
            case Union(left, right):
                return _union(self.relation(left), self.relation(right))
            case Intersection(left, right):
                return _intersection(self.relation(left), self.relation(right))
            case Difference(left, right):
                return _difference(self.relation(left), self.relation(right))
            case Composition(left, right):
                return compose(self.relation(left), self.relation(right))
            case Product(left, right):
                return product(self.set(left), self.set(right))
            case Identity(argument):
                return {(event, event): term for event, term in self.set(argument).items()}
            case Complement(argument):
                everything = product(self.executed, self.executed)
                return _difference(everything, self.relation(argument))
            case Inverse(argument):
                return {(b, a): term for (a, b), term in self.relation(argument).items()}
            case Optionally(argument):
                return _union(self.relation(argument), self.identity)
            case Plus(argument):
                return closure(self.relation(argument), self._limits)
            case Star(argument):
                return _union(closure(self.relation(argument), self._limits), self.identity)
            case Nothing(Sort.RELATION):
                return {}
        raise AssertionError(f"not a relation: {expression}")


def evaluate(environment: Environment, expression: Expression) -> EventSet | Relation:
    """The value of an expression of either sort."""
    if expression.sort is Sort.SET:
        return environment.set(expression)
    return environment.relation(expression)


def holds(environment: Environment, test: Test, expression: Expression) -> Term:
    """The term that an axiom holds: its expression is acyclic, irreflexive or empty."""
    if test is Test.EMPTY:
        return all_of(~term for term in evaluate(environment, expression).values())
    if test is Test.ACYCLIC:
        expression = Plus(expression)
    relation = environment.relation(expression)
    return all_of(~term for (a, b), term in relation.items() if a == b)


def product(left: EventSet, right: EventSet) -> Relation:
    """Every event of one set with every event of the other."""
    pairs = {(a, b): one & two for a, one in left.items() for b, two in right.items()}
    return _possible(pairs)


def compose(first: Relation, second: Relation) -> Relation:
    """Relational composition."""
    by_source: dict[int, list[tuple[int, Term]]] = {}
    for (middle, target), term in second.items():
        by_source.setdefault(middle, []).append((target, term))
    found: dict[tuple[int, int], list[Term]] = {}
    for (source, middle), term in first.items():
        for target, other in by_source.get(middle, ()):
            found.setdefault((source, target), []).append(term & other)
    return _possible({pair: any_of(terms) for pair, terms in found.items()})


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
    return {event: any_of(terms) for event, terms in found.items()}


def _union(left: Mapping, right: Mapping) -> dict:  # type: ignore[type-arg]
    joined = dict(left)
    for key, term in right.items():
        joined[key] = joined[key] | term if key in joined else term
    return joined


def _intersection(left: Mapping, right: Mapping) -> dict:  # type: ignore[type-arg]
    return _possible({key: term & right[key] for key, term in left.items() if key in right})


def _difference(left: Mapping, right: Mapping) -> dict:  # type: ignore[type-arg]
    return _possible(
        {key: term & ~right[key] if key in right else term for key, term in left.items()}
    )


def _possible(terms: Mapping) -> dict:  # type: ignore[type-arg]
    return {key: term for key, term in terms.items() if term is not FALSE}
