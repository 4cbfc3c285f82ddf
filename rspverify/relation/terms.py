"""From expressions to must | may | never per pair.

A set is a mapping from events to terms, a relation one from pairs of events: TRUE is must, any
other term is may (it holds where the term does), and what is missing is never. Constants fold, so
that most pairs never reach a solver.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias, TypeVar

from rspverify.limits import LimitReached, Limits
from rspverify.relation import expression as operators
from rspverify.relation.algebra import Definitions
from rspverify.relation.expression import Expression, Operator, Sort, Test
from rspverify.relation.graded import Graded, Value, closed, composition
from rspverify.smt.term import FALSE, TRUE, Kind, Term, all_of, any_of

EventSet: TypeAlias = Mapping[int, Term]
Relation: TypeAlias = Mapping[tuple[int, int], Term]
Key = TypeVar("Key")
_MOST_ROUNDS = 400_000
"""Rounds of a recursive definition times the pairs that each of them may change."""


class Terms(Graded):
    """Sets and relations over the events of a program, graded by terms."""

    def __init__(self, executed: Mapping[int, Term], limits: Limits | None = None) -> None:
        super().__init__(executed, any_of, FALSE)
        self._limits = limits or Limits()

    def apply(self, operator: Operator, operands: tuple[Any, ...]) -> Value:
        """What an operator makes of its operands. Raises LimitReached where no time is left."""
        self._limits.remaining()
        return super().apply(operator, operands)

    def closure(self, relation: Value) -> Value:
        """The transitive closure."""
        return closure(relation, self._limits)

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
            values, rounds = grown, rounds + 1
            possible = sum(map(len, values.values()))
            if rounds * possible > _MOST_ROUNDS:
                defined = " and ".join(values)
                raise LimitReached(f"the recursive definition of {defined} takes too many rounds")
            self._limits.remaining()
        return values

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


def compose(first: Relation, second: Relation) -> Relation:
    """Relational composition."""
    return possible(composition(first, second, any_of))


def closure(relation: Relation, limits: Limits | None = None) -> Relation:
    """The exact transitive closure. Raises LimitReached where no time is left."""
    check = (limits or Limits()).remaining
    return closed(relation, FALSE, TRUE, check)


def possible(terms: Mapping[Key, Term]) -> dict[Key, Term]:
    """What a mapping has but FALSE."""
    return {key: term for key, term in terms.items() if term is not FALSE}


class Sharing:
    """One term for all that are built alike, whatever the order of their arguments: what tells that
    the rounds of a recursive definition change nothing more."""

    def __init__(self) -> None:
        self._known: dict[tuple[Kind, frozenset[Term]], Term] = {}
        self._shared: dict[Term, Term] = {}

    def shared(self, terms: Mapping[Any, Term]) -> dict[Any, Term]:
        """The same mapping, with one term for all that are built alike, and without FALSE."""
        shared = {key: self.term(term) for key, term in terms.items()}
        return {key: term for key, term in shared.items() if term is not FALSE}

    def term(self, term: Term) -> Term:
        """The one term for all that are built like this one."""
        stack = [term]
        while stack:
            each = stack[-1]
            missing = [below for below in each.arguments if below not in self._shared]
            if missing and each not in self._shared:
                stack += missing
                continue
            stack.pop()
            if each not in self._shared:
                self._shared[each] = self._built(each)
        return self._shared[term]

    def _built(self, term: Term) -> Term:
        """A term of which the arguments are shared already."""
        if not term.arguments:
            return term
        arguments = [self._shared[each] for each in term.arguments]
        if term.kind is Kind.NOT:
            return ~arguments[0]
        folded = (all_of if term.kind is Kind.AND else any_of)(arguments)
        if folded.kind is not term.kind:
            return folded
        return self._known.setdefault((folded.kind, frozenset(folded.arguments)), folded)
