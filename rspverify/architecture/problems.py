"""The problems of one machine, each once, so that a user sees all of them at once."""

from __future__ import annotations

from rspverify.source import InputError, Problem, Span

MAX_PROBLEMS = 100
"""How many problems of one machine are told; the rest is only counted."""

Related = tuple[tuple[Span, str], ...]


class Problems:
    """The problems found so far: a definition is looked at at each use, and told of once."""

    def __init__(self) -> None:
        self._found: dict[tuple[str, str], Problem] = {}

    def error(
        self, span: Span, message: str, hint: str | None = None, related: Related = ()
    ) -> None:
        """Note that something is wrong."""
        self.note(Problem(span, message, hint, related))

    def again(self, span: Span, message: str, first: Span) -> None:
        """Note that something stands again that may stand once."""
        self.error(span, message, related=((first, "the first one is here"),))

    def note(self, problem: Problem) -> None:
        """Note a problem."""
        self._found.setdefault((str(problem.span), problem.message), problem)

    def raise_any(self) -> None:
        """Raises InputError if there are any."""
        if not self._found:
            return
        told = list(InputError(self._found.values()).problems)
        if len(told) > MAX_PROBLEMS:
            words = f"{len(told) - MAX_PROBLEMS:,} more problems from here on"
            rest = Problem(told[MAX_PROBLEMS].span, words, "mend the ones above first")
            told = [*told[:MAX_PROBLEMS], rest]
        raise InputError(told)
