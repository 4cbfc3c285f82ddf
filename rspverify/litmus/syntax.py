"""From text to syntax tree, and what is said where the text does not follow the grammar."""

from __future__ import annotations

import re
from pathlib import Path

from lark import Token, Tree

from rspverify.grammar import END, Language, Mistake
from rspverify.litmus.build import TreeBuilder
from rspverify.litmus.expected import describe
from rspverify.litmus.problems import Problems, listed, quote
from rspverify.litmus.recovery import braces_fit, without_mistake
from rspverify.litmus.tree import Test
from rspverify.source import Source, Span

MAX_DEPTH = 100
"""How deep brackets, operators and statements may be nested, counted in levels of the tree."""

LANGUAGE = Language(Path(__file__).with_name("grammar.lark"))
"""Herd's languages for OpenCL and C11."""

_MOST_READ = 500_000
"""How many characters are read at the most to find further mistakes, all times together."""

_LAST_WORD = r"(\w+|\+\+|--|&&|\|\||[<>=!]=|<<|>>|/\\|\\/|\S)$"


def warm_up() -> None:
    """Load the grammar's tables, so that processes forked later have them."""
    _ = LANGUAGE.parser


def parse(source: Source, text: str, problems: Problems) -> Test | None:
    """The syntax tree of a test, or None where there is none, with every mistake that is certain.

    text: that of the source without its comments.

    A semicolon that is missing at the end of a line is noted and assumed. After another mistake
    the text is read again without the part that has it, as long as that leads to no mistake that
    is only a consequence (recovery.py), and has no tree.
    """
    left = _MOST_READ
    again: str | None = text

    def missing(mistake: Mistake) -> str | None:
        certain = _lacks_semicolon(mistake) and not problems.full and braces_fit(again or "")
        if not certain:
            return None
        _report(mistake, source, problems)
        return "SEMICOLON"

    read_again = False
    while again is not None:
        tree = LANGUAGE.parse(source, again, missing)
        if isinstance(tree, Tree):
            return None if read_again else _test(tree, source, problems)
        _report(tree, source, problems)
        left -= len(again)
        again = without_mistake(again, tree) if left >= 0 and not problems.full else None
        read_again = True
    return None


def _test(tree: Tree[Token], source: Source, problems: Problems) -> Test | None:
    return None if too_deep(tree, source, problems) else TreeBuilder[Test](source).build(tree)


def too_deep(tree: Tree[Token], source: Source, problems: Problems) -> bool:
    """Whether something is nested too deep, which is then noted."""
    deep = _deepest(tree)
    if deep is None:
        return False
    start = Span(source, deep.meta.line, deep.meta.column, deep.meta.line, deep.meta.column + 1)
    message = f"operators, brackets and statements must be nested at most {MAX_DEPTH} deep"
    problems.error(start, message)
    return True


def _deepest(tree: Tree[Token]) -> Tree[Token] | None:
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


def _lacks_semicolon(mistake: Mistake) -> bool:
    """Whether a semicolon could stand at the end of the line or block where the text broke off."""
    if mistake.after is None or mistake.terminal in (None, END):
        return False
    if "SEMICOLON" not in mistake.expected:
        return False
    if "WHILE" in mistake.expected or {"LSQB", "NAME"} <= mistake.expected:
        return False  # An empty statement or entry, which nobody has left out.
    return mistake.terminal == "RBRACE" or mistake.span.line > mistake.after.line


def _report(mistake: Mistake, source: Source, problems: Problems) -> None:
    """Say what must follow the text that was understood, and what follows instead."""
    after = mistake.after or Span(source, 1, 1, 1, 2)
    found = "the end of the file" if mistake.terminal == END else quote(mistake.found)
    span = after if _lacks_semicolon(mistake) else mistake.span
    if "HEADER" in mistake.expected:
        found = quote(source.line(span.line)) if source.text.strip() else "an empty file"
        problems.error(
            span, f"the first line must be `OpenCL name`, `C name` or `PTX name`, not {found}"
        )
        return
    hint = _hint(mistake.expected, span, problems)
    choice = listed(describe(mistake.expected, LANGUAGE.spelling))
    word = last_word(after)
    what = f"what follows {quote(word)}" if word else "what stands here"
    problems.error(span, f"{what} must be {choice}, not {found}", hint)


def _hint(expected: frozenset[str], span: Span, problems: Problems) -> str | None:
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


def last_word(after: Span) -> str | None:
    """The word that ends just before a place, on its line."""
    before = after.source.line(after.line)[: after.column - 1]
    match = re.search(_LAST_WORD, before[-200:])
    return match[0] if match else None
