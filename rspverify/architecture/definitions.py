"""Definitions, and the expressions that they are given."""

from __future__ import annotations

from collections.abc import Sequence
from typing import assert_never

from msgspec import Struct

from rspverify.architecture import syntax
from rspverify.architecture.architecture import Written
from rspverify.architecture.scope import REGISTER, Meaning, Scope
from rspverify.records import replace
from rspverify.wording import guess


class Expanded(Struct, frozen=True):
    """What a use of a definition stands for: its body, and what its parameters are there."""

    conditions: tuple[syntax.Condition, ...]
    effects: tuple[syntax.Effect, ...]
    later: tuple[syntax.Step, ...]
    scope: Scope


def expand(call: syntax.Call, scope: Scope, *, of_effects: bool) -> Expanded | None:
    """The use of a definition, of effects or of conditions; None if it is wrong, and told."""
    name, definitions = call.name.text, scope.layout.definitions
    definition = definitions.get(name)
    arguments = [value_of(each, scope) for each in call.arguments]
    if definition is None or definition.of_effects is not of_effects:
        known = [it for it, its in definitions.items() if its.of_effects is of_effects]
        what, other = ("effects", "conditions") if of_effects else ("conditions", "effects")
        if definition is not None:
            message = f"{name} must stand for {what} here, not for {other}"
        else:
            message = f"{name} must be a definition of {what}"
        scope.error(call.name.span, message, guess(name, known))
        return None
    if name in scope.within:
        circle = " → ".join([*scope.within[scope.within.index(name) :], name])
        scope.error(call.span, f"{name} must not be defined by itself: {circle}")
        return None
    wanted, given = len(definition.parameters), len(arguments)
    if wanted != given:
        parameters = ", ".join(map(str, definition.parameters))
        message = f"{name}({parameters}) must be given {counted(wanted, 'argument')}, not {given}"
        scope.error(call.span, message)
        return None
    names = {it.text: value for it, value in zip(definition.parameters, arguments, strict=True)}
    inner = replace(
        scope.deeper(call.span),
        names=names,
        within=(*scope.within, name),
        used=scope.used or call.span,
    )
    return Expanded(definition.conditions, definition.effects, definition.later, inner)


def value_of(expression: syntax.Expression, scope: Scope) -> Meaning | None:
    """What an expression stands for; None if it is wrong, and told."""
    match expression:
        case syntax.Reference():
            return scope.value(expression)
        case syntax.Flag():
            return expression.value
        case syntax.Sum(span, left, right):
            if (left.text, right.text) == (REGISTER, "n"):
                return Written.SUM if scope.operand(REGISTER, span) else None
            scope.error(span, f"a sum must be r + n, not {span.text}")
            return None
        case syntax.Call(span, name, arguments):
            if name.text == "f" and _is_register(arguments):
                return Written.ANY if scope.operand(REGISTER, span) else None
            scope.error(span, f"what is written must be r, r + n, f(r) or a value, not {span.text}")
            return None
        case _:
            assert_never(expression)


def counted(number: int, noun: str) -> str:
    """`1 argument`, `2 arguments`."""
    return f"{number} {noun}{'s' * (number != 1)}"


def _is_register(arguments: Sequence[syntax.Expression]) -> bool:
    match arguments:
        case [syntax.Reference(_, [word], None)]:
            return word.text == REGISTER
        case _:
            return False
