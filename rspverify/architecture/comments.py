"""What the comments of a machine's file say: of a part of the state behind it in its line, of an
instruction or a step above it, and above the definitions that it is made of."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import takewhile

from rspverify.architecture import syntax
from rspverify.architecture.declarations import Declarations
from rspverify.source import Span

_COMMENT = re.compile(r"\s*#\s*(.*)")
_USED = re.compile(r"\b(\w+)\(")


def notes(declared: Declarations) -> Mapping[str, str]:
    """By the name of a part, an instruction or a step, of those that have a comment; "" for the
    comment that the file begins with."""
    found = {name: _said(kind, name, declared) for kind, name in declared if kind in _NAMED}
    if title := declared.get(("title", "")):
        head = takewhile(_COMMENT.fullmatch, title.span.source.text.split("\n"))
        found[""] = " ".join(line.strip("# ") for line in head)
    return {name: words for name, words in found.items() if words}


_NAMED = (syntax.Cell, syntax.Step)
"""The kinds that have notes; instructions are declared as steps are."""


def _said(kind: type | str, name: str, declared: Declarations) -> str:
    it = declared[kind, name]
    if isinstance(it, syntax.Cell):
        behind = _COMMENT.fullmatch(it.span.source.line(it.span.end_line)[it.span.end_column - 1 :])
        return behind[1] if behind else ""
    own = " ".join(_above(it.span))
    if own and isinstance(it, syntax.Step):
        return own
    used = (declared.get((syntax.Definition, each)) for each in _USED.findall(it.span.text))
    others = (" ".join(_above(each.span)) for each in used if each)
    return " ".join(dict.fromkeys(filter(None, (own, *others))))


def _above(span: Span) -> Iterator[str]:
    """The comment that ends in the line before."""
    first = span.line
    while first > 1 and _COMMENT.fullmatch(span.source.line(first - 1)):
        first -= 1
    for number in range(first, span.line):
        if words := _COMMENT.fullmatch(span.source.line(number)):
            yield words[1]
