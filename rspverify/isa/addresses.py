"""Numbers and addresses in registers, and calculations in which both may stand."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from msgspec import Struct

from rspverify.isa.conditions import (
    Condition,
    condition_of,
)
from rspverify.isa.formula import Operators
from rspverify.records import replace
from rspverify.value import (
    Binary,
    Constant,
    Expression,
    Select,
    Unary,
    binary,
    select,
    unary,
)


class CannotReadError(Exception):
    """Why an instruction cannot be read, in words that follow its text."""


class Address(Struct, frozen=True):
    """The address of a location, in a register, or a part of it: 0 is the low one. offset: what was
    added to it."""

    location: str
    part: int = 0
    offset: Expression = Constant(0)


def added(operator: str, left: Any, right: Any) -> Expression | Address:
    """A calculation in which an address may stand, as long as something is added to it.

    With a choice between numbers it is done for each, so that equal ones are seen to be the same.
    """
    if isinstance(left, Address) and not isinstance(right, Address) and operator in "+-":
        return replace(left, offset=binary(operator, left.offset, right))
    if isinstance(right, Address) and not isinstance(left, Address) and operator == "+":
        return replace(right, offset=binary("+", right.offset, left))
    match left, right:
        case Select(condition, then, otherwise), Constant() if _are_numbers(left):
            parts = (added(operator, it, right) for it in (then, otherwise))
            return select(condition, *parts)  # type: ignore[arg-type]
        case Constant(), Select(condition, then, otherwise) if _are_numbers(right):
            parts = (added(operator, left, it) for it in (then, otherwise))
            return select(condition, *parts)  # type: ignore[arg-type]
    return of_numbers(binary)(operator, left, right)


def _are_numbers(it: Expression) -> bool:
    """Whether an expression is a number, or a choice between some."""
    match it:
        case Select(_, then, otherwise):
            return _are_numbers(then) and _are_numbers(otherwise)
        case _:
            return isinstance(it, Constant)


def of_numbers(make: Callable[..., Expression]) -> Callable[..., Expression]:
    def made(*given: Any) -> Expression:
        if any(isinstance(it, Address) for it in given):
            raise CannotReadError("calculates with an address")
        return make(*given)

    return made


def folded(does: Callable[..., Expression]) -> Callable[..., Expression | Address]:
    """A function of numbers, with each choice between some taken apart."""
    function = of_numbers(does)

    def fold(it: Expression) -> Any:
        match it:
            case Unary(operator, argument):
                return unary(operator, fold(argument))
            case Binary(operator, left, right):
                return added(operator, fold(left), fold(right))
            case Select(condition, then, otherwise):
                return select(fold(condition), fold(then), fold(otherwise))
            case _:
                return it

    return lambda *given: fold(function(*given))


WITH_ADDRESSES = Operators(of_numbers(unary), added, of_numbers(select))


def elsewhere(offset: Expression) -> Condition:
    """Where an offset is not 0: never, if it is so by how it is calculated."""
    return False if _vanishes(offset) else condition_of(offset)


def _vanishes(it: Expression) -> bool:
    """Whether a calculation gives 0 whatever is read, as `r ^ r` does."""
    match it:
        case Constant(value):
            return value == 0
        case Binary("^" | "-", left, right) if left == right:
            return True
        case Binary("+" | "-" | "^" | "|", left, right):
            return _vanishes(left) and _vanishes(right)
        case Binary("*" | "&", left, right):
            return _vanishes(left) or _vanishes(right)
        case _:
            return False
