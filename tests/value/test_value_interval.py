"""An interval contains every value of its expression, and is no wider than it need be."""

import random
from itertools import product

import pytest

from rspverify.value import BINARY, UNARY, Binary, Constant, Expression, Read, Select, Unary
from rspverify.value import evaluate as value_of
from rspverify.value.interval import EVERYTHING, interval

X, Y = Read(0), Read(1)


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        (Constant(-3), (-3, -3)),
        (X, EVERYTHING),
        (Binary("==", X, Y), (0, 1)),
        (Unary("!", X), (0, 1)),
        (Binary("+", Unary("!", X), Constant(2)), (2, 3)),
        (Binary("-", Constant(0), Binary("<", X, Y)), (-1, 0)),
        (Unary("-", Binary("<", X, Y)), (-1, 0)),
        (Unary("~", Binary("<", X, Y)), (-2, -1)),
        (Binary("*", Binary("&", X, Constant(3)), Constant(-2)), (-6, 0)),
        (Binary("&", X, Constant(5)), (0, 5)),
        (Binary("&", X, Constant(-2)), EVERYTHING),
        (Binary("|", Binary("&", X, Constant(4)), Constant(1)), (0, 7)),
        (Binary(">>", Binary("&", X, Constant(4)), Y), (0, 4)),
        (Select(X, Constant(7), Binary("&&", X, Y)), (0, 7)),
        (Binary("+", X, Constant(1)), EVERYTHING),
        (Binary("<<", Constant(1), X), EVERYTHING),
    ],
)
def test_intervals(expression: Expression, expected: tuple[int, int]) -> None:
    assert interval(expression) == expected


def drawn(rng: random.Random, depth: int) -> Expression:
    if not depth or rng.random() < 0.2:
        return rng.choice([X, Y, Constant(rng.choice([0, 1, 2, 5, -1, -7, 2**31 - 1, -(2**31)]))])
    parts = [drawn(rng, depth - 1) for _ in range(3)]
    kind = rng.random()
    if kind < 0.2:
        return Unary(rng.choice([*UNARY]), parts[0])
    if kind < 0.3:
        return Select(*parts)
    return Binary(rng.choice([*BINARY]), *parts[:2])


def test_every_value_lies_within() -> None:
    rng = random.Random(7)
    narrow = 0
    for _ in range(1_500):
        expression = drawn(rng, 3)
        low, high = interval(expression)
        narrow += (low, high) != EVERYTHING
        for x, y in product((-(2**31), -2, 0, 1, 3, 2**31 - 1), repeat=2):
            assert low <= value_of(expression, {0: x, 1: y}) <= high, expression
    assert narrow > 500
