"""The algebra on plain sets of events and of pairs, to compare with, and random expressions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass
from itertools import combinations, product

from hypothesis import strategies as st

from rspverify.relation.expression import (
    Complement,
    Composition,
    Difference,
    Domain,
    Expression,
    Identity,
    Intersection,
    Inverse,
    Name,
    Nothing,
    Optionally,
    Plus,
    Product,
    Range,
    Sort,
    Star,
    Test,
    Union,
)

Pairs = Set[tuple[int, int]]


@dataclass(frozen=True)
class World:
    """One execution: its events, and the value of each name."""

    executed: Set[int]
    sets: Mapping[str, Set[int]]
    relations: Mapping[str, Pairs]

    def members(self, expression: Expression) -> Set[int]:
        """The value of an expression whose sort is SET."""
        match expression:
            case Name(name):
                return self.sets[name]
            case Union(left, right):
                return self.members(left) | self.members(right)
            case Intersection(left, right):
                return self.members(left) & self.members(right)
            case Difference(left, right):
                return self.members(left) - self.members(right)
            case Complement(argument):
                return self.executed - self.members(argument)
            case Domain(argument):
                return {a for a, _ in self.pairs(argument)}
            case Range(argument):
                return {b for _, b in self.pairs(argument)}
            case Nothing():
                return set()
        raise AssertionError(expression)

    def pairs(self, expression: Expression) -> Pairs:
        """The value of an expression whose sort is RELATION."""
        identity = {(a, a) for a in self.executed}
        match expression:
            case Name(name):
                return self.relations[name]
            case Union(left, right):
                return self.pairs(left) | self.pairs(right)
            case Intersection(left, right):
                return self.pairs(left) & self.pairs(right)
            case Difference(left, right):
                return self.pairs(left) - self.pairs(right)
            case Composition(left, right):
                return composed(self.pairs(left), self.pairs(right))
            case Product(left, right):
                return {(a, b) for a in self.members(left) for b in self.members(right)}
            case Identity(argument):
                return {(a, a) for a in self.members(argument)}
            case Complement(argument):
                everything = {(a, b) for a in self.executed for b in self.executed}
                return everything - self.pairs(argument)
            case Inverse(argument):
                return {(b, a) for a, b in self.pairs(argument)}
            case Optionally(argument):
                return self.pairs(argument) | identity
            case Plus(argument):
                return closed(self.pairs(argument))
            case Star(argument):
                return closed(self.pairs(argument)) | identity
            case Nothing():
                return set()
        raise AssertionError(expression)

    def holds(self, test: Test, expression: Expression) -> bool:
        """Whether an axiom holds."""
        if test is Test.EMPTY:
            of_sets = expression.sort is Sort.SET
            return not (self.members(expression) if of_sets else self.pairs(expression))
        pairs = self.pairs(expression)
        return all(a != b for a, b in (closed(pairs) if test is Test.ACYCLIC else pairs))


def composed(first: Iterable[tuple[int, int]], second: Pairs) -> Pairs:
    """Relational composition."""
    return {(a, d) for a, b in first for c, d in second if b == c}


def least(
    world: World, definitions: Iterable[tuple[str, Expression]]
) -> Mapping[str, Set[int] | Pairs]:
    """The least values that satisfy definitions by each other, by trying all that there are."""
    definitions = list(definitions)
    events = sorted(world.executed)
    pairs = [(a, b) for a in events for b in events]
    spaces = [subsets(events if each.sort is Sort.SET else pairs) for _, each in definitions]
    found: list[dict[str, Set]] = []
    for values in product(*spaces):
        chosen = {name: value for (name, _), value in zip(definitions, values, strict=True)}
        tried = World(world.executed, {**world.sets, **chosen}, {**world.relations, **chosen})
        made = {
            name: tried.members(each) if each.sort is Sort.SET else tried.pairs(each)
            for name, each in definitions
        }
        if made == chosen:
            found.append(chosen)
    (smallest,) = (
        one for one in found if all(one[name] <= other[name] for other in found for name in one)
    )
    return smallest


def subsets(of: Iterable[object]) -> list[Set]:
    """All subsets."""
    of = list(of)
    return [set(some) for size in range(len(of) + 1) for some in combinations(of, size)]


def closed(pairs: Pairs) -> Pairs:
    """The transitive closure."""
    found = set(pairs)
    while more := composed(found, pairs) - found:
        found |= more
    return found


def expressions(
    sets: Iterable[str], relations: Iterable[str], depth: int = 3
) -> st.SearchStrategy[Expression]:
    """Expressions of either sort over some names."""
    found = relation_expressions(sets, relations, depth)
    return set_expressions(sets, depth) | found | found.map(Domain) | found.map(Range)


def set_expressions(names: Iterable[str], depth: int = 2) -> st.SearchStrategy[Expression]:
    """Expressions whose sort is SET."""
    found: st.SearchStrategy[Expression] = st.sampled_from(
        [Nothing(Sort.SET), *(Name(each, Sort.SET) for each in names)]
    )
    for _ in range(depth):
        found = found | st.builds(Complement, found) | _pairs_of(found, found)
    return found


def relation_expressions(
    sets: Iterable[str], relations: Iterable[str], depth: int = 3
) -> st.SearchStrategy[Expression]:
    """Expressions whose sort is RELATION.

    Built and not mapped: a map over alternatives is an alternative for each, thousands of chains of
    one operand at this depth, which take long and leave the operators of two out.
    """
    named = st.sampled_from([Name(each, Sort.RELATION) for each in relations])
    members = set_expressions(sets, 1) | named.map(Domain) | named.map(Range)
    found: st.SearchStrategy[Expression] = (
        named
        | st.just(Nothing(Sort.RELATION))
        | members.map(Identity)
        | st.builds(Product, members, members)
    )
    for _ in range(depth):
        found = (
            found
            | _pairs_of(found, found)
            | st.builds(Composition, found, found)
            | st.builds(Complement, found)
            | st.builds(Inverse, found)
            | st.builds(Optionally, found)
            | st.builds(Plus, found)
            | st.builds(Star, found)
        )
    return found


def _pairs_of(
    left: st.SearchStrategy[Expression], right: st.SearchStrategy[Expression]
) -> st.SearchStrategy[Expression]:
    return (
        st.builds(Union, left, right)
        | st.builds(Intersection, left, right)
        | st.builds(Difference, left, right)
    )
