"""The pairs that are needed to see the others: none too many, none too few."""

from __future__ import annotations

import networkx
from hypothesis import given
from hypothesis import strategies as st
from relation.concrete import closed

from rspverify.relation.order import nearest

PAIRS = st.frozensets(st.tuples(st.integers(0, 5), st.integers(0, 5)), max_size=12)


@given(PAIRS, PAIRS)
def test_the_others_follow_and_none_follows_from_the_rest(
    pairs: frozenset[tuple[int, int]], known: frozenset[tuple[int, int]]
) -> None:
    needed = set(nearest(pairs, known))
    assert needed <= pairs - known
    assert closed(needed | known) == closed(pairs | known)
    assert all(pair not in closed((needed | known) - {pair}) for pair in needed)


@given(PAIRS)
def test_of_an_order_it_is_the_transitive_reduction(pairs: frozenset[tuple[int, int]]) -> None:
    order = {(a, b) for a, b in pairs if a < b}
    reduced = networkx.transitive_reduction(networkx.DiGraph(list(closed(order))))
    assert set(nearest(closed(order))) == set(reduced.edges)
