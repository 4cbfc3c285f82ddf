"""Recursive definitions: the least values that satisfy them, found by trying all values."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from relation.concrete import World, closed, least
from relation.test_concrete import mask, names_of, rows, worlds
from relation.test_relation_algebra import VARIABLES, Symbolic, symbolic
from smt.truth import assignments, held, value

from rspverify.limits import LimitReached, Limits
from rspverify.relation.calculation import Calculation
from rspverify.relation.concrete import Concrete
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
    Union,
)
from rspverify.relation.terms import Sharing, Terms
from rspverify.smt.term import FALSE, TRUE, variable

r, s, x, y = (Name(name, Sort.RELATION) for name in "rsxy")
S, X = (Name(name, Sort.SET) for name in "SX")


SETS = st.sampled_from([S, X, Complement(S), Nothing(Sort.SET)])
RELATIONS = st.sampled_from([r, s, x, x, y, Complement(r), Identity(S), Nothing(Sort.RELATION)])


def growing(depth: int) -> st.SearchStrategy[Expression]:
    """Relations that can only grow with x, y and X."""
    found: st.SearchStrategy[Expression] = RELATIONS | st.builds(Product, SETS, SETS)
    for _ in range(depth):
        found = (
            found
            | st.builds(Union, found, found)
            | st.builds(Intersection, found, found)
            | st.builds(Composition, found, found)
            | st.builds(lambda one, other: Difference(one, other), found, st.sampled_from([r, s]))
            | found.map(Inverse)
            | found.map(Plus)
            | found.map(Optionally)
            | found.map(Domain).map(Identity)
        )
    return found


DEFINITIONS = st.tuples(
    growing(2).map(lambda each: ("x", each)),
    growing(2).map(lambda each: ("y", each)),
)
WITH_A_SET = st.tuples(
    growing(2).map(lambda each: ("x", each)),
    (SETS | growing(1).map(Range) | growing(1).map(Domain)).map(lambda each: ("X", each)),
)


@settings(max_examples=40)
@given(symbolic(2), DEFINITIONS | WITH_A_SET)
def test_terms(names: Symbolic, definitions: tuple[tuple[str, Expression], ...]) -> None:
    known = {**names.sets, **names.relations, "y": {}, "X": {}}
    found = Terms(names.executed).least(definitions, known)
    assert not any(FALSE in each.values() for each in found.values())
    for given_ in assignments(VARIABLES):
        world = with_nothing(names.world(given_))
        expected = least(world, definitions)
        assert {name: held(each, given_) for name, each in found.items()} == expected


@settings(max_examples=40)
@given(worlds(2), DEFINITIONS | WITH_A_SET)
def test_values(world: World, definitions: tuple[tuple[str, Expression], ...]) -> None:
    size, world = len(world.executed), with_nothing(world)
    names = names_of(world)
    found = Concrete(size).least(definitions, names)
    for name, each in least(world, definitions).items():
        is_set = dict(definitions)[name].sort is Sort.SET
        assert found[name] == (mask(each) if is_set else rows(each, size))
    assert found.keys() == dict(definitions).keys()


@settings(max_examples=40)
@given(worlds(3), DEFINITIONS | WITH_A_SET)
def test_calculation(world: World, definitions: tuple[tuple[str, Expression], ...]) -> None:
    size, names = len(world.executed), names_of(with_nothing(world))
    calculation = Calculation(["S", "X", "r", "y"], ["s"])
    scope = dict(calculation.given)
    places = calculation.least(definitions, scope)
    values = calculation.values({name: names[name] for name in calculation.given})
    calculation.run(calculation.needed(places.values()), values, size)
    expected = Concrete(size).least(definitions, names)
    for name, place in places.items():
        assert values[place] == expected[name]
        mentions = any("s" in str(each) for _, each in definitions)
        assert calculation.depends(place) == (frozenset("s") if mentions else frozenset())


def with_nothing(world: World) -> World:
    """The same where y and X are nothing, unless they are defined."""
    return World(world.executed, {"X": set(), **world.sets}, {"y": set(), **world.relations})


@pytest.mark.parametrize(
    "definition",
    [Union(s, Composition(x, x)), Union(s, Composition(x, s)), Union(s, Composition(s, x))],
    ids=str,
)
@pytest.mark.parametrize("size", [2, 3, 4])
def test_closure_where_every_edge_may_be(definition: Expression, size: int) -> None:
    """No two rounds have equal terms here: the number of rounds is bounded by the pairs."""
    edges = {(a, b): variable(f"{a}{b}") for a in range(size) for b in range(size)}
    algebra = Terms(dict.fromkeys(range(size), TRUE))
    found = algebra.least([("x", definition)], {"s": edges})["x"]
    chosen = list(edges.values())
    for number in range(0, 2 ** len(chosen), 1 if size < 4 else 97):
        given_ = {each: bool(number >> place & 1) for place, each in enumerate(chosen)}
        assert held(found, given_) == closed(held(edges, given_))


def test_names_that_are_defined_hide_earlier_ones() -> None:
    algebra = Terms(dict.fromkeys(range(3), TRUE))
    names = {"r": {(0, 1): TRUE, (1, 2): TRUE}, "x": {(2, 2): TRUE}}
    assert algebra.value(Union(x, r), names)[2, 2] is TRUE
    found = {**names, **algebra.least([("x", Union(r, Composition(x, x)))], names)}
    assert found["x"] == {(0, 1): TRUE, (1, 2): TRUE, (0, 2): TRUE}
    assert algebra.value(Union(x, r), found) == found["x"]


def test_too_many_rounds_are_a_limit() -> None:
    size = 60
    algebra = Terms(dict.fromkeys(range(size), TRUE), Limits(seconds=1.0))
    edges = {(a, b): variable(f"{a}{b}") for a in range(size) for b in range(size)}
    with pytest.raises(LimitReached):
        algebra.least([("x", Union(r, Composition(x, x)))], {"r": edges})


def test_terms_that_are_built_alike_are_one() -> None:
    a, b, c, _ = VARIABLES
    sharing = Sharing()
    one, other = (a & b) | ~(b & c), ~(c & b) | (b & a)
    assert one is not other
    assert sharing.term(one) is sharing.term(other)
    for given_ in assignments(VARIABLES):
        assert value(sharing.term(one), given_) == value(one, given_)
    assert sharing.term(a) is a
    assert sharing.term((a & b) | (b & a)) is sharing.term(b & a)
