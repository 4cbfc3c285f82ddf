"""A memory model as read from a .cat file: definitions, orders, axioms, and what is undefined."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeAlias, assert_never

from msgspec import Struct

from rspverify.relation.expression import Expression, Name, Sort, Test, Union
from rspverify.source import digest


class _Definitions(Struct, frozen=True):
    definitions: tuple[tuple[str, Expression], ...]

    @property
    def name(self) -> str:
        """The names that it binds."""
        return " and ".join(name for name, _ in self.definitions)


class Let(_Definitions, frozen=True):
    """`let a = e and b = f`: all expressions are evaluated before any of the names is bound."""


class LetRec(_Definitions, frozen=True):
    """`let rec a = e and b = f`: the least sets and relations that satisfy the equations.

    No name that it defines stands under `~` or on the right of `\\`, so that there are such.
    """


class Linearisation(Struct, frozen=True):
    """`with name from generate_orders(events, order)`, or `linearisations` if not per_location.

    Each execution chooses a total order of the events, those of one location at a time or all of
    them, that contains the order given. Of that counts what is between two of these events; where
    it has a cycle among them, there is no execution.
    """

    name: str
    per_location: bool
    events: Expression
    order: Expression


class Axiom(Struct, frozen=True):
    """`acyclic | irreflexive | empty expression as name`, or that it is not so if `negated`.

    flag: whether it is what a `flag` asks for, and not `undefined_unless`.
    """

    name: str
    test: Test
    expression: Expression
    negated: bool = False
    flag: bool = False

    def __str__(self) -> str:
        sign = "~" if self.negated else ""
        return f"{sign}{self.test.value} {self.expression} as {self.name}"


Statement: TypeAlias = Let | LetRec | Linearisation | Axiom


class ModelFile(Struct, frozen=True):
    """A place where a file of a model was looked for: absolute path and text, None if no file."""

    path: str
    text: str | None


@dataclass(frozen=True)
class MemoryModel:
    """A model. statements are in the order of the file, as later definitions may hide earlier ones.

    conditions: what `undefined_unless` and `flag` ask for; a consistent execution that breaks one
    makes the whole program undefined (Fig. 2, Dr). names: the base names that the model mentions,
    and those that they are made of. files: all places that its reading depended on, in order,
    included files where they are included. notes: what in them counts for nothing, or is taken
    from our library.
    """

    name: str
    statements: tuple[Statement, ...]
    axioms: tuple[Axiom, ...]
    conditions: tuple[Axiom, ...]
    names: frozenset[str]
    files: tuple[ModelFile, ...] = field(default=(), compare=False)
    notes: tuple[str, ...] = field(default=(), compare=False)

    @cached_property
    def _definitions(self) -> Mapping[str, Expression]:
        found: dict[str, Expression] = {}
        for statement in self.statements:
            if isinstance(statement, Let | LetRec):
                found |= dict(statement.definitions)
            elif isinstance(statement, Linearisation):
                found.pop(statement.name, None)
        return found

    def definition(self, name: str) -> Expression | None:
        """What a name stands for at the end of the file, None if the model does not define it."""
        return self._definitions.get(name)

    @cached_property
    def _defined_once(self) -> Mapping[str, Expression]:
        lets = [it for it in self.statements if isinstance(it, Let | LetRec)]
        defined = Counter(name for it in lets for name, _ in it.definitions)
        own = (each for it in lets if isinstance(it, Let) for each in it.definitions)
        return {name: means for name, means in own if defined[name] == 1}

    def defined_once(self, name: str) -> Expression | None:
        """What a `let` says that a name stands for; None if there is none, or it is hidden."""
        return self._defined_once.get(name)

    def says(self, test: Test, *parts: str) -> bool:
        """Whether an axiom says in so many words that a union is acyclic, irreflexive or empty.

        parts: of it, in which all names are base names.
        """
        base = frozenset(re.findall(r"[\w-]+", " ".join(parts)))
        if any(self.definition(it) is not None or self.defines(it) for it in base):
            return False
        return any(
            it.test is test and not it.negated and {*parts} <= {*self._parts(it.expression)}
            for it in self.axioms
        )

    def _parts(self, it: Expression) -> Iterator[str]:
        """What a union is of, some of it through names that are defined once."""
        if isinstance(it, Union):
            yield from self._parts(it.left)
            yield from self._parts(it.right)
        elif isinstance(it, Name) and (means := self.defined_once(it.name)) is not None:
            yield from self._parts(means)
        else:
            yield str(it)

    @cached_property
    def relations(self) -> frozenset[str]:
        """The relations that the model gives a meaning of its own."""
        defined = {name for name, it in self._definitions.items() if it.sort is Sort.RELATION}
        return (self._chosen - self._definitions.keys()) | defined

    def defines(self, relation: str) -> bool:
        """Whether the model gives a relation a meaning of its own."""
        return relation in self.relations

    @cached_property
    def _chosen(self) -> frozenset[str]:
        return frozenset(it.name for it in self.statements if isinstance(it, Linearisation))

    @cached_property
    def happens_before(self) -> tuple[str, ...]:
        """The relations whose union is happens-before: hb, or else ghb and lhb."""
        if self.defines("hb"):
            return ("hb",)
        return tuple(name for name in ("ghb", "lhb") if self.defines(name))

    @cached_property
    def coherence(self) -> str | None:
        """The name by which the model speaks of the order of the writes of a location."""
        for name in ("co", "mo"):
            if self.defines(name) or (name in self.names and self.definition(name) is None):
                return name
        return None

    @cached_property
    def text_digest(self) -> str:
        """Changes with any character of its files, which messages quote."""
        texts = (f"{len(it.text)} {it.text}" for it in self.files if it.text is not None)
        return digest("".join(texts))

    @property
    def chooses(self) -> bool:
        """Whether an execution chooses more than rf and mo: `with S from …`."""
        return bool(self._chosen)

    @cached_property
    def meaning_digest(self) -> str:
        """What stands for all that the model says: models with one digest say the same.

        Every definition, choice, axiom and condition counts, with the sorts of its names, and so
        does their order; comments, layout, file names, the model's own name and the line by which
        an axiom without a name is called do not. What base names mean is not the model's.
        """
        lines = [_spelled(each, each in self.conditions) for each in self.statements]
        return digest("\n".join(lines))


def _spelled(statement: Statement, condition: bool) -> str:
    """A statement as .cat spells it, with the sorts of what it defines: other text, other meaning.

    Each name in it is of the sort of its last definition before, or a base name of one sort.
    """
    match statement:
        case Let(definitions):
            return f"let {_equations(definitions)}"
        case LetRec(definitions):
            return f"let rec {_equations(definitions)}"
        case Linearisation(name, per_location, events, order):
            makes = "generate_orders" if per_location else "linearisations"
            return f"with {name} from {makes}({events}, {order})"
        case Axiom(name, test, expression, negated, flag):
            asked = "flag " if flag else "undefined_unless " if condition else ""
            sign = "~" if negated else ""
            what = f"{asked}{sign}{test.value} {expression.sort.value} {expression}"
            return f"{what} as {name.partition('@')[0]}"
        case _:
            assert_never(statement)


def _equations(definitions: Sequence[tuple[str, Expression]]) -> str:
    return " and ".join(f"{name} : {each.sort.value} = {each}" for name, each in definitions)
