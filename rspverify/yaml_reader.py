"""YAML with positions: nodes that each know where they stand, and what is expected of them.

`read_yaml` (yaml_text.py) gives the tree of a text; the functions here read it. All of them add the
mistakes that they find to a list of problems, so that a file tells all of its mistakes at once.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import assert_never

from msgspec import Struct

from rspverify.records import replace
from rspverify.source import Problem, Span
from rspverify.wording import alternatives, guess, quoted

EDITORS = "# yaml-language-server: $schema="
"""Begins the comment by which editors find what they complete and check a file by."""


class Text(Struct, frozen=True):
    """A scalar, as text. null: YAML reads it as nothing."""

    text: str
    null: bool
    span: Span

    @property
    def words(self) -> tuple[tuple[str, Span], ...]:
        """Its words, each at its place; where its text is not what is written, at that of all."""
        source, line, start = self.span.source, self.span.line, self.span.column
        written = source.line(line)[start - 1 : self.span.end_column - 1]
        at = {written: start, written[1:-1]: start + 1}.get(self.text)
        words = list(re.finditer(r"\S+", self.text))
        if at is None or line != self.span.end_line:
            return tuple((word[0], self.span) for word in words)
        return tuple(
            (word[0], Span(source, line, at + word.start(), line, at + word.end()))
            for word in words
        )


class List(Struct, frozen=True):
    """A list of nodes."""

    items: tuple[Node, ...]
    span: Span


class Table(Struct, frozen=True):
    """A mapping; no two keys have the same text."""

    entries: tuple[tuple[Text, Node], ...]
    span: Span


Node = Text | List | Table


# ---- what is expected of a node ------------------------------------------------------------------


def found(node: Node) -> str:
    """What stands at a node, as a message says it."""
    match node:
        case Text(text, null, _):
            return "nothing" if null else quoted(text)
        case List(items, _):
            return "a list" if items else "an empty list"
        case Table():
            return "a mapping"
        case _:
            assert_never(node)


def read_fields(
    node: Node, what: str, keys: Sequence[str], required: Sequence[str], problems: list[Problem]
) -> dict[str, Node] | None:
    """The values of a mapping by key, without the keys that it must not have."""
    if not isinstance(node, Table):
        usual = f"a mapping with the keys {', '.join(required)}"
        problems.append(Problem(node.span, f"{what} must be {usual}, not {found(node)}"))
        return None
    fields: dict[str, Node] = {}
    for key, value in node.entries:
        if key.text in keys:
            fields[key.text] = value
        else:
            message = f"a key of {what} must be {alternatives(keys)}, not {quoted(key.text)}"
            problems.append(Problem(key.span, message, guess(key.text, keys)))
    missing = [key for key in required if key not in fields]
    if missing:
        message = f"{what} must have the key{'s' * (len(missing) > 1)} {', '.join(missing)}"
        problems.append(Problem(node.span, message))
    return fields


def read_entries(node: Node, what: str, problems: list[Problem]) -> tuple[tuple[Text, Node], ...]:
    """The entries of a mapping whose keys may be any words; none, and a problem more, otherwise."""
    if isinstance(node, Table):
        return node.entries
    problems.append(Problem(node.span, f"{what} must be a mapping, not {found(node)}"))
    return ()


def read_text(fields: Mapping[str, Node], key: str, problems: list[Problem]) -> str | None:
    """A free text, where there is one."""
    node = fields.get(key)
    if node is None:
        return None
    if isinstance(node, Text) and not node.null:
        return node.text.strip()
    problems.append(Problem(node.span, f"{key} must be text, not {found(node)}"))
    return None


def read_choice(
    node: Node,
    what: str,
    choices: Sequence[str],
    problems: list[Problem],
    hints: Mapping[str, str] = MappingProxyType({}),
) -> str | None:
    """The choice that a word names; None, and a problem more, if it names none.

    hints: for words that mean something, but not here; for all others a close choice is guessed.
    """
    if isinstance(node, Text) and node.text in choices:
        return node.text
    text = node.text if isinstance(node, Text) else None
    hint = None if text is None else hints.get(text) or guess(text, choices)
    message = f"{what} must be {alternatives(choices)}, not {found(node)}"
    problems.append(Problem(node.span, message, hint))
    return None


def read_choices(
    node: Node,
    what: str,
    choices: Sequence[str],
    problems: list[Problem],
    any_case: bool = False,
    hints: Mapping[str, str] = MappingProxyType({}),
) -> dict[str, Span] | None:
    """The choices that a word or a list names, with their places; None if any of it is wrong.

    hints: as of `read_choice`.
    """
    if isinstance(node, List) and not node.items:
        message = f"{what} must be {alternatives(choices)}, or a list of these, not an empty list"
        problems.append(Problem(node.span, message))
        return None
    chosen: dict[str, Span] = {}
    before = len(problems)
    for item in node.items if isinstance(node, List) else (node,):
        if any_case and isinstance(item, Text):
            item = replace(item, text=item.text.lower())
        name = read_choice(item, what, choices, problems, hints)
        if name in chosen:
            first = (chosen[name], "named here before")
            message = f"{what} must name {name} once, not twice"
            problems.append(Problem(item.span, message, related=(first,)))
        elif name is not None:
            chosen[name] = item.span
    return chosen if len(problems) == before else None
