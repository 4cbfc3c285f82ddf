"""Which names a model uses: the base names, and definitions of our library.

What a model does not mention costs nothing: its executions choose no orders that nothing asks for.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import assert_never

from rspverify.axiomatic.model import Axiom, Let, LetRec, Linearisation, Statement
from rspverify.relation.expression import Expression, Name, names_in


def without_unused(
    statements: Sequence[Statement], optional: Collection[int]
) -> tuple[Statement, ...]:
    """The statements without definitions of a name by itself, and without what is unused.

    optional: the id of definitions that go where no later statement mentions them.
    """
    kept: list[Statement] = []
    mentioned: set[str] = set()
    for statement in reversed(statements):
        if id(statement) in optional and not mentioned & {*_defines(statement)}:
            continue
        part = _without_repetitions(statement)
        if part is not None:
            mentioned |= _mentions(part)
            kept.append(part)
    return tuple(reversed(kept))


def base_names(statements: Iterable[Statement]) -> frozenset[str]:
    """The names that are mentioned where no statement before defines them."""
    found: set[str] = set()
    defined: set[str] = set()
    for statement in statements:
        own = {*_defines(statement)}
        found |= _mentions(statement) - (
            defined | own if isinstance(statement, LetRec) else defined
        )
        defined |= own
    return frozenset(found)


def _without_repetitions(statement: Statement) -> Statement | None:
    """A statement without `x = x`, as c11_cos.cat of herd has it of a base name."""
    if not isinstance(statement, Let):
        return statement
    chosen = [each for each in statement.definitions if each[1] != Name(each[0], each[1].sort)]
    if len(chosen) == len(statement.definitions):
        return statement
    return Let(tuple(chosen)) if chosen else None


def _defines(statement: Statement) -> tuple[str, ...]:
    match statement:
        case Let(definitions) | LetRec(definitions):
            return tuple(name for name, _ in definitions)
        case Linearisation(name):
            return (name,)
        case Axiom():
            return ()
        case _:
            assert_never(statement)


def _mentions(statement: Statement) -> frozenset[str]:
    return frozenset().union(*map(names_in, _expressions(statement)))


def _expressions(statement: Statement) -> list[Expression]:
    match statement:
        case Let(definitions) | LetRec(definitions):
            return [each for _, each in definitions]
        case Linearisation(_, _, events, order):
            return [events, order]
        case Axiom():
            return [statement.expression]
        case _:
            assert_never(statement)
