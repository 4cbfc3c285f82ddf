"""Languages: a grammar in a .lark file, and how a text is read by it.

A language costs a grammar, a Builder with a method for each of its rules, and words for what is
said of a text that does not follow it. Lark makes tables of a grammar, which takes a quarter of a
second, so they lie ready made beside it; `python -m rspverify.grammar GRAMMAR.lark…` writes them.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from functools import cached_property
from pathlib import Path
from types import ModuleType
from typing import Any, Generic, TypeVar

from msgspec import Struct

from rspverify.grammar_tables import tables_file, tables_of, written
from rspverify.lalr import END, Parse, Place, Tables, Token, Tree
from rspverify.source import Source, Span

Made = TypeVar("Made")


class Mistake(Struct, frozen=True):
    """The first place where a text does not follow its grammar.

    found: the text there, which is a terminal of that name, if it is one; offset: where it begins;
    after: the place just behind what was understood, if there is any; expected: the terminals that
    could stand here.
    """

    span: Span
    offset: int
    found: str
    terminal: str | None
    after: Span | None
    expected: frozenset[str]


class Language:
    """A grammar in a file, and its parser, which is made when the first text is parsed."""

    def __init__(self, path: Path) -> None:
        self._path = path

    @cached_property
    def tables(self) -> Tables:
        """By which texts are parsed."""
        return tables_of(self._path)

    @property
    def spelling(self) -> Mapping[str, str]:
        """The terminals that are spelled in one way."""
        return self.tables.spelling

    def parse(
        self, source: Source, text: str, missing: Callable[[Mistake], str | None] = lambda _: None
    ) -> Tree | Mistake:
        """The tree of a text, in which positions are those of the source; or the first mistake.

        missing: what to read before the mistake, so that the text goes on as if it stood there: a
        terminal that is spelled in one way. It must be one of those that are expected.
        """
        parse = Parse(self.tables, text)
        while (tree := parse.run()) is None:
            mistake = _mistake(parse, source, text)
            terminal = missing(mistake)
            token = parse.token
            if terminal is None or token is None:
                return mistake
            for each in (Token(terminal, self.spelling[terminal], token.meta), token):
                if not parse.feed(each):  # What was assumed to be missing does not help.
                    return _word(each, source, None, parse.possible)
        return tree


Children = list[Any]
"""What a rule's parts have become: tokens, and None for optional parts that are left out."""


class Builder(Generic[Made]):
    """Makes nodes of the rules of a grammar, the innermost first, so that depth needs no recursion.

    A method of a rule's name is given its place and its parts, one of a terminal's name the token.
    A rule without a method makes the class of its name in `nodes`, `for_loop` a ForLoop, of its
    span and its parts, which are the fields in order; a rule without either makes a tuple.
    """

    nodes: ModuleType

    def __init__(self, source: Source) -> None:
        self._source = source

    def _other(self, rule: str, place: Place | None, parts: Children) -> Any:
        """The node of a rule that has no method."""
        made = getattr(self.nodes, "".join(map(str.capitalize, rule.split("_"))), None)
        if made is None:
            return tuple(parts)
        words = (str(each) if isinstance(each, Token) else each for each in parts)
        return made(self._span(place), *words)

    def build(self, tree: Tree) -> Made:
        """What a tree becomes."""
        waiting: list[Any] = [tree]
        backwards = []
        while waiting:
            node = waiting.pop()
            backwards.append(node)
            if isinstance(node, Tree):
                waiting += node.children
        made: list[Any] = []
        for node in reversed(backwards):
            if isinstance(node, Tree):
                first = len(made) - len(node.children)
                made[first:] = [self._rule(node.data, node.meta, made[first:])]
            elif isinstance(node, Token):
                become = getattr(self, node.type, None)
                made.append(node if become is None else become(node))
            else:
                made.append(node)
        found: Made = made[0]
        return found

    def _rule(self, name: str, place: Place | None, parts: Children) -> Any:
        become = getattr(self, name, None)
        return self._other(name, place, parts) if become is None else become(place, *parts)

    def _span(self, place: Place | Token | None) -> Span:
        return _span(place.meta if isinstance(place, Token) else place, self._source)


# ---- mistakes ------------------------------------------------------------------------------------


def _mistake(parse: Parse, source: Source, text: str) -> Mistake:
    last = next(reversed(parse.values), None)
    after = None
    if last is not None and (place := last.meta) is not None:
        line, column = place.end_line, place.end_column
        after = Span(source, line, column, line, column + 1)
    if parse.token is not None:
        return _word(parse.token, source, after, parse.expected)
    place = parse.place
    return Mistake(
        _span(place, source), place.offset, text[place.offset], None, after, parse.expected
    )


def _word(token: Token, source: Source, after: Span | None, expected: frozenset[str]) -> Mistake:
    """The mistake that a word cannot stand where it is."""
    if token.type == END:
        span = after or Span(source, 1, 1, 1, 2)
        return Mistake(span, len(source.text), "", END, after, expected)
    return Mistake(
        _span(token.meta, source), token.meta.offset, str(token), token.type, after, expected
    )


def _span(place: Place | None, source: Source) -> Span:
    if place is None:
        return Span(source, 1, 1, 1, 1)
    return Span(source, place.line, place.column, place.end_line, place.end_column)


if __name__ == "__main__":
    for path in map(Path, sys.argv[1:]):
        tables_file(path).write_bytes(written(path.read_text(encoding="utf-8")))
