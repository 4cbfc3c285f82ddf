"""The problems of one machine, each once, so that a user sees all of them at once."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import NoReturn, Protocol

from rspverify.architecture.syntax import Word
from rspverify.source import Problem, ProblemsOfText, Span
from rspverify.wording import alternatives, guess

MAX_FOUND = 500
"""How many problems are looked for."""


class Problems(ProblemsOfText):
    """The problems of one machine: a definition is checked at each use, and its problems told once.

    noted: how often something was wrong, known mistakes included.
    """

    def __init__(self) -> None:
        super().__init__()
        self.noted = 0

    def once(self, words: Iterable[Word], message: str) -> None:
        """Note each word that stands again. message: what each must be, as `must be one place`."""
        first: dict[str, Span] = {}
        for each in words:
            if each.text in first:
                self.again(each.span, f"{each} {message}", first[each.text])
            first.setdefault(each.text, each.span)

    def note(self, problem: Problem) -> None:
        """Note a problem. Raises InputError where there are very many."""
        self.noted += 1
        super().note(problem)
        if len(self) > MAX_FOUND:
            self.raise_any()

    def stop(self, span: Span, message: str, hint: str | None = None) -> NoReturn:
        """Note a mistake with which there is no going on. Raises InputError with all."""
        self.error(span, message, hint)
        self.raise_any()
        raise AssertionError("a problem was noted")

    def raise_any(self) -> None:
        """Raises InputError if there are any."""
        if self:
            raise self.as_error()


class Notes(Protocol):
    """Where mistakes are noted."""

    def error(self, span: Span, message: str, hint: str | None = None) -> None:
        """Note a mistake."""


def is_one_of(
    word: Word, what: str, known: Collection[str], notes: Notes, hint: str | None = None
) -> bool:
    """Whether a word is one of those that are known; notes it if not.

    hint: where it is like none of them.
    """
    if word.text in known:
        return True
    message = f"{word} must be {what}: {alternatives([*known])}"
    notes.error(word.span, message, guess(word.text, known) or hint)
    return False
