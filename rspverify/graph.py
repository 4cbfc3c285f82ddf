"""Directed graphs as pairs of nodes: what leads where, circles, and which edges tell the others."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from graphlib import CycleError, TopologicalSorter
from typing import TypeVar

Node = TypeVar("Node", bound=Hashable)
Pairs = Iterable[tuple[Node, Node]]


def successors(pairs: Pairs[Node]) -> dict[Node, set[Node]]:
    """The nodes that each node leads to by one edge; those without are left out."""
    found: dict[Node, set[Node]] = {}
    for a, b in pairs:
        found.setdefault(a, set()).add(b)
    return found


def shortest_path(after: Mapping[int, set[int]], a: int, b: int) -> list[int] | None:
    """A shortest path from a to b, both included, of one edge or more; None if there is none.

    after: as of `successors`. Of several paths the first, comparing them node by node.
    """
    before: dict[int, int] = {}
    waiting = deque([a])
    while waiting and b not in before:
        node = waiting.popleft()
        for each in sorted(after.get(node, set()) - before.keys()):
            before[each] = node
            waiting.append(each)
    if b not in before:
        return None
    path = [b, before[b]]
    while path[-1] != a:
        path.append(before[path[-1]])
    return path[::-1]


def on_circle(leads: Mapping[Node, Iterable[Node]]) -> Node | None:
    """A node that leads to itself, directly or through others; None if there is none."""
    try:
        TopologicalSorter(leads).prepare()
    except CycleError as error:
        found: Node = error.args[1][0]
        return found
    return None


def circles(pairs: Pairs[Node]) -> list[frozenset[Node]]:
    """The largest sets of nodes each of which leads to each, itself included."""
    pairs = list(pairs)
    nodes = list(dict.fromkeys(node for pair in pairs for node in pair))
    place = {node: number for number, node in enumerate(nodes)}
    leads = [0] * len(nodes)
    for a, b in pairs:
        leads[place[a]] |= 1 << place[b]
    for middle in range(len(nodes)):
        for start, row in enumerate(leads):
            if row >> middle & 1:
                leads[start] = row | leads[middle]
    found = []
    for start, row in enumerate(leads):
        circle = [n for n, back in enumerate(leads) if row >> n & back >> start & 1]
        if circle[:1] == [start]:
            found.append(frozenset(nodes[n] for n in circle))
    return found


def components(
    nodes: Iterable[Node], leads: Callable[[Node], Iterable[Node]]
) -> Iterator[list[Node]]:
    """The largest sets of nodes each of which leads to each, also those of one node alone.

    One after those that it leads to, by Tarjan's algorithm (SIAM J. Computing 1, 1972).
    """
    number: dict[Node, int] = {}
    lowest: dict[Node, int] = {}
    open_: dict[Node, None] = {}
    for root in nodes:
        work: list[tuple[Node, Iterator[Node]]] = []
        coming: list[Node] = [] if root in number else [root]
        while coming or work:
            if coming:
                node = coming.pop()
                number[node] = lowest[node] = len(number)
                open_[node] = None
                work.append((node, iter(leads(node))))
            node, after = work[-1]
            for each in after:
                if each not in number:
                    coming.append(each)
                    break
                if each in open_:
                    lowest[node] = min(lowest[node], number[each])
            else:
                work.pop()
                if work:
                    lowest[work[-1][0]] = min(lowest[work[-1][0]], lowest[node])
                if lowest[node] == number[node]:
                    found = []
                    while node in open_:
                        found.append(open_.popitem()[0])
                    yield found[::-1]


def nearest(
    pairs: Iterable[tuple[int, int]], given: Iterable[tuple[int, int]] = ()
) -> list[tuple[int, int]]:
    """Pairs from which the others follow by transitivity, together with those that are given.

    Of an order that is its transitive reduction; of a relation with a cycle some such pairs.
    """
    pairs, known = set(pairs), set(given)
    after = successors(pairs | known)
    needed = []
    for a, b in sorted(pairs - known):
        after[a].remove(b)
        if shortest_path(after, a, b) is None:
            after[a].add(b)
            needed.append((a, b))
    return needed
