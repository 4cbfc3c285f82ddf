"""The words of a text, found by one pattern for all places in it.

What may stand at a place tells words from each other that look alike, so lark makes a pattern for
each choice of words, and making dozens of them takes longer than reading a file. One for all words
nearly always finds what may stand there; only where it does not is the other one made.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

from lark.lexer import BasicLexer, ContextualLexer, UnlessCallback


class _PlaceLexer(BasicLexer):
    """The lexer of the places where the same words may stand."""

    everywhere: BasicLexer | None = None
    """The lexer of all words: words are tried in the same order here and there."""

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self.callback = {}  # What to do with words, once this lexer has a pattern of its own.

    @cached_property
    def _allowed(self) -> frozenset[str]:
        return frozenset(each.name for each in self.terminals)

    def match(self, text: Any, pos: int) -> tuple[str, str] | None:
        """A word at a position, and its terminal."""
        found: tuple[str, str] | None = None
        if self.everywhere is not None:
            found = self._found_by(self.everywhere, text, pos)
        return found or self.scanner.match(text, pos)

    def _found_by(self, everywhere: BasicLexer, text: Any, pos: int) -> tuple[str, str] | None:
        word, terminal = everywhere.scanner.match(text, pos) or ("", "")
        keywords = everywhere.callback.get(terminal)
        if isinstance(keywords, UnlessCallback):
            keyword = keywords.scanner.fullmatch(word)
            if keyword in self._allowed:
                return word, keyword
        return (word, terminal) if terminal in self._allowed else None


class PlaceAwareLexer(ContextualLexer):
    """Lark's contextual lexer: the same words, with fewer patterns."""

    BasicLexer = _PlaceLexer

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        for each in self.lexers.values():
            assert isinstance(each, _PlaceLexer) and isinstance(self.root_lexer, BasicLexer)
            each.everywhere = self.root_lexer
