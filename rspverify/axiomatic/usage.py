"""Which names a model uses: the base names, and definitions of our library.

What a model does not mention costs nothing: its executions choose no orders that nothing asks for.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import assert_never

from rspverify.axiomatic.model import Axiom, Let, LetRec, Linearisation, Statement
from rspverify.relation.expression import Name, names_in


def without_unused(
    statements: Sequence[Statement], optional: Collection[int]
) -> tuple[Statement, ...]:
    """The statements without definitions of a name by itself, and without what is unused.

    optional: the id of definitions that go where no later statement mentions them.
    """
    kept: list[Statement] = []
    mentioned: set[str] = set()
    for statement in reversed(statements):
        if id(statement) in optional and not mentioned & _names_of(statement)[0]:
            continue
        part = _without_repetitions(statement)
        if part is not None:
            mentioned |= _names_of(part)[1]
            kept.append(part)
    return tuple(reversed(kept))


def base_names(statements: Iterable[Statement]) -> frozenset[str]:
    """The names that are mentioned where no statement before defines them."""
    found: set[str] = set()
    defined: set[str] = set()
    for statement in statements:
        own, mentioned = _names_of(statement)
        found |= mentioned - defined - (own if isinstance(statement, LetRec) else frozenset())
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


def _names_of(statement: Statement) -> tuple[frozenset[str], frozenset[str]]:
    """The names that a statement defines, and those that it mentions."""
    match statement:
        case Let(definitions) | LetRec(definitions):
            defined, expressions = [name for name, _ in definitions], [it for _, it in definitions]
        case Linearisation(name, _, events, order):
            defined, expressions = [name], [events, order]
        case Axiom():
            defined, expressions = [], [statement.expression]
        case _:
            assert_never(statement)
    return frozenset(defined), frozenset().union(*map(names_in, expressions))
