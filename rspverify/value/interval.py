"""Between which integers the value of an expression lies, whatever is read."""

from __future__ import annotations

from itertools import product
from typing import assert_never

from rspverify.value import BINARY, Binary, Constant, Expression, Read, Select, Unary, wrap

Interval = tuple[int, int]
"""The least and the greatest integer, both included."""

EVERYTHING: Interval = (-(2**31), 2**31 - 1)

_TRUTHS = ("==", "!=", "<", "<=", ">", ">=", "&&", "||")


def interval(expression: Expression) -> Interval:
    """An interval that contains all values of an expression, over reads that may read anything."""
    match expression:
        case Constant(value):
            return value, value
        case Read():
            return EVERYTHING
        case Unary("!", _):
            return 0, 1
        case Unary("~", argument):
            low, high = interval(argument)
            return ~high, ~low
        case Unary(_, argument):
            low, high = interval(argument)
            return _unwrapped([-low, -high])
        case Binary(name, left, right):
            return (0, 1) if name in _TRUTHS else _binary(name, interval(left), interval(right))
        case Select(_, then, otherwise):
            one, other = interval(then), interval(otherwise)
            return min(one[0], other[0]), max(one[1], other[1])
        case _:
            assert_never(expression)


def _binary(name: str, left: Interval, right: Interval) -> Interval:
    if name in ("+", "-", "*"):
        return _unwrapped([BINARY[name](a, b) for a, b in product(left, right)])
    bounds = [high for low, high in (left, right) if low >= 0]
    if name == "&" and bounds:
        return 0, min(bounds)
    if name in ("|", "^") and len(bounds) == 2:
        return 0, (1 << max(bounds).bit_length()) - 1
    if name == ">>" and left[0] >= 0:
        return 0, left[1]
    return EVERYTHING


def _unwrapped(ends: list[int]) -> Interval:
    """The interval between the least and the greatest end, if none of its integers wraps."""
    low, high = min(ends), max(ends)
    return (low, high) if (wrap(low), wrap(high)) == (low, high) else EVERYTHING
