"""Languages: a grammar in a .lark file, and how a text is read by it.

A language costs a grammar, a Builder with a method for each of its rules, and words for what is
said of a text that does not follow it. Building the tables of a grammar takes lark a quarter of a
second, so they lie ready made beside it; `python -m rspverify.grammar GRAMMAR.lark…` writes them.
"""

from __future__ import annotations

import pickle
import sys
from collections.abc import Callable, Mapping
from functools import cached_property
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from types import ModuleType
from typing import Any, Generic, TypeVar

import lark
from lark import Lark, Token, Tree
from lark.exceptions import UnexpectedCharacters, UnexpectedInput, UnexpectedToken
from lark.lexer import PatternStr
from lark.parsers.lalr_interactive_parser import InteractiveParser
from lark.tree import Meta
from msgspec import Struct

from rspverify.lexer import PlaceAwareLexer
from rspverify.source import Source, Span

END = "$END"
"""The terminal that stands for the end of a text."""

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
    def parser(self) -> Lark:
        """The parser: by its tables where they are those of this grammar and this lark."""
        grammar = self._path.read_text(encoding="utf-8")
        origin = _origin(grammar)
        try:
            made = tables_file(self._path).read_bytes()
            if made.startswith(origin):
                return _load(made[len(origin) :])
        except (OSError, EOFError, pickle.UnpicklingError):
            pass  # They are made anew.
        return _load(tables(grammar)[len(origin) :])

    @cached_property
    def spelling(self) -> Mapping[str, str]:
        """The terminals that are spelled in one way."""
        terminals = self.parser.terminals
        return {it.name: it.pattern.value for it in terminals if isinstance(it.pattern, PatternStr)}

    def parse(
        self, source: Source, text: str, missing: Callable[[Mistake], str | None] = lambda _: None
    ) -> Tree[Token] | Mistake:
        """The tree of a text, in which positions are those of the source; or the first mistake.

        missing: what to read before the mistake, so that the text goes on as if it stood there: a
        terminal that is spelled in one way. It must be one of those that are expected.
        """

        def go_on(error: UnexpectedInput) -> bool:
            terminal = missing(_mistake(error, source))
            if terminal is None or not isinstance(error, UnexpectedToken):
                return False
            token = Token.new_borrow_pos(terminal, self.spelling[terminal], error.token)
            error.interactive_parser.feed_token(token)
            error.interactive_parser.feed_token(error.token)
            return True

        try:
            return self.parser.parse(text, on_error=go_on)
        except UnexpectedInput as error:
            return _mistake(error, source)


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

    def _other(self, rule: str, place: Meta, parts: Children) -> Any:
        """The node of a rule that has no method."""
        made = getattr(self.nodes, "".join(map(str.capitalize, rule.split("_"))), None)
        if made is None:
            return tuple(parts)
        words = (str(each) if isinstance(each, Token) else each for each in parts)
        return made(self._span(place), *words)

    def build(self, tree: Tree[Token]) -> Made:
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
                made[first:] = [self._rule(str(node.data), node.meta, made[first:])]
            elif isinstance(node, Token):
                become = getattr(self, node.type, None)
                made.append(node if become is None else become(node))
            else:
                made.append(node)
        found: Made = made[0]
        return found

    def _rule(self, name: str, place: Meta, parts: Children) -> Any:
        become = getattr(self, name, None)
        return self._other(name, place, parts) if become is None else become(place, *parts)

    def _span(self, place: Meta | Token) -> Span:
        return _span(place, self._source)


# ---- mistakes ------------------------------------------------------------------------------------


def _mistake(error: UnexpectedInput, source: Source) -> Mistake:
    after, expected = _context(error, source)
    if isinstance(error, UnexpectedCharacters):
        span = Span(source, error.line, error.column, error.line, error.column + 1)
        return Mistake(span, error.pos_in_stream or 0, error.char, None, after, expected)
    assert isinstance(error, UnexpectedToken)
    token = error.token
    if token.type == END:
        span = after or Span(source, 1, 1, 1, 2)
        return Mistake(span, len(source.text), "", END, after, expected)
    span = _span(token, source)
    return Mistake(span, token.start_pos or 0, str(token), token.type, after, expected)


def _context(error: UnexpectedInput, source: Source) -> tuple[Span | None, frozenset[str]]:
    """The place behind what was understood, and the terminals that could follow."""
    parser: InteractiveParser | None = getattr(error, "interactive_parser", None)
    if parser is None:  # What was assumed to be missing does not help.
        return None, frozenset(getattr(error, "expected", ()))
    last = next(reversed(parser.parser_state.value_stack), None)
    place = last.meta if isinstance(last, Tree) else last
    expected = frozenset(parser.accepts())  # type: ignore[no-untyped-call]
    line, column = getattr(place, "end_line", None), getattr(place, "end_column", None)
    after = Span(source, line, column, line, column + 1) if line and column else None
    return after, expected


def _span(place: Meta | Token, source: Source) -> Span:
    line, column = place.line or 1, place.column or 1
    return Span(source, line, column, place.end_line or line, place.end_column or column)


# ---- tables --------------------------------------------------------------------------------------


def tables(grammar: str) -> bytes:
    """The parser of a grammar as lark saves it, behind the version of lark and the grammar's digest
    in a line."""
    saved = BytesIO()
    Lark(grammar, parser="lalr", propagate_positions=True).save(saved)
    return _origin(grammar) + saved.getvalue()


def _load(saved: bytes) -> Lark:
    """The parser that was saved, with a lexer that starts sooner than lark's own."""
    content = pickle.loads(saved)
    content["data"]["options"]["_plugins"] = {"ContextualLexer": PlaceAwareLexer}
    return Lark.load(content)


def _origin(grammar: str) -> bytes:
    """A line that tables must begin with to be used."""
    return f"{lark.__version__} {sha256(grammar.encode()).hexdigest()}\n".encode()


def tables_file(grammar: Path) -> Path:
    """Where the tables of a grammar are."""
    return grammar.with_suffix(".tables")


if __name__ == "__main__":
    for path in map(Path, sys.argv[1:]):
        made = tables(path.read_text(encoding="utf-8"))
        tables_file(path).write_bytes(made)
