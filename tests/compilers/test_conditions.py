"""Conditions: equal ones are the same, and nothing is looked at that was not read."""

from itertools import product

import pytest

from rspverify.isa.conditions import (
    Condition,
    both,
    choice,
    compared,
    condition_of,
    either,
    expression,
    implies,
    negated,
)
from rspverify.value import Binary, Constant, Expression, Read, Select, Unary, evaluate

A, B = Read(0), Read(1)
ONE, TWO = Constant(1), Constant(2)
VALUES = range(-1, 4)


def holds(it: Condition, a: int, b: int) -> bool:
    return bool(evaluate(expression(it), {0: a, 1: b}))


EXPRESSIONS: list[Expression] = [
    A,
    Unary("!", A),
    Binary("-", A, B),
    Binary("==", Binary("==", A, ONE), ONE),
    Binary("!=", Binary("<", A, B), Constant(0)),
    Binary(">=", A, ONE),
    Binary("<", ONE, A),
    Binary("<=", TWO, B),
    Binary(">", A, B),
    Binary("&&", A, Binary("==", B, TWO)),
    Binary("||", Binary("==", A, B), Unary("!", B)),
    Select(Binary("==", A, ONE), B, Binary("<", B, A)),
    Binary("==", Select(A, B, TWO), TWO),
    Binary("<", Constant(2**31 - 1), A),
    Binary("<", B, B),
    Binary("<", Binary("-", Binary("&", A, A), Constant(0)), Constant(0)),
    Binary("&", Binary(">>", A, Constant(31)), ONE),
]


@pytest.mark.parametrize("it", EXPRESSIONS, ids=str)
def test_a_condition_is_what_it_is_made_of(it: Expression) -> None:
    found = condition_of(it)
    for a, b in product(VALUES, VALUES):
        assert holds(found, a, b) is bool(evaluate(it, {0: a, 1: b}))
        assert holds(negated(found), a, b) is not holds(found, a, b)


def test_what_is_made_of_two() -> None:
    for one, other in product(map(condition_of, EXPRESSIONS), repeat=2):
        for a, b in product(VALUES, VALUES):
            first, second = holds(one, a, b), holds(other, a, b)
            assert holds(both(one, other), a, b) is (first and second)
            assert holds(either(one, other), a, b) is (first or second)
            assert holds(choice(one, other, negated(other)), a, b) is (first is second)


def test_equal_ones_are_the_same() -> None:
    a, b = condition_of(A), condition_of(Binary("==", B, TWO))
    assert either(both(a, b), both(a, negated(b))) == a
    assert both(a, negated(a)) is False
    assert compared(">", A, Constant(0)) == compared(">=", A, ONE)
    assert compared("==", ONE, A) == condition_of(Binary("==", A, ONE))
    assert compared("==", A, A) is True
    assert implies(both(a, b), a) and not implies(a, b)


def test_a_sign_is_the_same_however_it_is_asked_for() -> None:
    negative = condition_of(Binary("<", A, Constant(0)))
    assert {condition_of(it) for it in EXPRESSIONS[-2:]} == {negative}
    assert condition_of(Binary(">", A, A)) is False
    assert condition_of(Binary(">=", A, Binary("|", A, A))) is True


def test_what_is_read_earlier_is_looked_at_first() -> None:
    """The later read is not executed where the earlier one is 0."""
    path = both(condition_of(B), condition_of(A))
    assert evaluate(expression(path), {0: 0}) == 0
    assert evaluate(expression(negated(path)), {0: 0}) == 1
