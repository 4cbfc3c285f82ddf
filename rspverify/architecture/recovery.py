"""The items of a text, each by itself, so that what comes after a syntax error is read as well.

The words that items begin with are reserved: an item ends where the next one begins, whatever is
wrong in between.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec import Struct

ITEMS = (
    *("machine", "include", "without", "places", "spaces", "reaches", "type", "state", "final"),
    *("complete", "always", "define", "instruction", "step", "switch"),
)
"""The words that items begin with."""

_BEGINNING = re.compile(rf'"[^"\n]*"|#[^\n]*|(?<![\w.-])(?P<word>{"|".join(ITEMS)})(?![\w-])')
_NAME = re.compile(r'\w+\s+"?(?P<name>(?<=")[^"\n]*|[A-Za-z_]\w*(?:-\w+)*(?:\.\w+)*)')


class Item(Struct, frozen=True):
    """An item: the word that it begins with, "" before the first, and where it is in the text."""

    word: str
    start: int
    end: int

    def alone(self, text: str) -> str:
        """The item in its place, nothing before it."""
        line = text.rfind("\n", 0, self.start) + 1
        before = "\n" * text.count("\n", 0, line) + " " * (self.start - line)
        return before + text[self.start : self.end]

    def name(self, text: str) -> str:
        """What is declared, "" if that does not show."""
        found = _NAME.match(text, self.start, self.end)
        return found["name"] if found else ""


def items(text: str) -> Iterator[Item]:
    """The items of a text, one after the other."""
    word, start = "", 0
    for found in _BEGINNING.finditer(text):
        if found["word"]:
            yield Item(word, start, found.start())
            word, start = found["word"], found.start()
    yield Item(word, start, len(text))
