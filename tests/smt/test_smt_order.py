"""The order as terms, against all permutations: exactly their projections are models."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations, permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rspverify.limits import LimitReached
from rspverify.smt.order import Order
from rspverify.smt.solver import Model, Solver
from rspverify.smt.term import FALSE, TRUE, Term, all_of

Pairs = list[tuple[int, int]]
PROPERTY = settings(max_examples=120, derandomize=True)


@st.composite
def questions(draw: st.DrawFn, most: int = 6) -> tuple[int, Pairs, Pairs]:
    """A size, pairs that are known (of some total order), and pairs that are asked about."""
    size = draw(st.integers(1, most))
    hidden = draw(st.permutations(range(size)))
    pairs = list(combinations(hidden, 2))
    known = draw(st.lists(st.sampled_from(pairs), max_size=5)) if pairs else []
    every = list(permutations(range(size), 2))
    asked = draw(st.lists(st.sampled_from(every), max_size=12)) if every else []
    return size, known, asked


def described(solver: Solver, terms: list[Term]) -> Iterable[tuple[Model, tuple[bool, ...]]]:
    """Each assignment of some terms that a model has, with such a model."""
    while (model := solver.find()) is not None:
        values = tuple(model[term] for term in terms)
        yield model, values
        solver.add(
            ~all_of(term if holds else ~term for term, holds in zip(terms, values, strict=True))
        )


def orders(size: int, known: Pairs) -> list[tuple[int, ...]]:
    """The permutations in which every known pair is in that order."""
    return [
        each
        for each in permutations(range(size))
        if all(each.index(a) < each.index(b) for a, b in known)
    ]


def projections(size: int, known: Pairs, asked: Pairs) -> set[tuple[bool, ...]]:
    return {tuple(each.index(a) < each.index(b) for a, b in asked) for each in orders(size, known)}


@PROPERTY
@given(questions())
def test_models_are_the_projections_of_total_orders(question: tuple[int, Pairs, Pairs]) -> None:
    size, known, asked = question
    order = Order(size, known)
    terms = [order.before(a, b) for a, b in asked]
    solver = Solver()
    solver.add(*order.constraints())
    found = []
    for model, values in described(solver, terms):
        found.append(values)
        line = order.sorted(model, range(size))
        assert tuple(line) in orders(size, known)
        assert tuple(line.index(a) < line.index(b) for a, b in asked) == values
    assert set(found) == projections(size, known, asked)
    assert len(found) == len(set(found))


@PROPERTY
@given(questions(5), st.data())
def test_more_may_be_asked_later(question: tuple[int, Pairs, Pairs], data: st.DataObject) -> None:
    """Constraints that were taken before more was asked still hold, together with those after."""
    size, known, asked = question
    order = Order(size, known)
    some = data.draw(st.integers(0, len(asked)))
    solver = Solver()
    terms = [order.before(a, b) for a, b in asked[:some]]
    solver.add(*order.constraints())
    terms += [order.before(a, b) for a, b in asked[some:]]
    solver.add(*order.constraints())
    assert {values for _, values in described(solver, terms)} == projections(size, known, asked)


@PROPERTY
@given(questions())
def test_what_is_known_or_impossible_is_constant(question: tuple[int, Pairs, Pairs]) -> None:
    size, known, _ = question
    order = Order(size, known)
    for a, b in permutations(range(size), 2):
        seen = {each.index(a) < each.index(b) for each in orders(size, known)}
        if len(seen) == 1:
            assert order.before(a, b) is (TRUE if True in seen else FALSE)
        else:
            assert order.before(a, b) is ~order.before(b, a)
            assert order.before(a, b) not in (TRUE, FALSE)
    for a in range(size):
        assert order.before(a, a) is FALSE


@PROPERTY
@given(questions(), st.data())
def test_some_are_sorted_as_all_are(
    question: tuple[int, Pairs, Pairs], data: st.DataObject
) -> None:
    size, known, asked = question
    order = Order(size, known)
    for a, b in asked:
        order.before(a, b)
    solver = Solver()
    solver.add(*order.constraints())
    model = solver.find()
    assert model is not None
    members = data.draw(st.sets(st.integers(0, size - 1)))
    line = order.sorted(model, range(size))
    assert order.sorted(model, members) == [each for each in line if each in members]


def test_a_long_cycle_is_forbidden() -> None:
    """Of a ring of pairs that share no third element all but two orientations are left."""
    size = 9
    order = Order(size, [])
    ring = [order.before(a, (a + 1) % size) for a in range(size)]
    for turned in (ring, [~each for each in ring]):
        solver = Solver()
        solver.add(*order.constraints(), *turned)
        assert solver.find() is None
        almost = Solver()
        almost.add(*order.constraints(), *turned[1:])
        assert almost.find() is not None


def test_a_cycle_through_what_is_known_is_forbidden() -> None:
    """The chain 0 < 1 < 2 is known, nobody asks about 1, and 3 cannot be after 2 and before 0."""
    order = Order(4, [(0, 1), (1, 2)])
    solver = Solver()
    solver.add(order.before(2, 3), order.before(3, 0), *order.constraints())
    assert solver.find() is None


@pytest.mark.parametrize(
    "known",
    [[(0, 0)], [(0, 1), (1, 0)], [(0, 1), (1, 2), (2, 0)], [(2, 0), (0, 1), (1, 2), (3, 4)]],
)
def test_circular_knowledge_is_an_error(known: Pairs) -> None:
    with pytest.raises(ValueError, match=r"^the order that is known is circular$"):
        Order(5, known)


def test_a_limit_of_constraints(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of n numbers with every pair asked about, each three have two constraints."""

    def constraints(size: int) -> int:
        order = Order(size, [])
        for a, b in combinations(range(size), 2):
            order.before(a, b)
        return len(order.constraints())

    assert constraints(6) == 40
    monkeypatch.setattr("rspverify.smt.order._MOST", 40)
    assert constraints(6) == 40
    with pytest.raises(LimitReached, match=r"^the order of events needs more than 40 constraints$"):
        constraints(7)
