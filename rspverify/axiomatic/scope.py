"""What the names in a .cat file stand for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from rspverify.axiomatic.syntax import Node
from rspverify.axiomatic.vocabulary import BASE_RELATIONS, FINAL_WRITES, SETS
from rspverify.relation.expression import Expression, Name, Nothing, Sort

ORDERS = {"generate_orders": 2, "generate_cos": 1, "linearisations": 2}
"""What may stand after `with … from`, and how many arguments it has."""


@dataclass(frozen=True)
class Built:
    """An expression, how deep its operators stand on each other, and how large it is."""

    expression: Expression
    depth: int = 0
    size: int = 1


Meaning = Mapping[Sort, Built]
"""What an expression may denote; where nothing asks for a sort, it is the first."""


@dataclass(frozen=True, eq=False)
class Function:
    """A function. scope: what its free names mean."""

    name: str
    parameters: tuple[str, ...]
    body: Node
    scope: Scope


@dataclass(frozen=True)
class Primitive:
    """A name that is only to be applied: `domain`, `range`, and those that come after `from`."""

    name: str


@dataclass(eq=False)
class Cell:
    """What a name stands for; None where a mistake has been reported. captured: by a function."""

    value: Meaning | Function | Primitive | None
    captured: bool = False


@dataclass(frozen=True, eq=False)
class Scope:
    """The names that are known at a place."""

    names: dict[str, Cell] = field(default_factory=dict)
    outer: Scope | None = None

    def cell(self, name: str) -> Cell | None:
        """What a name is bound to, None if it is not."""
        scope: Scope | None = self
        while scope is not None:
            if name in scope.names:
                return scope.names[name]
            scope = scope.outer
        return None

    @property
    def outermost(self) -> Scope:
        """The scope of the whole model, or of a function."""
        return self if self.outer is None else self.outer.outermost

    def known(self) -> Iterator[str]:
        """All names but those of which a mistake has been reported."""
        scope: Scope | None = self
        while scope is not None:
            yield from (name for name, cell in scope.names.items() if cell.value is not None)
            scope = scope.outer


def nothing(first: Sort) -> Meaning:
    """`0` and `{}`, which differ in what they are where nothing asks for a sort."""
    other = Sort.SET if first is Sort.RELATION else Sort.RELATION
    return {sort: Built(Nothing(sort)) for sort in (first, other)}


def base_scope() -> Scope:
    """The names of the vocabulary, and those of the language itself."""
    found: dict[str, Cell] = {}
    for name in (*SETS, FINAL_WRITES):
        found[name] = Cell({Sort.SET: Built(Name(name, Sort.SET))})
    for name in BASE_RELATIONS:
        found[name] = Cell({Sort.RELATION: Built(Name(name, Sort.RELATION))})
    # In models of the older herd `rmw` is the set.
    both = {Sort.RELATION: Name("rmw", Sort.RELATION), Sort.SET: Name("RMW", Sort.SET)}
    found["rmw"] = Cell({sort: Built(each) for sort, each in both.items()})
    for name in ("domain", "range", *ORDERS):
        found[name] = Cell(Primitive(name))
    return Scope(found)
