"""Languages: a grammar in a .lark file, and how a text is read by it.

A language costs a grammar, a Builder with a method for each of its rules, and words for what is
said of a text that does not follow it. Building the tables of a grammar takes lark a quarter of a
second, so they lie ready made beside it; `python -m rspverify.grammar GRAMMAR.lark…` writes them.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping
from functools import cached_property, partial
from hashlib import sha256
from pathlib import Path
from typing import Any, Generic, TypeVar

import lark
from lark import Lark, Token, Tree
from lark.exceptions import UnexpectedCharacters, UnexpectedInput, UnexpectedToken
from lark.grammar import Rule
from lark.lexer import BasicLexer, PatternStr, TerminalDef
from lark.parse_tree_builder import ExpandSingleChild, PropagatePositions
from lark.parsers.lalr_analysis import Action, IntParseTable, Reduce, Shift
from lark.parsers.lalr_interactive_parser import InteractiveParser
from lark.parsers.lalr_parser import LALR_Parser, _Parser
from lark.tree import Meta
from msgspec import Struct

from rspverify.lexer import PlaceAwareLexer, words_of
from rspverify.source import Source, Span

END = "$END"
"""The terminal that stands for the end of a text."""

_UNBOUNDED = 2**32

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
        try:
            content = json.loads(tables_file(self._path).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            content = {}
        if content.get("made of") != _origin(grammar):
            content = json.loads(tables(grammar))
        return _load(content)

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
    """What the rules of a grammar become, the innermost first, so that depth needs no recursion.

    A method of a rule's name is given its place and its parts, one of a terminal's name the token.
    """

    def __init__(self, source: Source) -> None:
        self._source = source

    def _other(self, rule: str, place: Meta, parts: Children) -> Any:
        """What a rule becomes that has no method."""
        raise NotImplementedError(f"{type(self).__name__} has no method for the rule {rule}")

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


# ---- texts ---------------------------------------------------------------------------------------


def blanked(text: str) -> str:
    """Blanks in place of a part of a text, so that every position after it stays what it was."""
    return "".join(each if each == "\n" else " " for each in text)


def sign_at(source: Source, offset: int) -> Span:
    """The place of a sign of two characters."""
    line = source.text.count("\n", 0, offset) + 1
    column = offset - source.text.rfind("\n", 0, offset)
    return Span(source, line, column, line, column + 2)


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


def tables(grammar: str) -> str:
    """The tables of a grammar as JSON, the same for the same grammar and lark.

    Of a state: the states to go to by symbol, and by rule the terminals at which to reduce by it.
    """
    made = Lark(grammar, parser="lalr", propagate_positions=True)
    data, memo = made.memo_serialize([TerminalDef, Rule])
    for each in memo.values():
        if "_width" in each.get("pattern", {}):  # How "unbounded" is written depends on Python.
            each["pattern"]["_width"] = [min(it, _UNBOUNDED) for it in each["pattern"]["_width"]]
    table = data["parser"].pop("parser")
    symbols = table["tokens"]
    ordered = list(table["start_states"].values())
    rows: dict[int, list[Any]] = {}
    for state in ordered:  # It grows by the states that are gone to from those before.
        if state in rows:
            continue
        rows[state] = [{}, {}]
        actions = {symbols[symbol]: action for symbol, action in table["states"][state].items()}
        for symbol, (reduces, target) in sorted(actions.items()):
            if reduces:
                rows[state][1].setdefault(target["@"], []).append(symbol)
            else:
                rows[state][0][symbol] = target
                ordered.append(target)
    number = {state: index for index, state in enumerate(rows)}
    content = {
        "made of": _origin(grammar),
        "parser": data,
        "words": words_of(BasicLexer(made.parser.lexer_conf)),
        "memo": [memo[index] for index in range(len(memo))],
        "start": {name: number[state] for name, state in table["start_states"].items()},
        "end": {name: number[state] for name, state in table["end_states"].items()},
        "states": [
            [{symbol: number[target] for symbol, target in shifts.items()}, reductions]
            for shifts, reductions in rows.values()
        ],
    }
    return json.dumps(content, separators=(",", ":")) + "\n"


def _load(content: Mapping[str, Any]) -> Lark:
    """The parser that tables describe."""
    parser = content["parser"]
    plugins = {
        "ContextualLexer": partial(PlaceAwareLexer, words=content["words"]),
        "LALR_Parser": _TabledParser,
    }
    data = parser | {
        "parser": parser["parser"] | {"parser": content},
        "options": parser["options"] | {"_plugins": plugins},
    }
    loaded: Lark = Lark.load({"data": data, "memo": dict(enumerate(content["memo"]))})
    for rule, build in loaded._callbacks.items():
        if isinstance(build, PropagatePositions) and isinstance(
            build.node_builder, ExpandSingleChild
        ):
            loaded._callbacks[rule] = _passing(build)
    return loaded


class _TabledParser(LALR_Parser):
    """Lark's parser, by tables as `tables` writes them: one step for all terminals of a rule."""

    @classmethod
    def deserialize(  # type: ignore[override]
        cls, data: Mapping[str, Any], memo: Mapping[int, Any], callbacks: Any, debug: bool = False
    ) -> LALR_Parser:
        states: dict[int, dict[str, tuple[Action, Any]]] = {}
        for state, (shifts, reductions) in enumerate(data["states"]):
            states[state] = {symbol: (Shift, target) for symbol, target in shifts.items()}
            for rule, symbols in reductions.items():
                states[state] |= dict.fromkeys(symbols, (Reduce, memo[int(rule)]))
        made = cls.__new__(cls)
        table: Any = IntParseTable(states, data["start"], data["end"])  # type: ignore[no-untyped-call]
        made._parse_table, made.parser = table, _Parser(table, callbacks, debug)
        return made


def _passing(build: Callable[[Children], Any]) -> Callable[[Children], Any]:
    """A part that is alone is what the rule becomes; it has its place, so nothing is to be done.

    Operators of many precedences make that the most frequent step of all.
    """
    return lambda parts: parts[0] if len(parts) == 1 else build(parts)


def _origin(grammar: str) -> list[str]:
    """What tables must be of to be used: the version of lark, and the grammar."""
    return [lark.__version__, sha256(grammar.encode()).hexdigest()]


def tables_file(grammar: Path) -> Path:
    """Where the tables of a grammar are."""
    return grammar.with_suffix(".tables.json")


if __name__ == "__main__":
    for path in map(Path, sys.argv[1:]):
        made = tables(path.read_text(encoding="utf-8"))
        tables_file(path).write_text(made, encoding="utf-8")
