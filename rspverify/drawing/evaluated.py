"""One execution with the values of all names of its model, and the edges of it that are drawn."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from rspverify.axiomatic.enumeration import base_value
from rspverify.axiomatic.event import Event
from rspverify.axiomatic.execution import Execution, Pair
from rspverify.axiomatic.interpretation import Scope, interpret
from rspverify.axiomatic.model import Linearisation, MemoryModel
from rspverify.axiomatic.vocabulary import (
    CO,
    DERIVED,
    FINAL_WRITES,
    MO,
    RELATIONS,
    SETS,
    names_beneath,
)
from rspverify.graph import nearest, successors
from rspverify.picture import Arrow
from rspverify.relation.concrete import Concrete, Rows, Value, members
from rspverify.relation.expression import Expression

_INITIAL_FIRST = frozenset({"sb", "sw", "gsw", "lsw", "hb", "ghb", "lhb"})
"""Relations that have initial writes before everything, which goes without saying."""

_SEEN_IN = dict.fromkeys(("hb", "ghb", "lhb"), ("sb", "po", "sw", "gsw", "lsw"))
"""Relations from whose edges, where they are drawn, those of another may follow."""


class EvaluatedExecution:
    """An execution, and what each name stands for. A place is the number of an event.

    events: as in the execution. at: the scope where each axiom stands, by its name. end: the scope
    at the end of the model.
    """

    def __init__(self, execution: Execution) -> None:
        self._execution = execution
        self.events: tuple[Event, ...] = execution.events
        self._algebra = Concrete(len(self.events))
        model = execution.candidates.model
        base = {name: self._base(name) for name in model.names - DERIVED.keys()}
        found = interpret(model, base, self._algebra, self._linearised)
        self.at, self.end = found.at, found.end

    def value(self, expression: Expression, scope: Scope[Value]) -> Value:
        """The value of an expression whose names have these meanings."""
        return self._algebra.value(expression, scope.values)

    def pairs(self, name: str) -> frozenset[Pair]:
        """A relation of the model, or a base relation, as pairs of places."""
        found = self.end.values.get(name)
        value = self._base(name) if found is None else found
        return frozenset(pairs_of(value)) if isinstance(value, tuple) else frozenset()

    def _linearised(self, asked: Linearisation, values: Mapping[str, Value]) -> Value:
        return self._rows(self._execution.pairs(self._execution.candidates.linearised[asked]))

    def _base(self, name: str) -> Value:
        """The value of a base name, whether the model mentions it or not."""
        if name in SETS or name in RELATIONS:
            return base_value(name, self.events)
        if name in DERIVED:
            beneath = names_beneath(frozenset({name})) - DERIVED.keys()
            return self._algebra.value(DERIVED[name], {it: self._base(it) for it in beneath})
        execution, candidates = self._execution, self._execution.candidates
        if name == FINAL_WRITES:
            return sum(1 << place for place in execution.members(candidates.final_writes))
        found = candidates.witness[name]
        if name in (MO, CO):  # the one that the model does not mention is drawn as the other
            found = found or candidates.coherence
        return self._rows(execution.pairs(found))

    def _rows(self, pairs: Iterable[Pair]) -> Rows:
        rows = [0] * len(self.events)
        for a, b in pairs:
            rows[a] |= 1 << b
        return tuple(rows)


def pairs_of(rows: Rows) -> list[Pair]:
    """A relation as pairs, ascending."""
    return [(a, b) for a, row in enumerate(rows) for b in members(row)]


# ---- edges ---------------------------------------------------------------------------------------


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
