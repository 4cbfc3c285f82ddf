"""YAML with positions: a tree of texts, lists and mappings that each know where they stand.

Anchors, aliases, tags and deep nesting are refused, so a tree is never larger than its text.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate

import yaml
from yaml.composer import ComposerError
from yaml.reader import ReaderError

from rspverify.source import Problem, Source, Span

MAX_DEPTH = 10
"""Deepest nesting that is read. A scheme has four levels."""


@dataclass(frozen=True)
class Text:
    """A scalar. null: YAML reads it as nothing; words: each word of it, with its own place."""

    text: str
    null: bool
    span: Span
    words: tuple[tuple[str, Span], ...]


@dataclass(frozen=True)
class List:
    """A list of nodes."""

    items: tuple[Node, ...]
    span: Span


@dataclass(frozen=True)
class Table:
    """A mapping; no two keys have the same text."""

    entries: tuple[tuple[Text, Node], ...]
    span: Span


Node = Text | List | Table


def read_yaml(source: Source) -> tuple[Node | None, list[Problem]]:
    """The tree of a YAML text and the problems found; no tree where they make it unreadable."""
    place = _Places(source)
    loader: _Loader | None = None
    try:
        loader = _Loader(source.text)
        root = loader.get_node() if loader.check_node() else None
        another = _peek(loader) if root is not None and loader.check_node() else None
    except ReaderError as error:
        return None, [_unreadable(place, error)]
    except yaml.MarkedYAMLError as error:
        return None, [_malformed(place, error)]
    except (ValueError, OverflowError):  # PyYAML lets these of chr() and int() out
        at = loader.get_mark().index if loader else 0
        return None, [Problem(place.span(at, at), "the file must be YAML: a number is too large")]
    problems = [Problem(place.of(event), message, hint) for event, message, hint in loader.refused]
    if another is not None:
        message = "the file must be one YAML document, not several"
        problems.append(Problem(place.of(another), message, "keep one of them in this file"))
    if root is None:
        problems.append(Problem(place.span(0, 0), "the file must be a mapping, not empty"))
    if root is None or loader.aliased:
        return None, problems
    return _convert(root, place, problems), problems


class _Places:
    """Turns offsets into spans that count lines as Source does."""

    def __init__(self, source: Source) -> None:
        self.source = source
        lines = (source.text + ".").splitlines(keepends=True)
        self._starts = [0, *accumulate(map(len, lines))][:-1]

    def span(self, start: int, end: int) -> Span:
        """The span of the characters from offset `start` up to `end`."""
        first = bisect_right(self._starts, start) - 1
        last = bisect_right(self._starts, end) - 1
        column, end_column = start - self._starts[first] + 1, end - self._starts[last] + 1
        return Span(self.source, first + 1, column, last + 1, end_column)

    def of(self, part: yaml.Event | yaml.Node) -> Span:
        """The span of an event or a node of PyYAML."""
        return self.span(*_offsets(part))


def _offsets(part: yaml.Event | yaml.Node) -> tuple[int, int]:
    assert part.start_mark is not None and part.end_mark is not None  # so it is after parsing
    return part.start_mark.index, part.end_mark.index


def _peek(loader: yaml.SafeLoader) -> yaml.Event:
    event: yaml.Event = loader.peek_event()  # type: ignore[no-untyped-call]
    return event


class _Loader(yaml.SafeLoader):
    """PyYAML's composer, which notes what is refused and never nests deeply."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.refused: list[tuple[yaml.NodeEvent, str, str]] = []
        self.aliased = False
        self._depth = 0

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        event = _peek(self)
        if isinstance(event, yaml.AliasEvent):
            self.aliased = True
            self._refuse(event, "text must be written out, not repeated by an alias")
            self.get_event()  # type: ignore[no-untyped-call]
            return yaml.ScalarNode("", "")  # nobody sees it: no tree is built
        assert isinstance(event, yaml.ScalarEvent | yaml.CollectionStartEvent)
        if event.anchor is not None:
            self._refuse(event, "text must be written out, not named by an anchor")
            event.anchor = None
        if event.tag is not None:
            self._refuse(event, "a value must have no tag, not one with !", "leave the tag out")
            event.tag = None
        if isinstance(event, yaml.ScalarEvent) and not _is_shown(event.value):
            self._refuse(event, "text must be printable, not escapes of control characters")
        if self._depth == MAX_DEPTH:
            message = f"nesting must be at most {MAX_DEPTH} deep, not deeper"
            mark = event.start_mark
            assert isinstance(mark, yaml.Mark)
            raise ComposerError(None, None, message, mark)
        self._depth += 1
        node = super().compose_node(parent, index)
        self._depth -= 1
        return node

    def _refuse(self, event: yaml.NodeEvent, message: str, hint: str = "write it out") -> None:
        self.refused.append((event, message, hint))


def _is_shown(text: str) -> bool:
    controls = (char for char in text if unicodedata.category(char) in ("Cc", "Cs"))
    return all(char in "\n\t" for char in controls)


def _unreadable(place: _Places, error: ReaderError) -> Problem:
    message = f"the file must be printable text, not have the character U+{error.character:04X}"
    return Problem(place.span(error.position, error.position + 1), message)


def _malformed(place: _Places, error: yaml.MarkedYAMLError) -> Problem:
    """A syntax error in YAML, in PyYAML's words where ours are no clearer."""
    at, context = error.problem_mark, error.context_mark
    index = at.index if at else 0
    span = place.span(index, index + 1)
    if isinstance(error, ComposerError):
        return Problem(span, str(error.problem))
    if place.source.text[index : index + 1] == "\t":
        return Problem(span, "indentation must be spaces, not a tab", "replace the tab by spaces")
    message = f"the file must be YAML: {error.context or ''} {error.problem or ''}"
    related: tuple[tuple[Span, str], ...] = ()
    if context and at and (context.line, context.column) != (at.line, at.column):
        related = ((place.span(context.index, context.index + 1), "it starts here"),)
    return Problem(span, re.sub(r"\s+", " ", message).strip(), related=related)


def _convert(node: yaml.Node, place: _Places, problems: list[Problem]) -> Node:
    span = place.of(node)
    if isinstance(node, yaml.ScalarNode):
        null = node.tag == "tag:yaml.org,2002:null"
        return Text(node.value, null, span, tuple(_words(node, span, place)))
    if isinstance(node, yaml.SequenceNode):
        items = tuple(_convert(item, place, problems) for item in node.value)
        return List(items, _trim(span, node, items[-1].span if items else span))
    assert isinstance(node, yaml.MappingNode)
    entries: dict[str, tuple[Text, Node]] = {}
    last = span
    for key_node, value_node in node.value:
        key, value = _convert(key_node, place, problems), _convert(value_node, place, problems)
        last = value.span
        if not isinstance(key, Text):
            problems.append(Problem(key.span, "a key must be a word, not a list or a mapping"))
        elif key.text in entries:
            message = f"the key {key.text!r} must be given once, not twice"
            first = (entries[key.text][0].span, "given here before")
            problems.append(Problem(key.span, message, related=(first,)))
        else:
            entries[key.text] = key, value
    return Table(tuple(entries.values()), _trim(span, node, last))


def _trim(span: Span, node: yaml.CollectionNode, last: Span) -> Span:
    """The span of a collection: in block style PyYAML ends it where the next thing starts."""
    if node.flow_style:
        return span
    return Span(span.source, span.line, span.column, last.end_line, last.end_column)


def _words(node: yaml.ScalarNode, span: Span, place: _Places) -> Iterator[tuple[str, Span]]:
    """The words of a scalar; where its text is not its value, each at the place of the whole."""
    start, end = _offsets(node)
    written = place.source.text[start:end]
    offset = {written: 0, written[1:-1]: 1}.get(node.value)
    for match in re.finditer(r"\S+", node.value):
        if offset is None:
            yield match[0], span
        else:
            yield match[0], place.span(start + offset + match.start(), start + offset + match.end())
