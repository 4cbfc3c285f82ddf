"""Directed graphs as pairs of nodes: what leads where, circles, and which edges tell the others.

And the search through one that is told step by step.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from graphlib import CycleError, TopologicalSorter
from typing import Generic, TypeVar

from rspverify.limits import LimitReached, Limits

Node = TypeVar("Node", bound=Hashable)
Step = TypeVar("Step")
Pairs = Iterable[tuple[Node, Node]]

_CLOCK_EVERY = 2048


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
    after = successors(pairs)
    every = components(after, lambda node: after.get(node, ()))
    return [frozenset(it) for it in every if len(it) > 1 or it[0] in after.get(it[0], ())]


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


class BreadthFirst(Generic[Node, Step]):
    """States by their distance from the first ones, each once, and numbered so; those that follow
    are to be told. called: what they are, in messages."""

    def __init__(self, starts: Iterable[Node], limits: Limits, called: str = "states") -> None:
        self.states = [*dict.fromkeys(starts)]
        self.limits, self._called = limits, called
        self._number = {state: place for place, state in enumerate(self.states)}
        self._came: list[tuple[int, Step] | None] = [None] * len(self.states)

    def __iter__(self) -> Iterator[int]:
        """Each state by its number. Raises LimitReached."""
        place = 0
        while place < len(self.states):
            yield place
            place += 1
            if len(self.states) > self.limits.states:
                raise LimitReached(f"more than {self.limits.states:,} {self._called}")
            if place % _CLOCK_EVERY == 1:
                self.limits.remaining()

    def reach(self, place: int, step: Step, after: Node) -> int:
        """The number of the state after a step."""
        number = self._number.get(after)
        if number is None:
            number = self._number[after] = len(self.states)
            self.states.append(after)
            self._came.append((place, step))
        return number

    def path_to(self, place: int) -> tuple[Step, ...]:
        """The steps that led to a state."""
        found: list[Step] = []
        step = self._came[place]
        while step is not None:
            found.append(step[1])
            step = self._came[step[0]]
        return tuple(reversed(found))
