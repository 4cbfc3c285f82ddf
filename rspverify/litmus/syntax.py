"""From text to syntax tree, and what is said where the text does not follow the grammar."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from importlib.resources import files

from lark import Lark, Token, Tree, UnexpectedCharacters, UnexpectedInput, UnexpectedToken
from lark.lexer import PatternStr
from lark.parsers.lalr_interactive_parser import InteractiveParser
from lark.tree import Meta

from rspverify.litmus.build import TreeBuilder
from rspverify.litmus.comments import without_comments
from rspverify.litmus.expected import describe
from rspverify.litmus.problems import Problems, listed, quote
from rspverify.litmus.tree import Test
from rspverify.source import Source, Span

MAX_DEPTH = 100
"""How deep brackets, operators and statements may be nested, counted in levels of the tree."""

_LAST_WORD = re.compile(r"(\w+|\+\+|--|&&|\|\||[<>=!]=|<<|>>|/\\|\\/|\S)$")


@cache
def _parser() -> Lark:
    grammar = (files("rspverify.litmus") / "grammar.lark").read_text(encoding="utf-8")
    return Lark(grammar, parser="lalr", propagate_positions=True, maybe_placeholders=True)


def warm_up() -> None:
    """Build the grammar's tables, a tenth of a second, so that processes forked later have them."""
    _parser()


@cache
def _spelling() -> Mapping[str, str]:
    terminals = _parser().terminals
    return {each.name: each.pattern.value for each in terminals if type(each.pattern) is PatternStr}


def parse(source: Source, problems: Problems) -> Test | None:
    """The syntax tree of a test, or None where there is none.

    A semicolon that is missing at the end of a line is noted and assumed; any other syntax error
    ends the reading.
    """
    text = without_comments(source, problems)
    if text is None:
        return None

    def assume_semicolon(error: UnexpectedInput) -> bool:
        if problems.full or not isinstance(error, UnexpectedToken) or not _lacks_semicolon(error):
            return False
        _report(error, source, problems)
        parser = error.interactive_parser
        parser.feed_token(Token.new_borrow_pos("SEMICOLON", ";", error.token))
        parser.feed_token(error.token)
        return True

    try:
        tree = _parser().parse(text, on_error=assume_semicolon)
    except UnexpectedInput as error:
        _report(error, source, problems)
        return None
    deep = _too_deep(tree)
    if deep is not None:
        start = Span(source, deep.meta.line, deep.meta.column, deep.meta.line, deep.meta.column + 1)
        message = f"operators, brackets and statements must be nested at most {MAX_DEPTH} deep"
        problems.error(start, message)
        return None
    return TreeBuilder(source).transform(tree)


def _too_deep(tree: Tree[Token]) -> Tree[Token] | None:
    """The first node in the text that is nested too deep, if there is one."""
    waiting = [(tree, 1)]
    while waiting:
        node, depth = waiting.pop()
        if depth > MAX_DEPTH:
            return node
        below = [(each, depth + 1) for each in node.children if isinstance(each, Tree)]
        waiting += reversed(below)
    return None


# ---- syntax errors -------------------------------------------------------------------------------


def _lacks_semicolon(error: UnexpectedToken) -> bool:
    """Whether a semicolon could stand at the end of the line or block where the text broke off."""
    previous, token, accepted = _previous(error), error.token, error.accepts or set()
    if previous is None or token.type == "$END" or "SEMICOLON" not in accepted:
        return False
    if accepted & {"WHILE", "LSQB"}:  # An empty statement or entry, which nobody has left out.
        return False
    return token.type == "RBRACE" or (token.line or 0) > (previous.end_line or 0)


def _report(error: UnexpectedInput, source: Source, problems: Problems) -> None:
    """Say what must follow the text that was understood, and what follows instead."""
    previous = _previous(error)
    after = _end(previous, source) if previous is not None else Span(source, 1, 1, 1, 2)
    if not isinstance(error, UnexpectedToken):
        assert isinstance(error, UnexpectedCharacters)
        found = quote(error.char)
        span = Span(source, error.line, error.column, error.line, error.column + 1)
    elif error.token.type == "$END":
        found, span = "the end of the file", after
    else:
        found = quote(error.token)
        span = after if _lacks_semicolon(error) else _span(error.token, source)
    expected = _expected(error)
    if "HEADER" in expected:
        found = quote(source.line(span.line)) if source.text.strip() else "an empty file"
        problems.error(span, f"the first line must be `OpenCL name` or `C name`, not {found}")
        return
    hint = _hint(expected, span, problems)
    choice = listed(describe(expected, _spelling()))
    word = _last_word(after)
    what = f"what follows {quote(word)}" if word else "what stands here"
    problems.error(span, f"{what} must be {choice}, not {found}", hint)


def _hint(expected: set[str], span: Span, problems: Problems) -> str | None:
    """What is often the cause, judged by the line that has the error."""
    line = span.source.line(span.line)
    before, here = line[: span.column - 1], line[span.column - 1 :]
    words = re.findall(r"\w+", before)
    if here.startswith("(*"):
        return "a comment of several lines must begin with `(*` and a blank"
    if re.match(r"\s*P[0-9]+\s*(\(\s*\)?)?\s*$", before) and expected & {"BANG", "SEMICOLON"}:
        return "is a `}` missing at the end of the thread above?"
    if here.startswith("=") and "SEMICOLON" in expected:
        return "is a `;` missing at the end of the line above?"
    if words and "TYPE" in expected and "BANG" not in expected:
        return problems.suggestion(words[0], ("scopeTree", "exists", "forall", "locations"))
    return None


def _expected(error: UnexpectedInput) -> set[str]:
    """The terminals that can stand where the error is."""
    parser: InteractiveParser | None = getattr(error, "interactive_parser", None)
    if parser is not None:
        accepted: set[str] = parser.accepts()  # type: ignore[no-untyped-call]
        return accepted
    return set(error.expected) if isinstance(error, UnexpectedToken) else set()


def _previous(error: UnexpectedInput) -> Meta | Token | None:
    """The last part of the text that was understood."""
    parser: InteractiveParser | None = getattr(error, "interactive_parser", None)
    stack = parser.parser_state.value_stack if parser is not None else []
    last = stack[-1] if stack else None
    place = last.meta if isinstance(last, Tree) else last
    return place if getattr(place, "end_line", None) is not None else None


def _last_word(after: Span) -> str | None:
    """The word that ends just before a place, on its line."""
    before = after.source.line(after.line)[: after.column - 1]
    match = _LAST_WORD.search(before[-200:])
    return match[0] if match else None


def _end(place: Meta | Token, source: Source) -> Span:
    """The place just after a part of the text."""
    line, column = place.end_line or 1, place.end_column or 1
    return Span(source, line, column, line, column + 1)


def _span(place: Meta | Token, source: Source) -> Span:
    line, column = place.line or 1, place.column or 1
    return Span(source, line, column, place.end_line or line, place.end_column or column + 1)
