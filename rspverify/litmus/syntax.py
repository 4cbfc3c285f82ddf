"""From text to syntax tree, and what is said where the text does not follow its grammar."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from msgspec import Struct

from rspverify.grammar import Language, Mistake
from rspverify.lalr import END, Place, Tree
from rspverify.litmus.build import ColumnsBuilder, TreeBuilder
from rspverify.litmus.dialects import DIALECTS
from rspverify.litmus.problems import Problems, quote
from rspverify.litmus.recovery import braces_fit, without_cell, without_mistake
from rspverify.source import Source, Span
from rspverify.wording import alternatives

MAX_DEPTH = 100
"""How deep brackets, operators and statements may be nested, counted in levels of the tree."""

_MOST_READ = 500_000
"""How many characters are read at the most to find further mistakes, all times together."""

_WORDS = Path(__file__).with_name("words.yaml")

_HIDDEN = {"DESCRIPTION", "INFO"}
"""Terminals that are never what a user has forgotten."""

_LAST_WORD = r"(\w+|\+\+|--|&&|\|\||[<>=!]=|<<|>>|/\\|\\/|\S)$"


_IN_ASSEMBLY = [f"`{it} name`" for it in DIALECTS]


class Form(Struct, frozen=True):
    """How tests are written. headers: their first lines. words: for its terminals, in words.yaml.

    ends: whether a semicolon could stand at the end of the line or block where the text broke off.
    without: the text with blanks in the place of the part that has a mistake; None if in doubt.
    """

    language: Language
    builder: type[TreeBuilder[Any]]
    headers: str
    words: str
    ends: Callable[[Mistake], bool]
    without: Callable[[str, Mistake], str | None]


def warm_up() -> None:
    """Load the grammar's tables, so that processes forked later have them."""
    _ = C.language.tables.every


def parse(form: Form, source: Source, text: str, problems: Problems) -> Any:
    """The syntax tree of a test, or None where there is none, with every mistake that is certain.

    text: that of the source without its comments.

    A semicolon that is missing at the end of a line is noted and assumed. After another mistake
    the text is read again without the part that has it, as long as that leads to no mistake that
    is only a consequence (recovery.py), and has no tree.
    """
    left, again, mended = _MOST_READ, text, False

    def missing(mistake: Mistake) -> str | None:
        if not _lacks_semicolon(mistake, form) or problems.full:
            return None
        if form is C and not braces_fit(again):
            return None
        _report(mistake, form, source, problems)
        return "SEMICOLON"

    while True:
        tree = form.language.parse(source, again, missing)
        if isinstance(tree, Tree):
            known = not mended and not _too_deep(tree, source, problems)
            return form.builder(source).build(tree) if known else None
        if not _follows_blanks(text, again, tree.offset):
            _report(tree, form, source, problems)
        left -= len(again)
        rest = form.without(again, tree) if left >= 0 and not problems.full else None
        if rest is None:
            return None
        again, mended = rest, True


def _follows_blanks(text: str, mended: str, offset: int) -> bool:
    """Whether what stands just before a mistake was left out, so that it may be a consequence."""
    before = text[:offset].rstrip()
    return bool(before) and mended[len(before) - 1] == " "


def _too_deep(tree: Tree, source: Source, problems: Problems) -> bool:
    """Whether something is nested too deep, the first of which is noted."""
    waiting = [(tree, 1)]
    while waiting:
        node, depth = waiting.pop()
        if depth > MAX_DEPTH:
            place = node.meta or Place(1, 1, 0, 1, 1, 0)
            span = Span(source, place.line, place.column, place.line, place.column + 1)
            message = f"operators, brackets and statements must be nested at most {MAX_DEPTH} deep"
            problems.error(span, message)
            return True
        below = [(each, depth + 1) for each in node.children if isinstance(each, Tree)]
        waiting += reversed(below)
    return False


# ---- syntax errors -------------------------------------------------------------------------------


def _lacks_semicolon(mistake: Mistake, form: Form) -> bool:
    if mistake.after is None or mistake.terminal in (None, END):
        return False
    return "SEMICOLON" in mistake.expected and form.ends(mistake)


def _statement_ends(mistake: Mistake) -> bool:
    if "WHILE" in mistake.expected or {"LSQB", "NAME"} <= mistake.expected:
        return False  # An empty statement or entry, which nobody has left out.
    return mistake.terminal == "RBRACE" or _new_line(mistake)


def _row_ends(mistake: Mistake) -> bool:
    return mistake.terminal not in ("SEMICOLON", "VBAR") and _new_line(mistake)


def _new_line(mistake: Mistake) -> bool:
    return mistake.after is not None and mistake.span.line > mistake.after.line


C = Form(
    Language(Path(__file__).with_name("grammar.lark")),
    TreeBuilder,
    alternatives(["`OpenCL name`", "`C name`", *_IN_ASSEMBLY]),
    "programs",
    _statement_ends,
    without_mistake,
)
"""Herd's languages for OpenCL and C11."""

ASSEMBLY = Form(
    Language(Path(__file__).with_name("columns.lark")),
    ColumnsBuilder,
    alternatives(_IN_ASSEMBLY),
    "columns",
    _row_ends,
    without_cell,
)
"""Tests with a column for each thread."""


def _report(mistake: Mistake, form: Form, source: Source, problems: Problems) -> None:
    """Say what must follow the text that was understood, and what follows instead."""
    after = mistake.after or Span(source, 1, 1, 1, 2)
    found = "the end of the file" if mistake.terminal == END else quote(mistake.found)
    span = after if _lacks_semicolon(mistake, form) else mistake.span
    if "HEADER" in mistake.expected:
        found = quote(source.line(span.line)) if source.text.strip() else "an empty file"
        problems.error(span, f"the first line must be {form.headers}, not {found}")
        return
    hint = _hint(mistake.expected, span, problems) if form is C else None
    choice = alternatives(_described(mistake.expected, form))
    before = source.line(after.line)[: after.column - 1]
    word = re.search(_LAST_WORD, before[-200:])
    what = f"what follows {quote(word[0])}" if word else "what stands here"
    problems.error(span, f"{what} must be {choice}, not {found}", hint)


@cache
def _words() -> Mapping[str, Any]:
    """What terminals are called: words.yaml."""
    import yaml

    found: Mapping[str, Any] = yaml.safe_load(_WORDS.read_text(encoding="utf-8"))
    return found


def _described(accepted: frozenset[str], form: Form) -> list[str]:
    """What can stand in a place that accepts these terminals."""
    words, spelling = _words(), form.language.spelling
    left = set(accepted) - _HIDDEN
    said: list[str] = []
    for group in words[form.words]:
        if left.issuperset(group["shown"].split()):
            said.append(group["words"])
            left.difference_update(group["covered"].split())
    fixed = sorted(f"`{spelling[name]}`" for name in left if name in spelling)
    named = sorted(it for name, it in words["terminals"].items() if name in left)
    return fixed + said + named


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
