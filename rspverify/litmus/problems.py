"""The problems of one litmus test, collected so that a user sees all of them at once."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from itertools import islice

from rspverify.source import InputError, Problem, Severity, Span

MAX_PROBLEMS = 100
"""How many problems of one file are told; the rest is only counted."""

Related = tuple[tuple[Span, str], ...]


class Problems:
    """The problems found so far."""

    def __init__(self) -> None:
        # Each once, although loops and dead code may be looked at more than once.
        self._found: dict[tuple[tuple[int, int], str], Problem] = {}
        self._suggested = 0

    def error(
        self, span: Span, message: str, hint: str | None = None, related: Related = ()
    ) -> None:
        """Note that the input is wrong."""
        self._note(Problem(span, message, hint, related))

    def again(self, span: Span, message: str, first: Span) -> None:
        """Note that something stands again that may stand once."""
        self.error(span, message, related=((first, "the first one is here"),))

    def unsupported(self, span: Span, message: str, hint: str | None = None) -> None:
        """Note that the input is right and beyond this version."""
        self._note(Problem(span, message, hint, (), Severity.UNSUPPORTED))

    def _note(self, problem: Problem) -> None:
        self._found.setdefault((_position(problem), problem.message), problem)

    def suggestion(self, word: str, known: Iterable[str]) -> str | None:
        """`did you mean ...?`, if a known word is close; only for as many words as are told."""
        self._suggested += 1
        if self._suggested > MAX_PROBLEMS or len(word) > 60:
            return None
        close = get_close_matches(word, list(islice(known, 200)), n=1, cutoff=0.7)
        return f"did you mean `{close[0]}`?" if close else None

    def __bool__(self) -> bool:
        return bool(self._found)

    @property
    def full(self) -> bool:
        """Whether there are as many as are told."""
        return len(self._found) >= MAX_PROBLEMS

    def as_error(self) -> InputError:
        """The exception that tells all problems."""
        return InputError(_first(list(self._found.values())))


def _first(found: list[Problem]) -> list[Problem]:
    """The first MAX_PROBLEMS in the order of the text, and one that counts the rest."""
    ordered = sorted(found, key=_position)
    told, rest = ordered[:MAX_PROBLEMS], ordered[MAX_PROBLEMS:]
    if rest:
        wrong = any(each.severity is Severity.ERROR for each in rest)
        severity = Severity.ERROR if wrong else Severity.UNSUPPORTED
        words = f"{len(rest):,} more problems from here on"
        told.append(Problem(rest[0].span, words, "mend the ones above first", (), severity))
    return told


def _position(problem: Problem) -> tuple[int, int]:
    return (problem.span.line, problem.span.column) if problem.span else (0, 0)


def quote(text: str) -> str:
    """The text in backquotes, shortened if it is long."""
    words = " ".join(text.split()) or text
    words = words if words.isprintable() else ascii(words)[1:-1]
    return f"`{words if len(words) <= 60 else words[:57] + '...'}`"


def listed(words: Iterable[str], last: str = "or") -> str:
    """The words as a list in a sentence: `a, b or c`."""
    *front, end = words
    return f"{', '.join(front)} {last} {end}" if front else end
