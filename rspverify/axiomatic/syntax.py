"""The syntax of .cat files: statements and expressions, before names and sorts.

What herd's language has beyond ours is kept as Refused, so that it can be named.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

from rspverify.source import Source, Span


@dataclass(frozen=True, eq=False)
class _Node:
    """An expression. below: those that it is made of.

    depth: how many operators are on top of each other; a name has none.
    """

    span: Span
    below: tuple[Node, ...] = field(default=(), kw_only=True)
    depth: int = field(init=False)

    def __post_init__(self) -> None:
        depth = 1 + max((each.depth for each in self.below), default=-1)
        object.__setattr__(self, "depth", depth)


@dataclass(frozen=True, eq=False)
class Named(_Node):
    """A name."""

    name: str


@dataclass(frozen=True, eq=False)
class Operator(_Node):
    """An operator, by the name that the grammar gives it; below are its operands."""

    kind: str


@dataclass(frozen=True, eq=False)
class Application(_Node):
    """`f(a, b)` or `f a`; the function and the arguments are below."""

    @property
    def function(self) -> Node:
        """What is applied."""
        return self.below[0]

    @property
    def arguments(self) -> tuple[Node, ...]:
        """What it is applied to."""
        return self.below[1:]


@dataclass(frozen=True, eq=False)
class Local(_Node):
    """`let … in body`; what its bindings and its body stand for is below, the body last."""

    bindings: tuple[Binding, ...]

    @property
    def body(self) -> Node:
        """What the whole denotes."""
        return self.below[-1]


@dataclass(frozen=True, eq=False)
class Refused(_Node):
    """What we do not support. construct: as users are told."""

    construct: str


Node: TypeAlias = Named | Operator | Application | Local | Refused
"""An expression."""


@dataclass(frozen=True, eq=False)
class Binding:
    """`name = body`, or a function where there are parameters."""

    span: Span
    name: str
    parameters: tuple[str, ...] | None
    body: Node


@dataclass(frozen=True, eq=False)
class Definition:
    """`let …` or `let rec …` of some names at once."""

    span: Span
    recursive: bool
    bindings: tuple[Binding, ...]


@dataclass(frozen=True, eq=False)
class Include:
    """`include "name"`."""

    span: Span
    name: str


@dataclass(frozen=True, eq=False)
class Question:
    """`acyclic body as name`, and what stands before it. label: the name and its place, if any."""

    span: Span
    qualifier: str | None
    negated: bool
    test: str
    body: Node
    label: tuple[str, Span] | None


@dataclass(frozen=True, eq=False)
class Chosen:
    """`with name from body`."""

    span: Span
    name: str
    body: Node


@dataclass(frozen=True, eq=False)
class Show:
    """`show …` or `unshow …`."""

    span: Span


@dataclass(frozen=True, eq=False)
class RefusedStatement:
    """A statement that we do not support. names: what it would define."""

    span: Span
    construct: str
    names: tuple[str, ...] = ()


Statement: TypeAlias = Definition | Include | Question | Chosen | Show | RefusedStatement


@dataclass(frozen=True, eq=False)
class CatFile:
    """A file: the words before its first statement, strings with their quotes, and statements."""

    source: Source
    header: tuple[tuple[str, Span], ...]
    statements: tuple[Statement, ...]
