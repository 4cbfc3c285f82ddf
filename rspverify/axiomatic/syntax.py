"""The syntax of .cat files: statements and expressions, before names and sorts.

What herd's language has beyond ours is kept as Refused, so that it can be named.
"""

from __future__ import annotations

from typing import TypeAlias

from msgspec import Struct

from rspverify.source import Source, Span


class _Spanned(Struct, frozen=True, eq=False):
    span: Span


class _Node(_Spanned, frozen=True, kw_only=True):
    """An expression. below: those that it is made of."""

    below: tuple[Node, ...] = ()


class Named(_Node, frozen=True):
    """A name."""

    name: str


class Operator(_Node, frozen=True):
    """An operator, by the name that the grammar gives it; below are its operands."""

    kind: str


class Application(_Node, frozen=True):
    """`f(a, b)` or `f a`; the function and the arguments are below."""

    @property
    def function(self) -> Node:
        """What is applied."""
        return self.below[0]

    @property
    def arguments(self) -> tuple[Node, ...]:
        """What it is applied to."""
        return self.below[1:]


class Local(_Node, frozen=True):
    """`let … in body`; what its bindings and its body stand for is below, the body last."""

    bindings: tuple[Binding, ...]

    @property
    def body(self) -> Node:
        """What the whole denotes."""
        return self.below[-1]


class Refused(_Node, frozen=True):
    """What we do not support. construct: as users are told."""

    construct: str


Node: TypeAlias = Named | Operator | Application | Local | Refused
"""An expression."""


class Binding(_Spanned, frozen=True):
    """`name = body`, or a function where there are parameters."""

    name: str
    parameters: tuple[str, ...] | None
    body: Node


class Definition(_Spanned, frozen=True):
    """`let …` or `let rec …` of some names at once."""

    recursive: bool
    bindings: tuple[Binding, ...]


class Include(_Spanned, frozen=True):
    """`include "name"`."""

    name: str


class Question(_Spanned, frozen=True):
    """`acyclic body as name`, and what stands before it. label: the name and its place, if any."""

    qualifier: str | None
    negated: bool
    test: str
    body: Node
    label: tuple[str, Span] | None


class Chosen(_Spanned, frozen=True):
    """`with name from body`."""

    name: str
    body: Node


class Show(_Spanned, frozen=True):
    """`show …` or `unshow …`."""


class RefusedStatement(_Spanned, frozen=True):
    """A statement that we do not support. names: what it would define."""

    construct: str
    names: tuple[str, ...] = ()


Statement: TypeAlias = Definition | Include | Question | Chosen | Show | RefusedStatement


class CatFile(Struct, frozen=True, eq=False):
    """A file: the words before its first statement, strings with their quotes, and statements."""

    source: Source
    header: tuple[tuple[str, Span], ...]
    statements: tuple[Statement, ...]


def depth(node: Node) -> int:
    """How many operators are on top of each other; a name has none."""
    levels, level = 0, node.below
    while level:
        levels, level = levels + 1, tuple(it for each in level for it in each.below)
    return levels
