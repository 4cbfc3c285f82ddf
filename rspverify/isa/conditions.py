"""Conditions over values read, as decision diagrams: equal ones are the same, however written.

A comparison of what is read earlier is decided first, so that nothing is looked at that was not
read on the path; and where both answers lead to the same it is left out.
"""

from __future__ import annotations

from functools import lru_cache

from msgspec import Struct

from rspverify.value import (
    Binary,
    Constant,
    Expression,
    Read,
    Select,
    Unary,
    binary,
    conjunction,
    reads,
    select,
    unary,
)


class Decision(Struct, frozen=True, cache_hash=True):
    """What follows where a comparison holds, and where it does not."""

    comparison: Expression
    then: Condition
    otherwise: Condition


Condition = bool | Decision


_LATEST = 1 << 32
_GREATEST = (1 << 31) - 1


@lru_cache(maxsize=4096)
def _place(comparison: Expression) -> tuple[int, str]:
    """Where a comparison stands in the order of decisions."""
    looked_at = reads(comparison)
    last = max(looked_at, default=0)
    return (_LATEST if min(looked_at, default=0) < 0 else last), repr(comparison)


@lru_cache(maxsize=4096)
def choice(condition: Condition, then: Condition, otherwise: Condition) -> Condition:
    """`then` where a condition holds, `otherwise` where it does not."""
    if isinstance(condition, bool):
        return then if condition else otherwise
    if then == otherwise:
        return then
    if then is True and otherwise is False:
        return condition
    parts = (condition, then, otherwise)
    first = min((it.comparison for it in parts if isinstance(it, Decision)), key=_place)
    yes = choice(*(_given(it, first, True) for it in parts))
    no = choice(*(_given(it, first, False) for it in parts))
    return yes if yes == no else Decision(first, yes, no)


def _given(condition: Condition, comparison: Expression, holds: bool) -> Condition:
    if isinstance(condition, Decision) and condition.comparison == comparison:
        return condition.then if holds else condition.otherwise
    return condition


@lru_cache(maxsize=4096)
def size(condition: Condition) -> int:
    """How many decisions it has when it is written out."""
    if isinstance(condition, bool):
        return 0
    return 1 + size(condition.then) + size(condition.otherwise)


def both(one: Condition, other: Condition) -> Condition:
    """That both hold."""
    if one is True or other is False or one is other:
        return other
    if other is True or one is False:
        return one
    return choice(one, other, False)


def either(one: Condition, other: Condition) -> Condition:
    """That one of them holds."""
    if one is False or other is True or one is other:
        return other
    if other is False or one is True:
        return one
    return choice(one, True, other)


def negated(condition: Condition) -> Condition:
    """That it does not hold."""
    return choice(condition, False, True)


def implies(one: Condition, other: Condition) -> bool:
    """Whether the second holds wherever the first does."""
    if other is True or one is False or one is other:
        return True
    if other is False:
        return False
    return both(one, negated(other)) is False


def compared(operator: str, left: Expression, right: Expression) -> Condition:
    """The condition `left operator right`, for an operator that compares signed numbers."""
    match operator:
        case "!=":
            return negated(compared("==", left, right))
        case ">":
            return compared("<", right, left)
        case ">=":
            return negated(compared("<", left, right))
        case "<=":
            return negated(compared("<", right, left))
    left, right = _without_idle(left), _without_idle(right)
    if left == right:
        return operator == "=="
    match left, right:
        case Select(condition, then, otherwise), _:
            parts = (compared(operator, it, right) for it in (then, otherwise))
            return choice(condition_of(condition), *parts)
        case _, Select(condition, then, otherwise):
            parts = (compared(operator, left, it) for it in (then, otherwise))
            return choice(condition_of(condition), *parts)
        case Constant(number), Read() | Unary() | Binary() if operator == "<":
            greater = number < _GREATEST
            return negated(compared("<", right, Constant(number + 1))) if greater else False
    if operator == "==":
        left, right = _in_order(left, right)
        if isinstance(right, Constant) and right.value == 0:
            return negated(condition_of(left))
        if isinstance(right, Constant) and right.value == 1 and _is_truth(left):
            return condition_of(left)
        match left, right:
            case Binary("^", value, Constant(turned)), Constant(number):
                return compared("==", value, Constant(number ^ turned))
    folded = binary(operator, left, right)
    return folded.value != 0 if isinstance(folded, Constant) else Decision(folded, True, False)


def _without_idle(value: Expression) -> Expression:
    """A value without what changes nothing: tests of a sign have `(r & r) - 0`."""
    match value:
        case Binary("-", left, Constant(0)):
            return _without_idle(left)
        case Binary("&" | "|", left, right) if left == right:
            return _without_idle(left)
        case _:
            return value


def condition_of(value: Expression) -> Condition:
    """That a value is not 0."""
    match value:
        case Constant(number):
            return number != 0
        case Unary("!", argument):
            return negated(condition_of(argument))
        case Binary("&&", left, right):
            return both(condition_of(left), condition_of(right))
        case Binary("||", left, right):
            return either(condition_of(left), condition_of(right))
        case Binary("==" | "!=" | "<" | ">" | "<=" | ">=" as name, left, right):
            return compared(name, left, right)
        case Binary("-" | "^", left, right):
            return compared("!=", left, right)
        case Select(condition, then, otherwise):
            return choice(condition_of(condition), condition_of(then), condition_of(otherwise))
        case Binary("&", Binary(">>", signed, Constant(31)), Constant(1)):
            return compared("<", signed, Constant(0))
        case Read() | Unary() | Binary():
            return negated(Decision(Binary("==", value, Constant(0)), True, False))


def _is_truth(value: Expression) -> bool:
    match value:
        case Constant(number):
            return number in (0, 1)
        case Unary("!", _):
            return True
        case Binary(name, _, _):
            return name in ("==", "!=", "<", ">", "<=", ">=", "&&", "||")
        case Select(_, then, otherwise):
            return _is_truth(then) and _is_truth(otherwise)
        case _:
            return False


def _in_order(left: Expression, right: Expression) -> tuple[Expression, Expression]:
    if isinstance(left, Constant) or (not isinstance(right, Constant) and repr(right) < repr(left)):
        return right, left
    return left, right


def expression(condition: Condition) -> Expression:
    """The condition as an expression: 1 where it holds, and 0 where not."""
    if isinstance(condition, bool):
        return Constant(int(condition))
    it, then, otherwise = condition.comparison, condition.then, condition.otherwise
    if otherwise is False:
        return conjunction(it, expression(then))
    if then is False:
        return conjunction(_opposite(it), expression(otherwise))
    if then is True:
        return binary("||", it, expression(otherwise))
    if otherwise is True:
        return binary("||", _opposite(it), expression(then))
    return Select(it, expression(then), expression(otherwise))


def _opposite(comparison: Expression) -> Expression:
    match comparison:
        case Binary("==", left, right):
            return Binary("!=", left, right)
        case Binary("<", left, right):
            return Binary(">=", left, right)
        case _:
            return unary("!", comparison)


def given(value: Expression, guard: Condition) -> Expression:
    """The expression without what cannot be where a condition holds."""
    if not isinstance(value, Select):
        return value
    condition = condition_of(value.condition)
    if implies(guard, condition):
        return given(value.then, guard)
    if implies(guard, negated(condition)):
        return given(value.otherwise, guard)
    then = given(value.then, both(guard, condition))
    return select(value.condition, then, given(value.otherwise, both(guard, negated(condition))))
