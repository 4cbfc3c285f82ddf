"""From the text of a test in assembly to its syntax tree, and what is said of other texts."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from lark import Token, Tree
from lark.tree import Meta

from rspverify.grammar import END, Language, Mistake, blanked
from rspverify.litmus import tree
from rspverify.litmus.build import TreeBuilder
from rspverify.litmus.expected import COLUMNS, describe
from rspverify.litmus.problems import Problems, listed, quote
from rspverify.litmus.syntax import last_word, too_deep
from rspverify.source import Source, Span

LANGUAGE = Language(Path(__file__).with_name("columns.lark"))
"""Tests with a column for each thread."""

_MOST_READ = 500_000
"""How many characters are read at the most to find further mistakes, all times together."""

_NEXT_PART = re.compile(r"(?m)^[ \t]*(?:(?:[~!]|not\b)?[ \t]*exists|forall|locations)\b")


def parse_columns(source: Source, text: str, problems: Problems) -> tree.Columns | None:
    """The syntax tree of a test without comments, or None where there is none.

    A semicolon that is missing at the end of a line is noted and assumed. After another mistake
    in an entry or in a row the text is read again without it, and has no tree.
    """

    def missing(mistake: Mistake) -> str | None:
        if not _lacks_semicolon(mistake) or problems.full:
            return None
        _report(mistake, source, problems)
        return "SEMICOLON"

    again: str | None = text
    left, read_again = _MOST_READ, False
    while again is not None:
        found = LANGUAGE.parse(source, again, missing)
        if isinstance(found, Tree):
            if read_again or too_deep(found, source, problems):
                return None
            return ColumnsBuilder(source).build(found)
        _report(found, source, problems)
        left -= len(again)
        again = _without(again, found) if left >= 0 and not problems.full else None
        read_again = True
    return None


class ColumnsBuilder(TreeBuilder[tree.Columns]):
    """Turns the parse tree of one source into its Columns; nothing is checked here."""

    DOTTED = TreeBuilder.NAME
    operand = cell = TreeBuilder.brackets

    def start(self, meta: Meta, header: Token, *children: Any) -> Any:
        parts = [each for each in children[:-2] if not isinstance(each, Token)]
        (span, entries), heads, *rows = parts
        watched, condition = children[-2:]
        those = [each for each in entries if each is not None]
        return tree.Columns(
            span,
            header.split()[0].upper(),
            " ".join(header.split()[1:]),
            tuple(each for each in those if isinstance(each, tree.Entry)),
            tuple(each for each in those if isinstance(each, tree.RegisterEntry)),
            heads,
            tuple(rows),
            tuple(watched or ()),
            condition,
        )

    def heads(self, meta: Meta, *heads: tree.ThreadHead) -> tuple[tree.ThreadHead, ...]:
        return heads

    def head(self, meta: Meta, name: tree.Name, *place: Any) -> tree.ThreadHead:
        word, *_ = place
        at = None
        if word is not None:
            span = Span(
                self._source, word.span.line, word.span.column, meta.end_line, meta.end_column
            )
            at = tree.At(span, (place[:2], place[2:]))
        return tree.ThreadHead(self._span(meta), name, at)

    def row(self, meta: Meta, *cells: tree.InstructionText | tree.LabelText | None) -> tree.Row:
        return tree.Row(self._span(meta), cells)

    def mark(self, meta: Meta, name: tree.Name) -> tree.LabelText:
        return tree.LabelText(self._span(meta), name)

    def instruction(self, meta: Meta, name: tree.Name, *operands: Any) -> tree.InstructionText:
        given = tuple(each for each in operands if each is not None)
        return tree.InstructionText(self._span(meta), name, given)


# ---- syntax errors -------------------------------------------------------------------------------


def _lacks_semicolon(mistake: Mistake) -> bool:
    """Whether a row or an entry could end at the end of the line where the text broke off."""
    if mistake.after is None or mistake.terminal in (None, END, "SEMICOLON", "VBAR"):
        return False
    if "SEMICOLON" not in mistake.expected:
        return False
    return mistake.span.line > mistake.after.line


def _without(text: str, mistake: Mistake) -> str | None:
    """The text with blanks in the place of the entry or the cell of a mistake; None if in doubt."""
    if mistake.terminal == END or text.count("{") != 1 or text.count("}") != 1:
        return None
    opened, closed = text.index("{"), text.index("}")
    at = mistake.offset
    if opened < at <= closed:
        start = max(opened, text.rfind(";", 0, at)) + 1
        end = min(it for it in (closed, text.find(";", at)) if it >= 0)
    else:
        heads = text.find(";", closed)
        if heads < 0 or at <= heads:
            return None
        start = max(text.rfind(sign, 0, at) for sign in ";|") + 1
        ends = [it for it in (text.find(sign, at) for sign in ";|") if it >= 0]
        if not ends:
            return None
        end = min(ends)
    if not text[start:end].strip() or _NEXT_PART.search(text, start, end):
        return None
    return text[:start] + blanked(text[start:end]) + text[end:]


def _report(mistake: Mistake, source: Source, problems: Problems) -> None:
    """Say what must follow the text that was understood, and what follows instead."""
    after = mistake.after or Span(source, 1, 1, 1, 2)
    found = "the end of the file" if mistake.terminal == END else quote(mistake.found)
    if "HEADER" in mistake.expected:
        message = f"the first line must be `PTX name`, not {quote(source.line(mistake.span.line))}"
        problems.error(mistake.span, message)
        return
    span = after if _lacks_semicolon(mistake) else mistake.span
    word = last_word(after)
    what = f"what follows {quote(word)}" if word else "what stands here"
    choice = listed(describe(mistake.expected, LANGUAGE.spelling, COLUMNS))
    problems.error(span, f"{what} must be {choice}, not {found}")
