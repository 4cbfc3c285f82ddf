"""From the text of a YAML file to its nodes, by PyYAML, which a test alone does not need.

Anchors, aliases, tags and deep nesting are refused, so that a tree is never larger than its text.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import accumulate
from typing import Any

import yaml
from yaml.reader import ReaderError

from rspverify.records import replace
from rspverify.source import Problem, Source, Span
from rspverify.yaml_reader import List, Node, Table, Text

MAX_DEPTH = 10
"""Deepest nesting that is read. A scheme has four levels."""

_NULL = "tag:yaml.org,2002:null"


_KEPT = 64
"""So many texts are not read again: a table is asked for again and again in one process."""


def read_yaml(source: Source) -> tuple[Node | None, list[Problem]]:
    """The tree of a YAML text and the problems found; no tree where they make it unreadable."""
    root, problems = _read(source)
    return root, [*problems]


@lru_cache(_KEPT)
def _read(source: Source) -> tuple[Node | None, Sequence[Problem]]:
    reading = _Reading(source)
    try:
        return reading.document(), reading.problems
    except ReaderError as error:
        message = f"the file must be printable text, not have the character U+{error.character:04X}"
        reading.refuse(error.position, error.position + 1, message)
    except yaml.MarkedYAMLError as error:
        reading.problems.append(reading.malformed(error))
    except (ValueError, OverflowError):  # PyYAML lets these of chr() and int() out
        at = reading.offset()
        reading.refuse(at, at, "the file must be YAML: a number is too large")
    return None, reading.problems


class _TooDeepError(yaml.MarkedYAMLError):
    """Nesting beyond MAX_DEPTH."""


class _Loader(yaml.SafeLoader):
    """PyYAML's reader of nodes. look_at: is shown each event of a node, and how deep it is."""

    look_at: Callable[[yaml.NodeEvent, int], None]
    depth = 0

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        """The next node; nothing in place of an alias."""
        event: Any = self.peek_event()  # type: ignore[no-untyped-call]
        self.look_at(event, self.depth)
        if isinstance(event, yaml.AliasEvent):
            alias: Any = self.get_event()  # type: ignore[no-untyped-call]
            return yaml.ScalarNode(_NULL, "", alias.start_mark, alias.end_mark)
        event.anchor = None
        self.depth += 1
        node = super().compose_node(parent, index)
        self.depth -= 1
        return node


class _Reading:
    """One text on its way to a tree."""

    def __init__(self, source: Source) -> None:
        self.problems: list[Problem] = []
        self._source, self._aliased = source, False
        self._starts = [0, *accumulate(len(line) + 1 for line in source.text.split("\n"))][:-1]
        self._loader: Any = None

    def document(self) -> Node | None:
        """The tree of the only document; None if there is none or it uses aliases."""
        self._loader = _Loader(self._source.text)  # Looks for unprintable characters.
        loader = self._loader
        loader.look_at = self._look_at
        loader.get_event()
        if loader.check_event(yaml.StreamEndEvent):
            self.refuse(0, 0, "the file must be a mapping, not empty")
            return None
        root = loader.compose_document()
        if not loader.check_event(yaml.StreamEndEvent):
            message = "the file must be one YAML document, not several"
            self._refuse(loader.peek_event(), message, "keep one of them in this file")
        return None if self._aliased else self._node(root)

    def offset(self) -> int:
        """How far PyYAML has come."""
        return self._loader.get_mark().index if self._loader else 0

    def refuse(self, start: int, end: int, message: str, hint: str | None = None) -> None:
        """Note that the characters from one offset up to another are wrong."""
        self.problems.append(Problem(self._span(start, end), message, hint))

    def malformed(self, error: yaml.MarkedYAMLError) -> Problem:
        """A syntax error in YAML, in PyYAML's words where ours are no clearer."""
        at, context = error.problem_mark, error.context_mark
        index = at.index if at else 0
        span = self._span(index, index + 1)
        if isinstance(error, _TooDeepError):
            return Problem(span, str(error.problem))
        if self._source.text[index : index + 1] == "\t":
            hint = "replace the tab by spaces"
            return Problem(span, "indentation must be spaces, not a tab", hint)
        message = f"the file must be YAML: {error.context or ''} {error.problem or ''}"
        related: tuple[tuple[Span, str], ...] = ()
        if context and at and (context.line, context.column) != (at.line, at.column):
            related = ((self._span(context.index, context.index + 1), "it starts here"),)
        return Problem(span, re.sub(r"\s+", " ", message).strip(), related=related)

    def _look_at(self, event: Any, depth: int) -> None:
        """Note what we do not read, although YAML has it."""
        if isinstance(event, yaml.AliasEvent):
            self._aliased = True
            self._refuse(event, "text must be written out, not repeated by an alias")
            return
        if event.anchor is not None:
            self._refuse(event, "text must be written out, not named by an anchor")
        if event.tag is not None:
            self._refuse(event, "a value must have no tag, not one with !", "leave the tag out")
        if isinstance(event, yaml.ScalarEvent) and not _is_shown(event.value):
            self._refuse(event, "text must be printable, not escapes of control characters")
        if depth == MAX_DEPTH:
            message = f"nesting must be at most {MAX_DEPTH} deep, not deeper"
            raise _TooDeepError(None, None, message, event.start_mark)

    def _refuse(self, event: yaml.Event, message: str, hint: str = "write it out") -> None:
        self.problems.append(Problem(self._of(event), message, hint))

    def _node(self, node: Any) -> Node:
        if isinstance(node, yaml.ScalarNode):
            return Text(node.value, node.tag == _NULL, self._of(node))
        if isinstance(node, yaml.SequenceNode):
            items = tuple(map(self._node, node.value))
            return List(items, self._up_to(items, node))
        pairs = [(self._node(key), self._node(value)) for key, value in node.value]
        entries: dict[str, tuple[Text, Node]] = {}
        for key, value in pairs:
            if not isinstance(key, Text):
                message = "a key must be a word, not a list or a mapping"
                self.problems.append(Problem(key.span, message))
            elif key.text in entries:
                message = f"the key {key.text!r} must be given once, not twice"
                first = (entries[key.text][0].span, "given here before")
                self.problems.append(Problem(key.span, message, related=(first,)))
            else:
                entries[key.text] = key, value
        return Table(tuple(entries.values()), self._up_to([value for _, value in pairs], node))

    def _up_to(self, parts: Sequence[Node], node: Any) -> Span:
        """The place of a collection: PyYAML ends one without brackets where the next thing is."""
        span = self._of(node)
        if not parts or node.flow_style:
            return span
        last = parts[-1].span
        return replace(span, end_line=last.end_line, end_column=last.end_column)

    def _of(self, it: Any) -> Span:
        return self._span(it.start_mark.index, it.end_mark.index)

    def _span(self, start: int, end: int) -> Span:
        first = bisect_right(self._starts, start) - 1
        last = bisect_right(self._starts, end) - 1
        column, end_column = start - self._starts[first] + 1, end - self._starts[last] + 1
        return Span(self._source, first + 1, column, last + 1, end_column)


def _is_shown(text: str) -> bool:
    controls = (char for char in text if unicodedata.category(char) in ("Cc", "Cs"))
    return all(char in "\n\t" for char in controls)
