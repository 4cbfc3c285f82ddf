"""The problems of one litmus test, collected so that a user sees all of them at once."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from itertools import islice

from rspverify.source import MAX_PROBLEMS, ProblemsOfText


class Problems(ProblemsOfText):
    """The problems of one litmus test."""

    def __init__(self) -> None:
        super().__init__()
        self._suggested = 0

    def suggestion(self, word: str, known: Iterable[str]) -> str | None:
        """`did you mean ...?`, if a known word is close; only for as many words as are told."""
        self._suggested += 1
        if self._suggested > MAX_PROBLEMS or len(word) > 60:
            return None
        close = get_close_matches(word, list(islice(known, 200)), n=1, cutoff=0.7)
        return f"did you mean `{close[0]}`?" if close else None

    @property
    def full(self) -> bool:
        """Whether there are as many as are told."""
        return len(self) >= MAX_PROBLEMS


def quote(text: str) -> str:
    """The text in backquotes, shortened if it is long."""
    words = " ".join(text.split()) or text
    words = words if words.isprintable() else ascii(words)[1:-1]
    return f"`{words if len(words) <= 60 else words[:57] + '...'}`"
