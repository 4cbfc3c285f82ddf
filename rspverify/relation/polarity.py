"""Under which sign names stand in an expression: how its value changes as theirs do."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from rspverify.relation.expression import Complement, Difference, Expression, Operator, fold


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
