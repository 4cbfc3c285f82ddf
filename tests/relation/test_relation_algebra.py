"""Must, may and never, against the same algebra on plain sets under every assignment."""

import random
from dataclasses import dataclass

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from relation.concrete import (
    World,
    closed,
    expressions,
    relation_expressions,
    set_expressions,
)
from smt.truth import assignments, held, value

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
    Union,
)
from rspverify.relation.expression import Test as Question
from rspverify.relation.graded import Value
from rspverify.relation.terms import Terms, closure
from rspverify.smt.term import FALSE, TRUE, Term, all_of, variable

SETS = ("S", "T")
RELATIONS = ("r", "s")
VARIABLES = [variable(name) for name in "abcd"]
S, T = (Name(name, Sort.SET) for name in SETS)
r, s = (Name(name, Sort.RELATION) for name in RELATIONS)


class Evaluation:
    """The algebra of terms with values of names."""

    def __init__(self, executed: dict[int, Term], names: dict[str, Value]) -> None:
        self._algebra = Terms(executed)
        self._names = names

    def __call__(self, expression: Expression) -> Value:
        return self._algebra.value(expression, self._names)

    def holds(self, test: Question, expression: Expression) -> Term:
        return self._algebra.holds(test, expression, self._names)


@dataclass(frozen=True)
class Symbolic:
    """Names with must and may terms."""

    executed: dict[int, Term]
    sets: dict[str, dict[int, Term]]
    relations: dict[str, dict[tuple[int, int], Term]]

    def evaluation(self, **more: Value) -> Evaluation:
        return Evaluation(self.executed, {**self.sets, **self.relations, **more})

    def world(self, given_: dict[Term, bool]) -> World:
        """What the names are under an assignment."""
        return World(
            {event for event, term in self.executed.items() if value(term, given_)},
            {name: held(members, given_) for name, members in self.sets.items()},
            {name: held(pairs, given_) for name, pairs in self.relations.items()},
        )


TERMS = st.sampled_from(
    [TRUE, TRUE, FALSE, FALSE, *VARIABLES, *(~each for each in VARIABLES), VARIABLES[0] & ~VARIABLES[1]]
)  # fmt: skip


@st.composite
def symbolic(draw: st.DrawFn, events: int = 3) -> Symbolic:
    """Names over a few events; what is in them is executed."""
    executed = {
        event: draw(st.sampled_from([TRUE, TRUE, TRUE, VARIABLES[0], ~VARIABLES[1]]))
        for event in range(draw(st.integers(1, events)))
    }
    sets = {
        name: possible({event: draw(TERMS) & term for event, term in executed.items()})
        for name in SETS
    }
    relations = {
        name: possible(
            {
                (a, b): all_of([draw(TERMS), executed[a], executed[b]])
                for a in executed
                for b in executed
            }
        )
        for name in RELATIONS
    }
    return Symbolic(executed, sets, relations)


def possible(found: dict) -> dict:
    return {key: term for key, term in found.items() if term is not FALSE}


def check(names: Symbolic, expression: Expression) -> None:
    found = dict(names.evaluation()(expression))
    assert FALSE not in found.values()
    for given_ in assignments(VARIABLES):
        world = names.world(given_)
        is_set = expression.sort is Sort.SET
        expected = world.members(expression) if is_set else world.pairs(expression)
        assert held(found, given_) == expected


OPERATORS: list[Expression] = [
    Union(r, s),
    Intersection(r, s),
    Difference(r, s),
    Composition(r, s),
    Complement(r),
    Inverse(r),
    Optionally(r),
    Plus(r),
    Star(r),
    Product(S, T),
    Identity(S),
    Union(S, T),
    Intersection(S, T),
    Difference(S, T),
    Complement(S),
    Domain(r),
    Range(r),
    Nothing(Sort.SET),
    Nothing(Sort.RELATION),
]


@pytest.mark.parametrize("operator", OPERATORS, ids=str)
@settings(max_examples=40)
@given(names=symbolic())
def test_operator(operator: Expression, names: Symbolic) -> None:
    check(names, operator)


@settings(max_examples=100)
@given(symbolic(), expressions(SETS, RELATIONS))
def test_expression(names: Symbolic, expression: Expression) -> None:
    check(names, expression)


@settings(max_examples=60)
@given(symbolic(), set_expressions(SETS), relation_expressions(SETS, RELATIONS, 2))
def test_axioms(names: Symbolic, members: Expression, pairs: Expression) -> None:
    questions = [(test, pairs) for test in Question] + [(Question.EMPTY, members)]
    evaluation = names.evaluation()
    terms = [evaluation.holds(test, expression) for test, expression in questions]
    for given_ in assignments(VARIABLES):
        world = names.world(given_)
        for (test, expression), term in zip(questions, terms, strict=True):
            assert value(term, given_) == world.holds(test, expression)


@settings(max_examples=60)
@given(symbolic(), relation_expressions(SETS, RELATIONS, 2), relation_expressions(SETS, ["d"], 2))
def test_definitions_stand_for_their_expressions(
    names: Symbolic, definition: Expression, use: Expression
) -> None:
    found = dict(names.evaluation(d=names.evaluation()(definition))(use))
    for given_ in assignments(VARIABLES):
        world = names.world(given_)
        outer = World(world.executed, world.sets, {"d": world.pairs(definition)})
        assert held(found, given_) == outer.pairs(use)


# ---- what constants fold to ----------------------------------------------------------------------


def over(executed: dict[int, Term], r: dict[tuple[int, int], Term], **more: Value) -> Evaluation:
    return Evaluation(executed, {"r": r, **more})


def test_what_must_and_what_can_never_be_needs_no_solver() -> None:
    a = VARIABLES[0]
    value_of = over(dict.fromkeys(range(4), TRUE), {(0, 1): TRUE, (1, 2): a, (2, 0): TRUE})
    assert value_of(Complement(r)) == {
        (x, y): TRUE for x in range(4) for y in range(4) if (x, y) not in {(0, 1), (1, 2), (2, 0)}
    } | {(1, 2): ~a}
    assert value_of(Plus(r))[2, 1] is TRUE
    assert value_of(Plus(r))[1, 1] is a
    assert (3, 3) not in value_of(Plus(r))
    assert value_of(Star(r))[3, 3] is TRUE
    assert value_of(Difference(r, r)) == {}
    assert value_of(Intersection(r, Complement(r))) == {}
    assert value_of.holds(Question.EMPTY, r) is FALSE
    assert value_of.holds(Question.IRREFLEXIVE, r) is TRUE
    assert value_of.holds(Question.ACYCLIC, r) is ~a


def test_complement_is_over_executed_events() -> None:
    a = VARIABLES[0]
    value_of = over({0: TRUE, 1: a}, {}, S={0: TRUE})
    assert value_of(Complement(S)) == {1: a}
    assert value_of(Complement(r)) == {(0, 0): TRUE, (0, 1): a, (1, 0): a, (1, 1): a}
    assert value_of(Optionally(r)) == {(0, 0): TRUE, (1, 1): a}
    assert value_of(Star(r)) == {(0, 0): TRUE, (1, 1): a}


def test_an_event_that_is_never_executed_is_in_no_complement() -> None:
    assert over({0: TRUE, 1: FALSE}, {})(Complement(r)) == {(0, 0): TRUE}


def test_a_name_that_stands_for_something_else_is_evaluated_anew() -> None:
    algebra = Terms({0: TRUE, 1: TRUE})
    edge = {(0, 1): TRUE}
    assert algebra.value(Plus(r), {"r": edge}) == edge
    both = algebra.value(Union(r, Inverse(r)), {"r": edge})
    assert both == {(0, 1): TRUE, (1, 0): TRUE}
    assert set(algebra.value(Plus(r), {"r": both})) == {(0, 0), (0, 1), (1, 0), (1, 1)}
    assert algebra.value(Plus(r), {"r": edge}) == edge


# ---- transitive closure --------------------------------------------------------------------------


@settings(max_examples=100)
@given(
    st.dictionaries(st.tuples(st.integers(0, 5), st.integers(0, 5)), TERMS, max_size=14),
)
def test_closure_of_cyclic_graphs(edges: dict[tuple[int, int], Term]) -> None:
    edges = possible(edges)
    found = dict(closure(edges))
    for given_ in assignments(VARIABLES):
        assert held(found, given_) == closed(held(edges, given_))


@pytest.mark.parametrize("size", [2, 3, 4, 5, 6])
def test_closure_where_every_edge_may_be(size: int) -> None:
    """A complete graph with loops, each edge by itself: all cycles there are."""
    nodes = range(size)
    edges = {(a, b): variable(f"{a}{b}") for a in nodes for b in nodes}
    found = dict(closure(edges))
    rng = random.Random(size)
    for _ in range(150):
        density = rng.choice((0.15, 0.25, 0.4, 0.7))
        given_ = {edge: rng.random() < density for edge in edges.values()}
        assert held(found, given_) == closed(held(edges, given_))


def test_closure_of_a_long_cycle() -> None:
    size = 40
    certain = {(i, (i + 1) % size): TRUE for i in range(size)}
    assert closure(certain) == {(a, b): TRUE for a in range(size) for b in range(size)}
    a = VARIABLES[0]
    broken = dict(closure({**certain, (size - 1, 0): a}))
    assert all(broken[x, y] is (TRUE if x < y else a) for x in range(size) for y in range(size))


def test_closure_changes_nothing_that_is_given() -> None:
    edges = {(0, 1): VARIABLES[0], (1, 0): TRUE, (1, 2): VARIABLES[1]}
    before = dict(edges)
    closure(edges)
    assert edges == before
    assert closure({}) == {}
