"""Which edges of an execution a picture has: those that tell the others."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rspverify.axiomatic.blame import Edge
from rspverify.axiomatic.realised import Pair, RealisedExecution
from rspverify.relation.order import nearest
from rspverify.report import Arrow

USUAL = ("sb", "rf", "mo", "sw", "hb")
"""The relations that are drawn unless others are asked for, as far as the model has them."""

_OTHERWISE = {"sb": "po", "mo": "co"}
"""What stands for a relation in models that do not have it."""

_INITIAL_FIRST = frozenset({"sb", "hb"})
"""Relations that have initial writes before everything, which goes without saying."""

_SEEN_IN = {"hb": ("sb", "po", "sw")}
"""Edges that are left out where another relation that is drawn has them."""


def usual(has: Iterable[str]) -> tuple[str, ...]:
    """The relations to draw of a model that has so many names."""
    names = set(has)
    found = [name if name in names else _OTHERWISE.get(name, name) for name in USUAL]
    return tuple(name for name in found if name in names)


def arrows(
    execution: RealisedExecution, names: Sequence[str], bold: Iterable[Edge] = ()
) -> tuple[Arrow, ...]:
    """The edges of some relations, of orders only those that the others follow from; bold ones too.

    Each edge is there once. The edges of sb and hb that begin at an initial write are left out.
    """
    shown: dict[tuple[str, Pair], bool] = {}
    for name in names:
        for pair in _telling(execution, name, names):
            shown[name, pair] = False
    for edge in bold:
        shown[edge.name, (edge.source, edge.target)] = True
    return tuple(Arrow(name, a, b, bold) for (name, (a, b)), bold in shown.items())


def _telling(execution: RealisedExecution, name: str, names: Sequence[str]) -> list[Pair]:
    pairs = execution.pairs(name)
    found = nearest(pairs) if _transitive(pairs) else sorted(pairs)
    if name in _INITIAL_FIRST:
        found = [pair for pair in found if not execution.events[pair[0]].initial]
    for other in _SEEN_IN.get(name, ()):
        if other in names:
            known = execution.pairs(other)
            found = [pair for pair in found if pair not in known]
    return found


def _transitive(pairs: frozenset[Pair]) -> bool:
    after: dict[int, set[int]] = {}
    for a, b in pairs:
        after.setdefault(a, set()).add(b)
    return all(after.get(b, set()) <= after[a] for a, b in pairs)
