"""Orders of moments: which of `a < b` and `a ≤ b` can hold together.

A moment is a number from 0; a model gives each a time. Decided by trying the alternatives one by
one, with the order of all moments closed after each.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

Times = tuple[int, ...]
"""The time of each moment."""


class Before(NamedTuple):
    """One moment is before another, or at the same time unless `strictly`."""

    first: int
    second: int
    strictly: bool = True

    @property
    def opposite(self) -> Before:
        """What holds where this does not."""
        return Before(self.second, self.first, not self.strictly)

    def holds(self, times: Sequence[int]) -> bool:
        """Whether it does at these times."""
        first, second = times[self.first], times[self.second]
        return first < second if self.strictly else first <= second


Clause = tuple[Before, ...]
"""Alternatives: one of them holds."""


def not_after(first: int, second: int) -> Before:
    """The first moment is no later than the second."""
    return Before(first, second, strictly=False)


def find_times(moments: int, clauses: Iterable[Clause]) -> Times | None:
    """Times at which every clause holds; None if there are none."""
    found = _search(_Order.empty(moments), [*clauses])
    return None if found is None else found.times


class _Order:
    """What is known of moments: per moment, as bits, those that are no earlier, and those that are
    later."""

    def __init__(self, reached: list[int], later: list[int]) -> None:
        self._reached, self._later = reached, later

    @classmethod
    def empty(cls, moments: int) -> _Order:
        return cls([1 << each for each in range(moments)], [0] * moments)

    def known(self, claim: Before) -> bool | None:
        """Whether a claim holds, as far as that follows."""
        if self._follows(claim):
            return True
        return False if self._follows(claim.opposite) else None

    def _follows(self, claim: Before) -> bool:
        later = self._later if claim.strictly else self._reached
        return bool(later[claim.first] >> claim.second & 1)

    def with_claim(self, claim: Before) -> _Order:
        """The order that follows with a claim that is not known to be false."""
        first, second, strictly = claim
        reached, later = [*self._reached], [*self._later]
        beyond, after = reached[second], later[second]
        for moment, those in enumerate(self._reached):
            if those >> first & 1:
                reached[moment] |= beyond
                strict = strictly or self._later[moment] >> first & 1
                later[moment] |= beyond if strict else after
        return _Order(reached, later)

    @property
    def times(self) -> Times:
        """Times at which what is known holds: the number of the moments that are earlier."""
        moments = range(len(self._later))
        return tuple(sum(it >> each & 1 for it in self._later) for each in moments)


def _search(order: _Order, clauses: list[Clause]) -> _Order | None:
    """An order in which every clause has an alternative that is known to hold."""
    forced = True
    while forced:
        forced, left = False, list[Clause]()
        for clause in clauses:
            known = [order.known(each) for each in clause]
            if True in known:
                continue
            rest = tuple(it for it, holds in zip(clause, known, strict=True) if holds is None)
            if not rest:
                return None
            if len(rest) == 1:
                order, forced = order.with_claim(rest[0]), True
            else:
                left.append(rest)
        clauses = left
    if not clauses:
        return order
    for claim in min(clauses, key=len):
        if order.known(claim) is not False:
            found = _search(order.with_claim(claim), clauses)
            if found is not None:
                return found
            if order.known(claim.opposite) is False:
                return None
            order = order.with_claim(claim.opposite)
    return None
