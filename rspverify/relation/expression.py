"""The syntax of relational expressions: one class per operator, its sorts checked when built."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import TypeAlias, TypeVar

from msgspec import Struct

from rspverify.records import fields_of


class Sort(Enum):
    """What an expression denotes."""

    SET = "set"
    RELATION = "relation"


class KindError(Exception):
    """An operator got a set where it wants a relation, or the other way round."""


class _Syntax:
    """A set of events or a relation between events; `str()` spells it as .cat does.

    binding: how tightly its operator binds, so that only the parentheses that matter are written.
    """

    sort: Sort
    binding = 7

    def inside(self, binding: int) -> str:
        """The spelling as an operand of an operator that binds so tightly."""
        return str(self) if self.binding >= binding else f"({self})"


class Name(_Syntax, Struct, frozen=True, cache_hash=True, dict=True):
    """A base relation or set, or one that a model defines."""

    name: str
    sort: Sort

    def __str__(self) -> str:
        return self.name


class Nothing(_Syntax, Struct, frozen=True, cache_hash=True, dict=True):
    """`0` or `{}`: the empty relation, or the empty set."""

    sort: Sort

    def __str__(self) -> str:
        return "0" if self.sort is Sort.RELATION else "{}"


class _Pair(_Syntax, Struct, frozen=True, cache_hash=True, dict=True):
    left: Expression
    right: Expression

    symbol = "?"

    def __post_init__(self) -> None:
        if self.left.sort is not self.right.sort:
            raise KindError(
                f"both sides of {self.symbol} must be of one sort, "
                f"not a {self.left.sort.value} and a {self.right.sort.value}"
            )

    @property
    def sort(self) -> Sort:  # type: ignore[override]
        return self.left.sort

    def __str__(self) -> str:
        space = "" if self.symbol == ";" else " "
        right = self.right.inside(self.binding + 1)
        return f"{self.left.inside(self.binding)}{space}{self.symbol} {right}"


class Union(_Pair, frozen=True):
    """`a | b`"""

    symbol = "|"
    binding = 1


class Intersection(_Pair, frozen=True):
    """`a & b`"""

    symbol = "&"
    binding = 4


class Difference(_Pair, frozen=True):
    """`a \\ b`"""

    symbol = "\\"
    binding = 3


class Composition(_Pair, frozen=True):
    """`r ; s`: (x, z) with (x, y) in r and (y, z) in s."""

    symbol = ";"
    binding = 2

    def __post_init__(self) -> None:
        _want(self.left, Sort.RELATION, "the left side of ;")
        _want(self.right, Sort.RELATION, "the right side of ;")


class Product(_Syntax, Struct, frozen=True, cache_hash=True, dict=True):
    """`S * T`: every event of S with every event of T."""

    left: Expression
    right: Expression
    sort = Sort.RELATION
    binding = 5

    def __post_init__(self) -> None:
        _want(self.left, Sort.SET, "the left side of *")
        _want(self.right, Sort.SET, "the right side of *")

    def __str__(self) -> str:
        return f"{self.left.inside(6)} * {self.right.inside(6)}"


class Identity(_Syntax, Struct, frozen=True, cache_hash=True, dict=True):
    """`[S]`: every event of S with itself."""

    argument: Expression
    sort = Sort.RELATION

    def __post_init__(self) -> None:
        _want(self.argument, Sort.SET, "the inside of [ ]")

    def __str__(self) -> str:
        return f"[{self.argument}]"


class _End(_Syntax, Struct, frozen=True, cache_hash=True, dict=True):
    argument: Expression
    word = "?"
    sort = Sort.SET

    def __post_init__(self) -> None:
        _want(self.argument, Sort.RELATION, f"the argument of {self.word}")

    def __str__(self) -> str:
        return f"{self.word}({self.argument})"


class Domain(_End, frozen=True):
    """`domain(r)`: the events that r relates to some event."""

    word = "domain"


class Range(_End, frozen=True):
    """`range(r)`: the events that r relates some event to."""

    word = "range"


class Complement(_Syntax, Struct, frozen=True, cache_hash=True, dict=True):
    """`~a`: the executed events, or pairs of executed events, outside a."""

    argument: Expression
    binding = 6

    @property
    def sort(self) -> Sort:  # type: ignore[override]
        return self.argument.sort

    def __str__(self) -> str:
        return f"~{self.argument.inside(6)}"


class _Postfix(_Syntax, Struct, frozen=True, cache_hash=True, dict=True):
    argument: Expression
    symbol = "?"
    sort = Sort.RELATION

    def __post_init__(self) -> None:
        _want(self.argument, Sort.RELATION, f"the operand of {self.symbol}")

    def __str__(self) -> str:
        return f"{self.argument.inside(7)}{self.symbol}"


class Inverse(_Postfix, frozen=True):
    """`r^-1`"""

    symbol = "^-1"


class Optionally(_Postfix, frozen=True):
    """`r?`: r or the identity."""

    symbol = "?"


class Plus(_Postfix, frozen=True):
    """`r+`: the transitive closure."""

    symbol = "+"


class Star(_Postfix, frozen=True):
    """`r*`: the reflexive transitive closure."""

    symbol = "*"


Operator: TypeAlias = (
    Nothing
    | Union
    | Intersection
    | Difference
    | Composition
    | Product
    | Identity
    | Domain
    | Range
    | Complement
    | Inverse
    | Optionally
    | Plus
    | Star
)
"""An expression that is no name, by the operator at its root."""

Expression: TypeAlias = Name | Operator
Value = TypeVar("Value")


def operands(expression: Expression) -> tuple[Expression, ...]:
    """The expressions that an operator is applied to, from left to right."""
    if "_operands" not in expression.__dict__:
        fields = [getattr(expression, each) for each in fields_of(expression)]
        found = tuple(each for each in fields if isinstance(each, _Syntax))
        expression.__dict__["_operands"] = found
    known: tuple[Expression, ...] = expression.__dict__["_operands"]
    return known


def fold(
    expression: Expression,
    of_name: Callable[[str], Value],
    apply: Callable[[Operator, tuple[Value, ...]], Value],
) -> Value:
    """The value of an expression, from those of its names and what operators do with values."""
    if isinstance(expression, Name):
        return of_name(expression.name)
    below = [fold(each, of_name, apply) for each in operands(expression)]
    return apply(expression, tuple(below))


def names_in(expression: Expression) -> frozenset[str]:
    """The names that an expression mentions."""
    if isinstance(expression, Name):
        return frozenset({expression.name})
    return frozenset().union(*map(names_in, operands(expression)))


class Test(Enum):
    """The questions that an axiom asks of an expression."""

    ACYCLIC = "acyclic"
    IRREFLEXIVE = "irreflexive"
    EMPTY = "empty"


def _want(operand: Expression, sort: Sort, where: str) -> None:
    if operand.sort is not sort:
        raise KindError(f"{where} must be a {sort.value}, not a {operand.sort.value}")
