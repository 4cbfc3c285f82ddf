"""Languages: a grammar in a .lark file, and how a text is read by it.

A language costs a grammar, a Builder with a method for each of its rules, and words for what is
said of a text that does not follow it. Lark makes tables of a grammar, which takes a quarter of a
second, so they lie ready made beside it; `python -m rspverify.grammar GRAMMAR.lark…` writes them.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Mapping
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from types import ModuleType
from typing import Any, Generic, TypeVar

import msgspec
from msgspec import Struct

from rspverify.lalr import END, Parse, Place, Rule, Tables, Terminal, Token, Tree
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


# ---- tables --------------------------------------------------------------------------------------


def tables_of(path: Path) -> Tables:
    """The tables of a grammar in a file: those beside it, if they are its own."""
    grammar = path.read_text(encoding="utf-8")
    try:
        origin, _, made = tables_file(path).read_bytes().partition(b"\n")
        if origin == _origin(grammar):
            return msgspec.json.decode(made, type=Tables)
    except (OSError, msgspec.MsgspecError):
        pass  # They are made anew.
    return made_of(grammar)


def tables_file(grammar: Path) -> Path:
    """Where the tables of a grammar are."""
    return grammar.with_suffix(".tables")


def written(grammar: str) -> bytes:
    """The tables of a grammar as they are kept, behind its digest in a line."""
    return b"%s\n%s\n" % (_origin(grammar), msgspec.json.encode(made_of(grammar)))


def _origin(grammar: str) -> bytes:
    """A line that tables must begin with to be used."""
    return sha256(grammar.encode()).hexdigest().encode()


def made_of(grammar: str) -> Tables:
    """The tables of a grammar, as lark has them. Raises ValueError for what ours do not say."""
    from lark import Lark

    built: Any = Lark(grammar, parser="lalr", propagate_positions=True)
    table, numbers = built.parser.parser._parse_table, {it: at for at, it in enumerate(built.rules)}
    order = [table.start_states["start"]]  # Lark numbers states in any order.
    actions: list[dict[str, int]] = []
    for state in order:
        found: dict[str, int] = {}
        for name, (_, to) in sorted(table.states[state].items()):
            if to not in numbers and to not in order:
                order.append(to)
            found[name] = ~numbers[to] if to in numbers else order.index(to)
        actions.append(found)
    return Tables(
        tuple(_terminals(built)),
        tuple(sorted(built.ignore_tokens)),
        tuple(map(_rule, built.rules)),
        tuple(actions),
        order.index(table.end_states["start"]),
    )


def _terminals(built: Any) -> list[Terminal]:
    from lark.lexer import BasicLexer, PatternRE, PatternStr

    lexer = built.parser.lexer.root_lexer
    assert isinstance(lexer, BasicLexer)
    found = []
    for it in lexer.terminals:
        inside: list[str] = []
        if isinstance(it.pattern, PatternStr):
            if it.pattern.flags:
                raise ValueError(f"a word must be spelled in one way, not {it.pattern}")
            others = (each for each in lexer.terminals if isinstance(each.pattern, PatternRE))
            inside = [each.name for each in others if _is_inside(it, each)]
        word = it.pattern.value if isinstance(it.pattern, PatternStr) else None
        found.append(Terminal(it.name, it.pattern.to_regexp(), word, tuple(inside)))
    return found


def _is_inside(word: Any, other: Any) -> bool:
    """Whether a word is one of another terminal's, from which it is told afterwards."""
    found = re.match(other.pattern.to_regexp(), word.pattern.value)
    return word.priority == other.priority and found is not None and found[0] == word.pattern.value


def _rule(rule: Any) -> Rule:
    """What a rule makes of its parts (lark's parse_tree_builder)."""
    options = rule.options
    nones = [0] * (len(rule.expansion) + 1)
    if options.empty_indices:
        empty = "".join(str(int(each)) for each in options.empty_indices)
        nones = [len(each) for each in empty.split("0")]
    parts: list[tuple[int, bool, int]] = []
    before = 0
    for number, part in enumerate(rule.expansion):
        before += nones[number]
        if options.keep_all_tokens or not (part.is_term and part.filter_out):
            inlined = not part.is_term and part.name.startswith("_")
            parts.append((number, inlined, before))
            before = 0
    plain = [(number, False, 0) for number in range(len(rule.expansion))]
    after = before + nones[-1]
    return Rule(
        str(rule.origin.name),
        str(rule.alias or options.template_source or rule.origin.name),
        len(rule.expansion),
        None if parts == plain and not after else tuple(parts),
        after,
        bool(options.expand1 and not rule.alias),
    )


if __name__ == "__main__":
    for path in map(Path, sys.argv[1:]):
        tables_file(path).write_bytes(written(path.read_text(encoding="utf-8")))
