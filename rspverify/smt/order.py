"""A strict total order as terms: a variable only for the pairs that somebody asks about.

An orientation of some pairs extends to a total order exactly if it has no cycle. Where the graph of
the pairs is chordal, every cycle has a chord and so a shorter cycle beside it, down to three: it is
enough to forbid the cycles of three. Pairs are added until the graph is chordal (elimination of a
vertex of least degree, one after the other), instead of all pairs and all triples.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import combinations

from rspverify.limits import LimitReached, Limits
from rspverify.smt.solver import Model
from rspverify.smt.term import FALSE, TRUE, Term, any_of, variable

_MOST = 1_000_000
"""Constraints that are put together: with the solver a GB of memory, and half a minute."""


class Order:
    """A strict total order of 0 … size - 1 in which every pair of `known` is in that order.

    Raises ValueError if what is known is circular.
    """

    def __init__(self, size: int, known: Iterable[tuple[int, int]]) -> None:
        self._after = _closure(size, known)
        self._asked: dict[tuple[int, int], Term] = {}

    @property
    def pairs(self) -> int:
        """How many pairs, in either direction, have a variable by now."""
        return len(self._asked)

    def before(self, a: int, b: int) -> Term:
        """That a comes before b; FALSE where they are the same."""
        if a == b or self._after[b] >> a & 1:
            return FALSE
        if self._after[a] >> b & 1:
            return TRUE
        term = self._asked.get((a, b))
        if term is None:
            term = self._asked[a, b] = variable(f"{a}<{b}")
            self._asked[b, a] = ~term
        return term

    def constraints(self, limits: Limits | None = None) -> list[Term]:
        """What makes the pairs asked about until now a part of a total order.

        Raises LimitReached where that is too much, or no time is left.
        """
        found: list[Term] = []
        neighbours = self._graph()
        waiting = dict.fromkeys(neighbours)
        while waiting:
            vertex = min(waiting, key=lambda each: len(neighbours[each]))
            del waiting[vertex]
            around = sorted(neighbours.pop(vertex))
            for each in around:
                neighbours[each].discard(vertex)
            for a, b in combinations(around, 2):
                neighbours[a].add(b)
                neighbours[b].add(a)
                found += self._acyclic(vertex, a, b)
            if limits is not None:
                limits.remaining()
            if len(found) > _MOST:
                raise LimitReached(f"the order of events needs more than {_MOST:,} constraints")
        return found

    def _acyclic(self, a: int, b: int, c: int) -> Iterator[Term]:
        ab, bc, ca = self.before(a, b), self.before(b, c), self.before(c, a)
        for term in (any_of((ab, bc, ca)), any_of((~ab, ~bc, ~ca))):
            if term is not TRUE:
                yield term

    def _graph(self) -> dict[int, set[int]]:
        """The pairs asked about, and of what is known the steps that lead from one to the next."""
        neighbours: dict[int, set[int]] = {}
        for a, b in self._asked:
            neighbours.setdefault(a, set()).add(b)
        members = sum(1 << each for each in neighbours)
        for a in list(neighbours):
            later = self._after[a] & members
            direct = later
            for b in _bits(later):
                direct &= ~self._after[b]
            for b in _bits(direct):
                neighbours[a].add(b)
                neighbours[b].add(a)
        return neighbours

    def sorted(self, model: Model, members: Iterable[int]) -> list[int]:
        """Some of the numbers in an order that a model of the constraints describes."""
        graph = self._graph()
        edges = [
            (a, b)
            for a, around in graph.items()
            for b in around
            if self._after[a] >> b & 1 or ((a, b) in self._asked and model[self._asked[a, b]])
        ]
        edges += [(a, b) for a in range(len(self._after)) for b in _bits(self._after[a])]
        after = _closure(len(self._after), edges)
        return sorted(members, key=lambda each: (-after[each].bit_count(), each))


def _closure(size: int, pairs: Iterable[tuple[int, int]]) -> list[int]:
    """Per number a bit set of all that must come after it."""
    after = [0] * size
    for a, b in pairs:
        after[a] |= 1 << b
    for middle in range(size):
        bit, reach = 1 << middle, after[middle]
        for a in range(size):
            if after[a] & bit:
                after[a] |= reach
                if a == middle:
                    raise ValueError("the order that is known is circular")
    if any(after[each] >> each & 1 for each in range(size)):
        raise ValueError("the order that is known is circular")
    return after


def _bits(number: int) -> Iterator[int]:
    while number:
        lowest = number & -number
        yield lowest.bit_length() - 1
        number ^= lowest
