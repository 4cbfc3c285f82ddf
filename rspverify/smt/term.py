"""Propositional terms: built with & | ~, constant-folded, and without a truth value in Python."""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum
from typing import NoReturn


class Kind(Enum):
    """What stands at the root of a term."""

    CONSTANT = 0
    VARIABLE = 1
    NOT = 2
    AND = 3
    OR = 4


class Term:
    """A formula. Terms are shared, never changed, and compared by identity.

    kind; arguments: the terms below it; name: of a variable.
    """

    __slots__ = ("_negation", "arguments", "kind", "name")

    def __init__(self, kind: Kind, arguments: tuple[Term, ...] = (), name: str = "") -> None:
        self.kind = kind
        self.arguments = arguments
        self.name = name
        self._negation: Term | None = None

    def __bool__(self) -> NoReturn:
        raise TypeError(
            "a Term has no truth value in Python: combine it with & | ~ and ask a solver"
        )

    def __and__(self, other: Term) -> Term:
        if other is TRUE or self is other or self is FALSE:
            return self
        if self is TRUE or other is FALSE:
            return other
        return FALSE if self._negation is other else Term(Kind.AND, (self, other))

    def __or__(self, other: Term) -> Term:
        if other is FALSE or self is other or self is TRUE:
            return self
        if self is FALSE or other is TRUE:
            return other
        return TRUE if self._negation is other else Term(Kind.OR, (self, other))

    def __invert__(self) -> Term:
        if self._negation is None:
            self._negation = Term(Kind.NOT, (self,))
            self._negation._negation = self
        return self._negation

    def implies(self, other: Term) -> Term:
        """False only where this holds and the other does not."""
        return ~self | other

    def iff(self, other: Term) -> Term:
        """True where both have the same value."""
        return if_then_else(self, other, ~other)

    def __repr__(self) -> str:
        match self.kind:
            case Kind.VARIABLE:
                return self.name
            case Kind.CONSTANT:
                return "true" if self is TRUE else "false"
            case Kind.NOT:
                return f"~{self.arguments[0]!r}"
            case _:
                sign = " & " if self.kind is Kind.AND else " | "
                return f"({sign.join(map(repr, self.arguments))})"


TRUE = Term(Kind.CONSTANT)
FALSE = Term(Kind.CONSTANT)
TRUE._negation, FALSE._negation = FALSE, TRUE


def variable(name: str) -> Term:
    """A new variable, different from every other even of the same name."""
    return Term(Kind.VARIABLE, (), name)


def all_of(terms: Iterable[Term]) -> Term:
    """The conjunction, folded: no constants, no repetitions, FALSE where it contradicts itself."""
    return _junction(terms, Kind.AND, TRUE, FALSE)


def any_of(terms: Iterable[Term]) -> Term:
    """The disjunction, folded: no constants, no repetitions, TRUE where it is a tautology."""
    return _junction(terms, Kind.OR, FALSE, TRUE)


def _junction(terms: Iterable[Term], kind: Kind, neutral: Term, absorbing: Term) -> Term:
    kept: dict[Term, None] = {}
    for term in terms:
        if term is absorbing:
            return absorbing
        if term is neutral or term in kept:
            continue
        if term._negation is not None and term._negation in kept:
            return absorbing
        kept[term] = None
    if not kept:
        return neutral
    if len(kept) == 1:
        return next(iter(kept))
    return Term(kind, tuple(kept))


def if_then_else(condition: Term, then: Term, otherwise: Term) -> Term:
    """`then` where the condition holds, `otherwise` where it does not."""
    if condition is TRUE or then is otherwise:
        return then
    if condition is FALSE:
        return otherwise
    return (condition & then) | (~condition & otherwise)


def at_most_one(terms: Iterable[Term]) -> list[Term]:
    """Clauses that let at most one term hold: pairwise when few, with a ladder when many."""
    literals = [term for term in terms if term is not FALSE]
    if len(literals) <= 6:
        return [
            ~first | ~second
            for place, first in enumerate(literals)
            for second in literals[place + 1 :]
        ]
    clauses = []
    seen = literals[0]
    for place, literal in enumerate(literals[1:]):
        clauses.append(~literal | ~seen)
        if place < len(literals) - 2:
            later = variable("ladder")
            clauses += [~seen | later, ~literal | later]
            seen = later
    return clauses
