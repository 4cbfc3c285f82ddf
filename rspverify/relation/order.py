"""Orders as pairs: which of them are needed to see the others."""

from __future__ import annotations

from collections.abc import Iterable

Pairs = Iterable[tuple[int, int]]


def nearest(pairs: Pairs, given: Pairs = ()) -> list[tuple[int, int]]:
    """Pairs from which the others follow by transitivity, together with those that are given.

    Of an order that is its transitive reduction; of a relation with a cycle some such pairs.
    """
    import networkx  # Late, as loading it takes longer than most commands.

    known = set(given)
    graph = networkx.DiGraph([*known, *pairs])
    needed = []
    for a, b in sorted(set(pairs) - known):
        graph.remove_edge(a, b)
        if not any(networkx.has_path(graph, after, b) for after in graph.successors(a)):
            graph.add_edge(a, b)
            needed.append((a, b))
    return needed
