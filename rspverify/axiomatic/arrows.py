"""Which edges of an execution a picture has: those that tell the others."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rspverify.axiomatic.blame import Edge
from rspverify.axiomatic.model import MemoryModel
from rspverify.axiomatic.realised import Pair, RealisedExecution
from rspverify.relation.order import nearest
from rspverify.report import Arrow

_INITIAL_FIRST = frozenset({"sb", "hb", "ghb", "lhb"})
"""Relations that have initial writes before everything, which goes without saying."""

_SEEN_IN = dict.fromkeys(("hb", "ghb", "lhb"), ("sb", "po", "sw", "gsw", "lsw"))
"""Edges that are left out where another relation that is drawn has them."""


def usual(model: MemoryModel) -> tuple[str, ...]:
    """The relations that are drawn unless others are asked for, as far as the model has them.

    They are sb, rf, mo, sw and hb, or what stands for them: po, co, gsw and lsw, ghb and lhb.
    """
    sequenced = "po" if "po" in model.names and "sb" not in model.names else "sb"
    found = [sequenced, "rf", *([model.coherence] if model.coherence else [])]
    found += [name for name in ("sw", "gsw", "lsw") if model.defines(name)]
    return (*found, *model.happens_before)


def arrows(
    execution: RealisedExecution, names: Sequence[str], bold: Iterable[Edge] = ()
) -> tuple[Arrow, ...]:
    """The edges of some relations, of orders only those that the others follow from; bold ones too.

    Each edge is there once. Edges of sb and hb that begin at an initial write are left out.
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
