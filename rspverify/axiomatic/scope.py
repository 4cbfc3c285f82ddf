"""What the names in a .cat file stand for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TypeAlias

import msgspec
from msgspec import Struct

from rspverify.axiomatic.syntax import Node
from rspverify.axiomatic.vocabulary import BASE_RELATIONS, FINAL_WRITES, SETS
from rspverify.relation.expression import Expression, Name, Nothing, Sort

ORDERS = {"generate_orders": 2, "generate_cos": 1, "linearisations": 2}
"""What may stand after `with … from`, and how many arguments it has."""


class Built(Struct, frozen=True):
    """An expression, how deep its operators stand on each other, and how large it is."""

    expression: Expression
    depth: int = 0
    size: int = 1


Meaning = Mapping[Sort, Built]
"""What an expression may denote; where nothing asks for a sort, it is the first."""


class Function(Struct, frozen=True, eq=False):
    """A function. scope: what its free names mean."""

    name: str
    parameters: tuple[str, ...]
    body: Node
    scope: Scope


class Primitive(Struct, frozen=True):
    """A name that is only to be applied: `domain`, `range`, and those that come after `from`."""

    name: str


Denoted: TypeAlias = Meaning | Function | Primitive | None
"""What a name or an expression stands for; None where a mistake has been reported."""


@dataclass(eq=False)
class Cell:
    """What a name stands for. captured: by a function."""

    value: Denoted
    captured: bool = False


class Scope(Struct, frozen=True, eq=False):
    """The names that are known at a place."""

    names: dict[str, Cell] = msgspec.field(default_factory=dict)
    outer: Scope | None = None

    def outwards(self) -> Iterator[Scope]:
        """This scope and those around it; the last is of the whole model, or of a function."""
        scope: Scope | None = self
        while scope is not None:
            yield scope
            scope = scope.outer

    def cell(self, name: str) -> Cell | None:
        """What a name is bound to, None if it is not."""
        return next((it.names[name] for it in self.outwards() if name in it.names), None)

    def known(self) -> set[str]:
        """All names but those of which a mistake has been reported."""
        scopes = self.outwards()
        return {name for it in scopes for name, cell in it.names.items() if cell.value is not None}


def nothing(first: Sort) -> Meaning:
    """`0` and `{}`, which differ in what they are where nothing asks for a sort."""
    other = Sort.SET if first is Sort.RELATION else Sort.RELATION
    return {sort: Built(Nothing(sort)) for sort in (first, other)}


def base_scope() -> Scope:
    """The names of the vocabulary, and those of the language itself."""
    meanings: dict[str, Meaning] = {
        **{name: {Sort.SET: Built(Name(name, Sort.SET))} for name in (*SETS, FINAL_WRITES)},
        **{name: {Sort.RELATION: Built(Name(name, Sort.RELATION))} for name in BASE_RELATIONS},
    }
    # In models of the older herd `rmw` is the set.
    meanings["rmw"] = {**meanings["rmw"], **meanings["RMW"]}
    primitives = {name: Cell(Primitive(name)) for name in ("domain", "range", *ORDERS)}
    return Scope({name: Cell(it) for name, it in meanings.items()} | primitives)
