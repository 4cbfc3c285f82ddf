"""Values out of a finite domain: one term per value, of which exactly one holds."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from typing import TypeVar

from rspverify.limits import LimitReached
from rspverify.smt.term import (
    FALSE,
    TRUE,
    Term,
    any_of,
    at_most_one,
    if_then_else,
    variable,
)
from rspverify.value import BINARY, UNARY, Binary, Constant, Expression, Read, Select, Unary, wrap

_MAX_CASES = 4_096
"""Pairs of operand values that one operator may have in a formula."""

V = TypeVar("V", bound=Hashable)
Choice = Mapping[V, Term]
"""Value → term; exactly one term holds. A value that is missing is impossible."""


def constant(value: V) -> Choice[V]:
    """The choice of just one value."""
    return {value: TRUE}


def pick(name: str, values: Iterable[V]) -> tuple[Choice[V], list[Term]]:
    """A free choice among values (in their order), and the constraints that make it exactly one."""
    domain = list(dict.fromkeys(values))
    if len(domain) == 1:
        return constant(domain[0]), []
    if len(domain) == 2:
        bit = variable(f"{name}={domain[0]}")
        return {domain[0]: bit, domain[1]: ~bit}, []
    choice = {value: variable(f"{name}={value}") for value in domain}
    return choice, [any_of(choice.values()), *at_most_one(choice.values())]


def merge(condition: Term, then: Choice[V], otherwise: Choice[V]) -> Choice[V]:
    """`then` where the condition holds, `otherwise` where it does not."""
    if condition is TRUE or then is otherwise:
        return then
    if condition is FALSE:
        return otherwise
    merged = {
        value: if_then_else(condition, then.get(value, FALSE), otherwise.get(value, FALSE))
        for value in dict.fromkeys([*then, *otherwise])
    }
    return {value: term for value, term in merged.items() if term is not FALSE}


def equal(left: Choice[V], right: Choice[V]) -> Term:
    """That both have the same value."""
    return any_of(term & right[value] for value, term in left.items() if value in right)


def choose(expression: Expression, reads: Mapping[int, Choice[int]]) -> Choice[int]:
    """The value of an expression where read i has the value `reads[i]`."""
    match expression:
        case Constant(value):
            return constant(value)
        case Read(index):
            return reads[index]
        case Unary(name, argument):
            apply_one = UNARY[name]
            return _collect(
                (wrap(apply_one(value)), term) for value, term in choose(argument, reads).items()
            )
        case Binary(name, left, right):
            first, second = choose(left, reads), choose(right, reads)
            return _lift(BINARY[name], first, second)
        case Select(condition, then, otherwise):
            holds = truth(condition, reads)
            return merge(holds, choose(then, reads), choose(otherwise, reads))


def truth(condition: Expression, reads: Mapping[int, Choice[int]]) -> Term:
    """That a condition is not 0."""
    return any_of(term for value, term in choose(condition, reads).items() if value)


def _lift(
    function: Callable[[int, int], int], first: Choice[int], second: Choice[int]
) -> Choice[int]:
    if len(first) * len(second) > _MAX_CASES:
        raise LimitReached(f"an expression has more than {_MAX_CASES:,} cases")
    return _collect(
        (wrap(function(a, b)), one & two) for a, one in first.items() for b, two in second.items()
    )


def _collect(cases: Iterable[tuple[int, Term]]) -> Choice[int]:
    terms: dict[int, list[Term]] = {}
    for value, term in cases:
        terms.setdefault(value, []).append(term)
    choice = {value: any_of(alternatives) for value, alternatives in terms.items()}
    return {value: term for value, term in choice.items() if term is not FALSE}
