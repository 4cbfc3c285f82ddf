"""From the text of a .machine file to its syntax, by the grammar in machine.lark."""

from __future__ import annotations

from typing import Any

from lark import Token
from lark.tree import Meta

from rspverify.architecture import syntax
from rspverify.architecture.catalogue import MAX_CHARACTERS
from rspverify.architecture.mistakes import LANGUAGE, items, problem_of
from rspverify.grammar import Builder, Mistake
from rspverify.source import Source, require

MAX_ITEMS = 1_000
"""How many items a file has: the paper's has thirty-five."""


def parse(source: Source) -> syntax.MachineFile:
    """The syntax of a file, with what is wrong of it: the items that are right are there.

    Raises InputError where a file is too long, or has too many items.
    """
    _require(source, len(source.text), MAX_CHARACTERS, "characters")
    tree = LANGUAGE.parse(source, source.text)
    if isinstance(tree, Mistake):
        return _item_by_item(source)
    file = _MachineBuilder(source).build(tree)
    _require(source, len(file.items), MAX_ITEMS, "items")
    return file


def _item_by_item(source: Source) -> syntax.MachineFile:
    found: list[syntax.Item] = []
    broken: list[syntax.Broken] = []
    every = [*items(source.text)]
    _require(source, len(every), MAX_ITEMS, "items")
    for each in every:
        tree = LANGUAGE.parse(source, each.alone(source.text))
        if isinstance(tree, Mistake):
            problem = problem_of(source, each, tree)
            broken.append(syntax.Broken(each.word, each.name(source.text), problem))
        else:
            found += _MachineBuilder(source).build(tree).items
    return syntax.MachineFile(source, (*found,), (*broken,))


def _require(source: Source, number: int, most: int, what: str) -> None:
    message = f"{source.name}: a machine must have at most {most:,} {what}, not {number:,}"
    require(number <= most, message)


class _MachineBuilder(Builder[syntax.MachineFile]):
    """Turns the parse tree of one source into its syntax; methods are those of rules whose parts
    are not the fields of their nodes."""

    nodes = syntax

    def NAME(self, token: Token) -> syntax.Word:  # noqa: N802
        return syntax.Word(self._span(token), str(token))

    def STRING(self, token: Token) -> str:  # noqa: N802
        return str(token)[1:-1]

    def FLAG(self, token: Token) -> bool:  # noqa: N802
        return str(token) == "true"

    def _yes(self, _: Token) -> bool:
        return True

    def _no(self, _: Token) -> bool:
        return False

    ANY = OTHER = OWN = NOT = TAKE = ADD = REMOVE = _yes
    FREE = ENQUEUE = DEQUEUE = _no

    def start(self, meta: Meta, *items: syntax.Item) -> syntax.MachineFile:
        return syntax.MachineFile(self._source, items)

    def index(self, meta: Meta, name: syntax.Word) -> syntax.Word:
        return syntax.Word(self._span(meta), name.text)

    def instruction(self, meta: Meta, names: Any, *parts: Any) -> syntax.Instruction:
        name, *others = names
        return syntax.Instruction(self._span(meta), name, tuple(others), *parts)

    def nowhere(self, meta: Meta) -> None:
        return None

    def include(self, meta: Meta, name: syntax.Word | str) -> syntax.Include:
        return syntax.Include(self._span(meta), str(name), isinstance(name, syntax.Word))

    def spelling(self, meta: Meta, *names: syntax.Word) -> syntax.Word:
        return syntax.Word(self._span(meta), ".".join(map(str, names)))

    def quoted(self, meta: Meta, text: str) -> syntax.Word:
        return syntax.Word(self._span(meta), " ".join(text.split()))

    def places_outside(
        self, meta: Meta, other: bool | None, kind: Any, variable: Any, outside: Any
    ) -> syntax.PlacesNamed:
        return syntax.PlacesNamed(self._span(meta), other, kind, variable, None, outside)

    def literal(self, meta: Meta, *parts: Any) -> syntax.Literal:
        *negated, what = parts
        return syntax.Literal(self._span(meta), negated in ([], [None]), what)
