"""Terms: no truth value in Python, folded where that is cheap, and right by truth table."""

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from smt.truth import assignments, terms, value

from rspverify.smt.solver import Solver
from rspverify.smt.term import (
    FALSE,
    TRUE,
    Kind,
    Term,
    all_of,
    any_of,
    at_most_one,
    if_then_else,
    variable,
)

X, Y, Z = (variable(name) for name in "xyz")
TERMS = terms([X, Y, Z])


@pytest.mark.parametrize("term", [X, ~X, X & Y, X | Y, TRUE, FALSE], ids=repr)
def test_a_term_has_no_truth_value(term: Term) -> None:
    message = r"^a Term has no truth value in Python: combine it with & \| ~ and ask a solver$"
    with pytest.raises(TypeError, match=message):
        bool(term)
    with pytest.raises(TypeError, match=message):
        term and X  # noqa: B018
    with pytest.raises(TypeError, match=message):
        assert not term


def test_terms_are_compared_by_identity() -> None:
    assert variable("x") is not X
    assert {X: 1, variable("x"): 2}[X] == 1
    assert (X == Y) is False
    assert (X == X) is True


@pytest.mark.parametrize(
    ("found", "folded"),
    [
        (X & ~X, FALSE),
        (~X & X, FALSE),
        (X | ~X, TRUE),
        (~X | X, TRUE),
        (X & X, X),
        (X | X, X),
        (X & TRUE, X),
        (TRUE & X, X),
        (X & FALSE, FALSE),
        (X | FALSE, X),
        (X | TRUE, TRUE),
        (~~X, X),
        (~TRUE, FALSE),
        (~FALSE, TRUE),
        (all_of([]), TRUE),
        (any_of([]), FALSE),
        (all_of([X]), X),
        (any_of([X]), X),
        (all_of([X, TRUE, X]), X),
        (any_of([X, FALSE, X]), X),
        (all_of([X, Y, ~X]), FALSE),
        (any_of([~X, Y, X]), TRUE),
        (all_of([X, Y, FALSE]), FALSE),
        (any_of([X, Y, TRUE]), TRUE),
        (X.implies(X), TRUE),
        (FALSE.implies(X), TRUE),
        (TRUE.implies(X), X),
        (X.implies(FALSE), ~X),
        (X.iff(X), TRUE),
        (X.iff(~X), FALSE),
        (X.iff(TRUE), X),
        (X.iff(FALSE), ~X),
        (TRUE.iff(X), X),
        (FALSE.iff(X), ~X),
        (if_then_else(TRUE, X, Y), X),
        (if_then_else(FALSE, X, Y), Y),
        (if_then_else(Z, X, X), X),
        (if_then_else(Z, TRUE, FALSE), Z),
        (if_then_else(Z, FALSE, TRUE), ~Z),
    ],
    ids=repr,
)
def test_folding(found: Term, folded: Term) -> None:
    assert found is folded


def test_a_compound_and_its_negation_fold() -> None:
    both = X & Y
    assert both & ~both is FALSE
    assert ~both | both is TRUE
    assert ~~both is both
    assert ~both is ~both


def test_junctions_keep_each_argument_once_in_order() -> None:
    term = all_of([Z, X, TRUE, Z, Y, X])
    assert term.kind is Kind.AND
    assert term.arguments == (Z, X, Y)
    term = any_of(iter([Z, X, FALSE, Z, Y]))
    assert term.kind is Kind.OR
    assert term.arguments == (Z, X, Y)


def test_spelling() -> None:
    assert repr(if_then_else(X, ~Y, Z & Y)) == "((x & ~y) | (~x & (z & y)))"
    assert repr(TRUE) == "true"
    assert repr(FALSE) == "false"
    assert repr(~(X | Y)) == "~(x | y)"


@given(TERMS, TERMS, TERMS)
def test_operators_by_truth_table(a: Term, b: Term, c: Term) -> None:
    for given_ in assignments([X, Y, Z]):
        p, q, r = (value(each, given_) for each in (a, b, c))
        assert value(~a, given_) == (not p)
        assert value(a & b, given_) == (p and q)
        assert value(a | b, given_) == (p or q)
        assert value(a.implies(b), given_) == (not p or q)
        assert value(a.iff(b), given_) == (p == q)
        assert value(if_then_else(a, b, c), given_) == (q if p else r)


@given(st.lists(TERMS, max_size=5))
def test_junctions_by_truth_table(parts: list[Term]) -> None:
    for given_ in assignments([X, Y, Z]):
        values = [value(each, given_) for each in parts]
        assert value(all_of(parts), given_) == all(values)
        assert value(any_of(parts), given_) == any(values)


# ---- at most one ---------------------------------------------------------------------------------


@pytest.mark.parametrize("size", range(7))
def test_few_terms_are_told_apart_pairwise(size: int) -> None:
    names = [variable(f"v{i}") for i in range(size)]
    clauses = at_most_one(names)
    assert len(clauses) == size * (size - 1) // 2
    for given_ in assignments(names):
        assert value(all_of(clauses), given_) == (sum(given_.values()) <= 1)


@pytest.mark.parametrize("size", range(7, 13))
def test_many_terms_have_a_ladder(size: int) -> None:
    """Exactly the assignments with at most one true have values for the ladder variables."""
    names = [variable(f"v{i}") for i in range(size)]
    clauses = at_most_one(iter(names))
    assert len(clauses) == 3 * size - 5
    solver = Solver()
    solver.add(*clauses)
    for given_ in assignments(names):
        answer = solver.find(name if holds else ~name for name, holds in given_.items())
        assert (answer is not None) == (sum(given_.values()) <= 1)


@pytest.mark.parametrize("size", [5, 6, 7, 8, 12])
def test_at_most_one_of_terms_with_constants(size: int) -> None:
    names = [variable(f"v{i}") for i in range(size)]
    solver = Solver()
    solver.add(*at_most_one([FALSE, *names[:3], FALSE, FALSE, *names[3:]]))
    assert solver.find([names[-1]]) is not None
    for first, second in combinations(names, 2):
        assert solver.find([first, second]) is None
    certain = Solver()
    certain.add(*at_most_one([names[0], TRUE, *names[1:]]))
    for name in names:
        assert certain.find([name]) is None
    assert certain.find() is not None
