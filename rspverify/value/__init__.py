"""The values of a program: integer expressions over the values that a thread has read.

They wrap at 32 bits (docs/semantics.md, Values). A register never appears: reading a litmus test
replaces each register by the expression that it holds, so that programs, models and machines speak
of values read and of nothing else. Which values there may be: domain.py.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Mapping
from typing import assert_never

from msgspec import Struct


class Constant(Struct, frozen=True):
    """An integer that is written in the program."""

    value: int


class Read(Struct, frozen=True):
    """The value that the operation (or the compiled instruction of it) with this index reads."""

    index: int


class Unary(Struct, frozen=True, cache_hash=True):
    """`-e`, `~e` or `!e`."""

    operator: str
    argument: Expression


class Binary(Struct, frozen=True, cache_hash=True):
    """`l op r` for an operator of BINARY. `&&` and `||` do not look at `r` when `l` decides."""

    operator: str
    left: Expression
    right: Expression


class Select(Struct, frozen=True, cache_hash=True):
    """`condition ? then : otherwise`, looking at the chosen one only."""

    condition: Expression
    then: Expression
    otherwise: Expression


Expression = Constant | Read | Unary | Binary | Select


def wrap(value: int) -> int:
    """The 32-bit signed integer congruent to `value`."""
    return (value + 2**31) % 2**32 - 2**31


UNARY: Mapping[str, Callable[[int], int]] = {
    "-": operator.neg,
    "~": operator.invert,
    "!": lambda a: int(a == 0),
}
"""The unary operators of C that we have."""

BINARY: Mapping[str, Callable[[int, int], int]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "&": operator.and_,
    "|": operator.or_,
    "^": operator.xor,
    "<<": lambda a, b: a << (b % 32),
    ">>": lambda a, b: a >> (b % 32),
    "==": lambda a, b: int(a == b),
    "!=": lambda a, b: int(a != b),
    "<": lambda a, b: int(a < b),
    "<=": lambda a, b: int(a <= b),
    ">": lambda a, b: int(a > b),
    ">=": lambda a, b: int(a >= b),
    "&&": lambda a, b: int(a != 0 and b != 0),
    "||": lambda a, b: int(a != 0 or b != 0),
}
"""The binary operators of C that we have; shifts count modulo 32, as in OpenCL C §6.3.j."""


def evaluate(expression: Expression, values: Mapping[int, int]) -> int:
    """The value of an expression where read i had `values[i]`; KeyError if one is missing."""
    match expression:
        case Constant(value):
            return value
        case Read(index):
            return values[index]
        case Unary(name, argument):
            return wrap(UNARY[name](evaluate(argument, values)))
        case Binary(name, left, right):
            first = evaluate(left, values)
            if name == "&&" and first == 0:
                return 0
            if name == "||" and first != 0:
                return 1
            return wrap(BINARY[name](first, evaluate(right, values)))
        case Select(condition, then, otherwise):
            return evaluate(then if evaluate(condition, values) else otherwise, values)
        case _:
            assert_never(expression)


def parts(expression: Expression) -> tuple[Expression, ...]:
    """The expressions that an operator is applied to; none for a constant or a read."""
    match expression:
        case Constant() | Read():
            return ()
        case Unary(_, argument):
            return (argument,)
        case Binary(_, left, right):
            return left, right
        case Select(condition, then, otherwise):
            return condition, then, otherwise
        case _:
            assert_never(expression)


def _walk(expression: Expression) -> Iterator[Expression]:
    waiting = [expression]
    while waiting:
        expression = waiting.pop()
        yield expression
        waiting += parts(expression)


def reads(expression: Expression) -> frozenset[int]:
    """The indices of the reads that an expression mentions."""
    return frozenset(it.index for it in _walk(expression) if isinstance(it, Read))


def constants(expression: Expression) -> frozenset[int]:
    """The integers that are written in an expression."""
    return frozenset(it.value for it in _walk(expression) if isinstance(it, Constant))


def substituted(expression: Expression, by: Callable[[int], Expression]) -> Expression:
    """The expression with `by(i)` for each `Read(i)`, folded where that makes it constant."""
    match expression:
        case Constant():
            return expression
        case Read(index):
            return by(index)
        case Unary(name, argument):
            return unary(name, substituted(argument, by))
        case Binary(name, left, right):
            return binary(name, substituted(left, by), substituted(right, by))
        case Select(condition, then, otherwise):
            then, otherwise = substituted(then, by), substituted(otherwise, by)
            return select(substituted(condition, by), then, otherwise)
        case _:
            assert_never(expression)


def renumbered(expression: Expression, place: Callable[[int], int]) -> Expression:
    """The expression with `Read(place(i))` for each `Read(i)`."""
    return substituted(expression, lambda index: Read(place(index)))


def conjuncts(condition: Expression) -> Iterator[Expression]:
    """The conditions that a condition joins by `&&`, from left to right; itself if none."""
    match condition:
        case Binary("&&", left, right):
            yield from conjuncts(left)
            yield from conjuncts(right)
        case _:
            yield condition


def unary(name: str, argument: Expression) -> Expression:
    """`name argument`, folded if it is constant."""
    folded = Unary(name, argument)
    return Constant(evaluate(folded, {})) if isinstance(argument, Constant) else folded


def binary(name: str, left: Expression, right: Expression) -> Expression:
    """`left name right`, folded if it is constant or decided by its left side."""
    if isinstance(left, Constant):
        if name in ("&&", "||") and (left.value != 0) == (name == "||"):
            return Constant(int(name == "||"))
        if isinstance(right, Constant):
            return Constant(evaluate(Binary(name, left, right), {}))
    return Binary(name, left, right)


def conjunction(left: Expression, right: Expression) -> Expression:
    """`left && right` for two conditions, without the parts that are always true."""
    if isinstance(left, Constant):
        return right if left.value else Constant(0)
    if isinstance(right, Constant):
        return left if right.value else Constant(0)
    return Binary("&&", left, right)


def select(condition: Expression, then: Expression, otherwise: Expression) -> Expression:
    """`condition ? then : otherwise`, folded if the condition is constant or both are the same."""
    if isinstance(condition, Constant):
        return then if condition.value else otherwise
    return then if then == otherwise else Select(condition, then, otherwise)
