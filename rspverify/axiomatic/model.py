"""A memory model as read from a .cat file: definitions, consistency axioms, and races."""

from __future__ import annotations

from dataclasses import dataclass, field

from rspverify.relation import Expression, Test


@dataclass(frozen=True)
class Let:
    """`let a = e and b = f`: all expressions are evaluated before any of the names is bound."""

    definitions: tuple[tuple[str, Expression], ...]

    @property
    def name(self) -> str:
        """The names that it binds."""
        return " and ".join(name for name, _ in self.definitions)


@dataclass(frozen=True)
class Axiom:
    """`acyclic | irreflexive | empty expression as name`."""

    name: str
    test: Test
    expression: Expression

    def __str__(self) -> str:
        return f"{self.test.value} {self.expression} as {self.name}"


@dataclass(frozen=True)
class ModelFile:
    """A place where a file of a model was looked for: absolute path and text, None if no file."""

    path: str
    text: str | None


@dataclass(frozen=True)
class MemoryModel:
    """A model. statements are in the order of the file, as later definitions may hide earlier ones.

    conditions: the `undefined_unless` axioms; a consistent execution that breaks one makes the
    whole program undefined (Fig. 2, Dr). names: the base names that the model mentions. files: all
    places that its reading depended on, in order, included files where they are included.
    """

    name: str
    statements: tuple[Let | Axiom, ...]
    axioms: tuple[Axiom, ...]
    conditions: tuple[Axiom, ...]
    names: frozenset[str]
    files: tuple[ModelFile, ...] = field(default=(), compare=False)

    def definition(self, name: str) -> Expression | None:
        """What a name stands for at the end of the file, None if the model does not define it."""
        found = None
        for statement in self.statements:
            if isinstance(statement, Let):
                found = dict(statement.definitions).get(name, found)
        return found
