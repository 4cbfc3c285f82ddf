"""Equal terms as one: what tells that the rounds of a recursive definition change nothing more."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rspverify.smt.term import FALSE, Kind, Term, all_of, any_of


class Sharing:
    """One term for all that are built alike, whatever the order of their arguments."""

    def __init__(self) -> None:
        self._known: dict[tuple[Kind, frozenset[Term]], Term] = {}
        self._shared: dict[Term, Term] = {}

    def shared(self, terms: Mapping[Any, Term]) -> dict[Any, Term]:
        """The same mapping, with one term for all that are built alike, and without FALSE."""
        shared = {key: self.term(term) for key, term in terms.items()}
        return {key: term for key, term in shared.items() if term is not FALSE}

    def term(self, term: Term) -> Term:
        """The one term for all that are built like this one."""
        stack = [term]
        while stack:
            each = stack[-1]
            missing = [below for below in each.arguments if below not in self._shared]
            if missing and each not in self._shared:
                stack += missing
                continue
            stack.pop()
            if each not in self._shared:
                self._shared[each] = self._built(each)
        return self._shared[term]

    def _built(self, term: Term) -> Term:
        """A term of which the arguments are shared already."""
        if not term.arguments:
            return term
        arguments = [self._shared[each] for each in term.arguments]
        if term.kind is Kind.NOT:
            return ~arguments[0]
        folded = (all_of if term.kind is Kind.AND else any_of)(arguments)
        if folded.kind is not term.kind:
            return folded
        return self._known.setdefault((folded.kind, frozenset(folded.arguments)), folded)
