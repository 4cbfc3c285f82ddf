"""Small graphs, against networkx."""

from __future__ import annotations

import networkx
from hypothesis import given
from hypothesis import strategies as st
from relation.concrete import closed

from rspverify.graph import circles, nearest, shortest_path, successors

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


@given(PAIRS)
def test_circles_are_the_strongly_connected_components(
    pairs: frozenset[tuple[int, int]],
) -> None:
    graph = networkx.DiGraph(list(pairs))
    expected = [
        frozenset(each)
        for each in networkx.strongly_connected_components(graph)
        if len(each) > 1 or graph.has_edge(*(2 * tuple(each)))
    ]
    found = circles(pairs)
    assert set(found) == set(expected)
    assert len(found) == len(expected)


@given(PAIRS, st.integers(0, 5), st.integers(0, 5))
def test_a_path_is_a_shortest_one(pairs: frozenset[tuple[int, int]], a: int, b: int) -> None:
    """Of one edge or more; of those that are as short the first."""
    graph = networkx.DiGraph(list(pairs))
    graph.add_nodes_from((a, b))
    paths = [
        [a, *path]
        for after in successors(pairs).get(a, ())
        if networkx.has_path(graph, after, b)
        for path in networkx.all_shortest_paths(graph, after, b)
    ]
    expected = min(paths, key=lambda path: (len(path), path), default=None)
    assert shortest_path(successors(pairs), a, b) == expected


def test_many_nodes() -> None:
    """A line with a circle at its end, longer than calls of functions may be deep."""
    line = [(at, at + 1) for at in range(3000)]
    assert shortest_path(successors(line), 0, 3000) == list(range(3001))
    assert circles([*line[:300], (300, 290)]) == [frozenset(range(290, 301))]
