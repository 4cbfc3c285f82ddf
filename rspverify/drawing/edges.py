"""Which edges of an execution a picture has: those that tell the others."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rspverify.axiomatic.execution import Pair
from rspverify.axiomatic.model import MemoryModel
from rspverify.drawing.evaluated import EvaluatedExecution
from rspverify.graph import nearest, successors
from rspverify.picture import Arrow

_INITIAL_FIRST = frozenset({"sb", "sw", "gsw", "lsw", "hb", "ghb", "lhb"})
"""Relations that have initial writes before everything, which goes without saying."""

_SEEN_IN = dict.fromkeys(("hb", "ghb", "lhb"), ("sb", "po", "sw", "gsw", "lsw"))
"""Relations from whose edges, where they are drawn, those of another may follow."""


def usual(model: MemoryModel) -> tuple[str, ...]:
    """The relations that are drawn unless others are asked for, as far as the model has them.

    They are sb, rf, mo, sw and hb, or what stands for them: po, co, gsw and lsw, ghb and lhb.
    """
    has_sb = "sb" in model.names or model.defines("sb")
    sequenced = "po" if "po" in model.names and not has_sb else "sb"
    found = [sequenced, "rf", *([model.coherence] if model.coherence else [])]
    found += [name for name in ("sw", "gsw", "lsw") if model.defines(name)]
    return (*found, *model.happens_before)


def arrows(
    execution: EvaluatedExecution, names: Sequence[str], bold: Iterable[Arrow] = ()
) -> tuple[Arrow, ...]:
    """The edges of some relations, of orders only those that the others follow from; bold ones too.

    Each edge is there once. Edges of sb, sw and hb that begin at an initial
    write are left out.
    """
    shown: dict[tuple[str, Pair], bool] = {}
    for name in names:
        for pair in _telling(execution, name, names):
            shown[name, pair] = False
    for edge in bold:
        shown[edge.name, (edge.source, edge.target)] = True
    return tuple(Arrow(name, a, b, bold) for (name, (a, b)), bold in shown.items())


def _telling(execution: EvaluatedExecution, name: str, names: Sequence[str]) -> list[Pair]:
    whole = execution.pairs(name)
    pairs = whole
    if name in _INITIAL_FIRST:
        pairs = frozenset(pair for pair in whole if not execution.events[pair[0]].initial)
    if not _transitive(whole):
        return sorted(pairs)
    others = [execution.pairs(other) for other in _SEEN_IN.get(name, ()) if other in names]
    return nearest(pairs, frozenset[Pair]().union(*others) & whole)


def _transitive(pairs: frozenset[Pair]) -> bool:
    """Whether the relation is, but for pairs of an event with itself."""
    after = successors(pairs)
    return all(after.get(b, set()) - {a} <= after[a] for a, b in pairs)
