"""What evaluates expressions: the operators over values of one kind, and a fold for all kinds."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from typing import Generic

from msgspec import Struct

from rspverify.relation.expression import (
    Complement,
    Difference,
    Expression,
    Nothing,
    Operator,
    Sort,
    Value,
    fold,
)

Definitions = Sequence[tuple[str, Expression]]


class Algebra(ABC, Generic[Value]):
    """The operators over values of one kind: terms, plain values, or steps to calculate these.

    Algebras share the way through an expression and nothing of what an operator does there.
    """

    @abstractmethod
    def apply(self, operator: Operator, operands: tuple[Value, ...]) -> Value:
        """What the operator at the root of an expression makes of the values of its operands."""

    def least(self, definitions: Definitions, names: Mapping[str, Value]) -> Mapping[str, Value]:
        """The least values of names that are defined by each other, from nothing upwards; names:
        those of the others.

        A definition must only grow as the names that are defined grow.
        """
        found = {name: self.apply(Nothing(Sort.RELATION), ()) for name, _ in definitions}
        while True:
            known = {**names, **found}
            grown = {name: self.value(each, known) for name, each in definitions}
            if grown == found:
                return found
            found = grown

    def value(self, expression: Expression, names: Mapping[str, Value]) -> Value:
        """The value of an expression."""
        return fold(expression, names.__getitem__, self.apply)


# ---- under which sign names stand: how the value of an expression changes as theirs do -----------


class Polarity(Struct, frozen=True):
    """The names that stand under an even number of `~` and right sides of `\\`, and an odd one.

    As a name grows that is not among the negative ones, the value can only grow.
    """

    positive: frozenset[str] = frozenset()
    negative: frozenset[str] = frozenset()

    @property
    def names(self) -> frozenset[str]:
        """All that the value depends on."""
        return self.positive | self.negative


def polarity(expression: Expression) -> Polarity:
    """The polarity of an expression."""
    return fold(expression, lambda name: Polarity(frozenset({name})), polarity_of)


def polarity_of(operator: Operator, operands: Iterable[Polarity]) -> Polarity:
    """That of the operator at the root of an expression, from those of its operands."""
    below = list(operands)
    if isinstance(operator, Complement | Difference):
        below[-1] = Polarity(below[-1].negative, below[-1].positive)
    return Polarity(
        frozenset().union(*(each.positive for each in below)),
        frozenset().union(*(each.negative for each in below)),
    )
