"""Orders as pairs: which of them are needed to see the others."""

from __future__ import annotations

from collections.abc import Iterable

import networkx

Pairs = Iterable[tuple[int, int]]


def nearest(pairs: Pairs) -> list[tuple[int, int]]:
    """The transitive reduction of a relation; the relation itself where it has a cycle."""
    graph = networkx.DiGraph(list(pairs))
    if not networkx.is_directed_acyclic_graph(graph):
        return sorted(graph.edges)
    return sorted(networkx.transitive_reduction(graph).edges)
