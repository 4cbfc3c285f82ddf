"""The problems of one machine, each once, so that a user sees all of them at once."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import NoReturn, Protocol

from rspverify.architecture.syntax import Word
from rspverify.source import InputError, Problem, Span
from rspverify.wording import alternatives, guess

MAX_PROBLEMS = 100
"""How many problems of one machine are shown; the rest is only counted."""

MAX_FOUND = 500
"""How many problems are looked for."""

Related = tuple[tuple[Span, str], ...]


class Problems:
    """The problems so far: a definition is checked at each use, and its problems shown once."""

    def __init__(self) -> None:
        self._found: dict[tuple[str, str], Problem] = {}
        self.noted = 0
        """How often something was wrong, known mistakes included."""

    def error(
        self, span: Span, message: str, hint: str | None = None, related: Related = ()
    ) -> None:
        """Note that something is wrong."""
        self.note(Problem(span, message, hint, related))

    def again(self, span: Span, message: str, first: Span) -> None:
        """Note that something stands again that may stand once."""
        self.error(span, message, related=((first, "the first one is here"),))

    def once(self, words: Iterable[Word], message: str) -> None:
        """Note each word that stands again. message: what each must be, as `must be one place`."""
        first: dict[str, Span] = {}
        for each in words:
            if each.text in first:
                self.again(each.span, f"{each} {message}", first[each.text])
            first.setdefault(each.text, each.span)

    def note(self, problem: Problem) -> None:
        """Note a problem."""
        self.noted += 1
        self._found.setdefault((str(problem.span), problem.message), problem)
        if len(self._found) > MAX_FOUND:
            self.raise_any()

    def stop(self, span: Span, message: str, hint: str | None = None) -> NoReturn:
        """Note a mistake with which there is no going on. Raises InputError with all."""
        self.error(span, message, hint)
        self.raise_any()
        raise AssertionError("a problem was noted")

    def raise_any(self) -> None:
        """Raises InputError if there are any."""
        if not self._found:
            return
        ordered = sorted(self._found.values(), key=_position)
        shown, left = ordered[:MAX_PROBLEMS], ordered[MAX_PROBLEMS:]
        if left:
            words = f"{len(left):,} more problems from here on"
            shown.append(Problem(left[0].span, words, "mend the ones above first"))
        raise InputError(shown)


def _position(problem: Problem) -> tuple[str, int, int]:
    span = problem.span
    return (span.source.name, span.line, span.column) if span else ("", 0, 0)


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
