"""One execution with the values of all names: its edges, and why an axiom does not hold of it.

That is the edges of a shortest cycle, or of a pair.

A pair of a relation is witnessed along the relation's expression: of `a; b` by a witness of a up to
some event and one of b from there, of `a | b` by one of either, of `r+` by those of a shortest
path. What has a name that readers know is one edge.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import TypeAlias, assert_never

from msgspec import Struct

from rspverify.axiomatic.enumeration import base_value
from rspverify.axiomatic.event import Event
from rspverify.axiomatic.execution import Execution, Pair
from rspverify.axiomatic.interpretation import Scope, interpret
from rspverify.axiomatic.model import Axiom, Linearisation, MemoryModel
from rspverify.axiomatic.vocabulary import (
    CO,
    DERIVED,
    FINAL_WRITES,
    MO,
    RELATIONS,
    SETS,
    names_beneath,
)
from rspverify.graph import nearest, shortest_path, successors
from rspverify.picture import Arrow
from rspverify.relation import expression as operators
from rspverify.relation.concrete import Concrete, Value, members, pairs_of, related
from rspverify.relation.expression import Expression, Name, Sort, Test

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
        of_sets = name in SETS or name == FINAL_WRITES
        if name in self.end.definitions:
            of_sets = self.end.definitions[name][0].sort is Sort.SET
        return frozenset() if of_sets else frozenset(pairs_of(value, len(self.events)))

    def _linearised(self, asked: Linearisation, values: Mapping[str, Value]) -> Value:
        found = self._execution.pairs(self._execution.candidates.linearised[asked])
        return related(found, len(self.events))

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
        return related(execution.pairs(found), len(self.events))


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


# ---- why an axiom does not hold ------------------------------------------------------------------


KNOWN = frozenset(
    {"rf", "rfe", "rfi", "mo", "co", "coe", "coi", "fr", "fre", "fri", "rb", "lo"}
    | {"sb", "po", "sw", "gsw", "lsw", "hb", "ghb", "lhb"}
)
"""Relations that a picture names; their definitions are not looked into."""

_GIVEN = frozenset({"loc", "int", "ext", "thd", "wi", "wg", "swg", "dv", "dev", "sdv", "unv", "id"})
"""Relations that hold whatever happens: of an intersection the other side tells more."""

Edges: TypeAlias = tuple[Arrow, ...]


class Violation(Struct, frozen=True):
    """What breaks an axiom: a cycle or a pair of events, and the edges that make it one.

    events: a cycle of the axiom's relation, in order; a pair of it; or a member of its set.
    """

    axiom: Axiom
    events: tuple[int, ...]
    edges: Edges

    @property
    def involved(self) -> frozenset[int]:
        """The events, and those that the edges pass through."""
        return frozenset(self.events).union(*({it.source, it.target} for it in self.edges))


def violation(axiom: Axiom, execution: EvaluatedExecution) -> Violation | None:
    """A shortest explanation of why the axiom does not hold; None if it does.

    A negated axiom is broken by what is not there: nothing is shown then.
    """
    search = _Search(execution)
    scope = execution.at[axiom.name]
    if axiom.negated:  # what is missing cannot be shown
        return Violation(axiom, (), ())
    if axiom.expression.sort is Sort.SET:
        members_of = search.members(axiom.expression, scope)
        return Violation(axiom, (members_of[0],), ()) if members_of else None
    if axiom.test is Test.ACYCLIC:
        return _on_cycle(axiom, search, scope)
    pairs = search.pairs(axiom.expression, scope)
    if axiom.test is Test.IRREFLEXIVE:
        pairs = [pair for pair in pairs if pair[0] == pair[1]]
    found = []
    for a, b in pairs:
        edges = search.witness(axiom.expression, scope, a, b)
        edges += search.excess(axiom.expression, scope, a, b)
        found.append(Violation(axiom, tuple(dict.fromkeys((a, b))), tuple(dict.fromkeys(edges))))
    return min(found, key=lambda each: (len(each.edges), each.events), default=None)


def _on_cycle(axiom: Axiom, search: _Search, scope: Scope[Value]) -> Violation | None:
    after = successors(search.pairs(axiom.expression, scope))
    found = (shortest_path(after, start, start) for start in after)
    cycles = [tuple(path[1:]) for path in found if path is not None]
    if not cycles:
        return None
    cycle = min(cycles, key=lambda each: (len(each), each))
    steps = zip(cycle, cycle[1:] + cycle[:1], strict=True)
    edges = [edge for a, b in steps for edge in search.witness(axiom.expression, scope, a, b)]
    return Violation(axiom, cycle, tuple(dict.fromkeys(edges)))


class _Search:
    """Witnesses of pairs in one execution, each found once."""

    def __init__(self, execution: EvaluatedExecution) -> None:
        self._execution = execution
        self._values: dict[tuple[int, int], tuple[Expression, Scope[Value], list[Pair]]] = {}
        self._known: dict[tuple[int, int, int, int], Edges] = {}

    def pairs(self, expression: Expression, scope: Scope[Value]) -> list[Pair]:
        """The pairs of a relation, ascending."""
        key = id(expression), id(scope)
        if key not in self._values:  # what is kept alive keeps its id
            found = self._execution.value(expression, scope)
            self._values[key] = expression, scope, pairs_of(found, len(self._execution.events))
        return self._values[key][2]

    def members(self, expression: Expression, scope: Scope[Value]) -> list[int]:
        """The members of a set, ascending."""
        return list(members(self._execution.value(expression, scope)))

    def witness(self, expression: Expression, scope: Scope[Value], a: int, b: int) -> Edges:
        """The fewest edges that show that (a, b), a pair of the relation, is one."""
        self.pairs(expression, scope)
        key = id(expression), id(scope), a, b
        if key not in self._known:
            self._known[key] = self._witness(expression, scope, a, b)
        return self._known[key]

    def _witness(self, expression: Expression, scope: Scope[Value], a: int, b: int) -> Edges:
        match expression:
            case Name(name):
                if name in KNOWN or name not in scope.definitions:
                    return (Arrow(name, a, b),)
                return self.witness(*scope.definitions[name], a, b)
            case operators.Composition(left, right):
                return self._composition(left, right, scope, a, b)
            case operators.Union(left, right):
                sides = [each for each in (left, right) if self._has(each, scope, a, b)]
                return _shortest(self.witness(each, scope, a, b) for each in sides)
            case operators.Intersection(left, right):
                return _tells_most(self.witness(each, scope, a, b) for each in (left, right))
            case operators.Difference(left, _):
                return self.witness(left, scope, a, b)
            case operators.Identity():
                return ()
            case operators.Inverse(argument):
                return self.witness(argument, scope, b, a)
            case operators.Optionally(argument):
                return () if a == b else self.witness(argument, scope, a, b)
            case operators.Plus(argument):
                return self._path(argument, scope, a, b)
            case operators.Star(argument):
                return () if a == b else self._path(argument, scope, a, b)
            case operators.Complement() | operators.Product():
                return (Arrow(str(expression), a, b),)
            case operators.Nothing() | operators.Domain() | operators.Range():
                raise AssertionError(f"no pair is in {expression}")
            case _:
                assert_never(expression)

    def _has(self, expression: Expression, scope: Scope[Value], a: int, b: int) -> bool:
        return (a, b) in self.pairs(expression, scope)

    def _composition(
        self, left: Expression, right: Expression, scope: Scope[Value], a: int, b: int
    ) -> Edges:
        middles = [x for _, x in self._from(left, scope, a) if self._has(right, scope, x, b)]
        return _shortest(
            self.witness(left, scope, a, x) + self.witness(right, scope, x, b) for x in middles
        )

    def _from(self, expression: Expression, scope: Scope[Value], a: int) -> list[Pair]:
        return [pair for pair in self.pairs(expression, scope) if pair[0] == a]

    def _path(self, step: Expression, scope: Scope[Value], a: int, b: int) -> Edges:
        """The witnesses of the steps from a to b, at least one."""
        path = shortest_path(successors(self.pairs(step, scope)), a, b)
        assert path is not None
        return tuple(edge for x, y in pairwise(path) for edge in self.witness(step, scope, x, y))

    def excess(self, expression: Expression, scope: Scope[Value], a: int, b: int) -> Edges:
        """Of a pair in `p \\ q`, what excludes it from q, if that is itself a pair of a relation.

        A pair that q = r \\ s excludes as it is in s shows why, as where a write comes in between.
        """
        if not isinstance(expression, operators.Difference):
            return ()
        right, at = expression.right, scope
        while isinstance(right, Name) and right.name not in KNOWN:
            if right.name not in at.definitions:
                return ()
            right, at = at.definitions[right.name]
        if isinstance(right, operators.Difference) and self._has(right.right, at, a, b):
            return self.witness(right.right, at, a, b)
        return ()


def _shortest(witnesses: Iterable[Edges]) -> Edges:
    return min(witnesses, key=len)


def _tells_most(witnesses: Iterable[Edges]) -> Edges:
    """The witness of known relations, or at least of some that do not always hold."""

    def vague(witness: Edges) -> tuple[int, int, int]:
        given = sum(edge.name in _GIVEN for edge in witness)
        unknown = sum(edge.name not in KNOWN for edge in witness)
        return given, unknown, len(witness) if witness else 1_000

    return min(witnesses, key=vague)
