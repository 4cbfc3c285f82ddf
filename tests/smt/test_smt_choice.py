"""Choices: exactly one value, and expressions over them, value by value."""

from collections.abc import Mapping
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st
from smt.truth import Assignment, assignments, terms, value, variables
from value.test_value_expression import combined

from rspverify.smt.choice import Choice, choose, constant, equal, merge, pick, truth
from rspverify.smt.solver import Solver
from rspverify.smt.term import FALSE, TRUE, Term, all_of, variable
from rspverify.value import (
    BINARY,
    Binary,
    Constant,
    Expression,
    Read,
    evaluate,
)

A, B, C = (variable(name) for name in "abc")


def chosen(choice: Mapping[int, Term], assignment: Assignment) -> int:
    """The value of a choice; there is exactly one."""
    (found,) = (each for each, term in choice.items() if value(term, assignment))
    return found


# ---- pick ----------------------------------------------------------------------------------------


def test_pick_among_none_is_impossible() -> None:
    choice, constraints = pick("p", [])
    assert not choice
    assert all_of(constraints) is FALSE


def test_pick_of_one_costs_nothing() -> None:
    assert pick("p", [7]) == ({7: TRUE}, [])
    assert pick("p", [7, 7, 7]) == ({7: TRUE}, [])


def test_pick_of_two_is_one_variable() -> None:
    choice, constraints = pick("p", ["l", "r"])
    assert constraints == []
    assert choice["r"] is ~choice["l"]


@pytest.mark.parametrize("size", range(1, 13))
def test_pick_takes_exactly_one_in_each_model(size: int) -> None:
    domain = [(11 * i) % 13 for i in range(size)]
    choice, constraints = pick("p", iter(domain))
    assert list(choice) == domain
    solver = Solver()
    solver.add(*constraints)
    seen = []
    while (answer := solver.find()) is not None:
        (found,) = (each for each, term in choice.items() if answer[term])
        seen.append(found)
        solver.add(~choice[found])
    assert sorted(seen) == sorted(domain)


def test_pick_names_its_variables() -> None:
    choice, _ = pick("rf3", [1, 2, 3])
    assert [repr(term) for term in choice.values()] == ["rf3=1", "rf3=2", "rf3=3"]


# ---- merge and equal -----------------------------------------------------------------------------


def three(first: Term, second: Term, values: tuple[int, int, int] = (0, 1, 2)) -> Choice[int]:
    """A choice between three values, by two variables."""
    return {values[0]: first, values[1]: ~first & second, values[2]: ~first & ~second}


def test_merge() -> None:
    left, right = three(A, B), three(B, A, (2, 5, 0))
    merged = merge(C, left, right)
    for given_ in assignments([A, B, C]):
        expected = chosen(left if given_[C] else right, given_)
        assert chosen(merged, given_) == expected


def test_merge_folds() -> None:
    left, right = three(A, B), three(B, A)
    assert merge(TRUE, left, right) is left
    assert merge(FALSE, left, right) is right
    assert merge(C, left, left) is left
    assert merge(C, constant(4), constant(4)) == {4: TRUE}
    assert merge(C, constant(4), constant(5)) == {4: C, 5: ~C}


def test_merge_leaves_out_the_impossible() -> None:
    merged = merge(C, {1: TRUE, 2: FALSE}, {1: FALSE, 3: TRUE, 2: FALSE})
    assert merged == {1: C, 3: ~C}


def test_equal() -> None:
    left, right = three(A, B), three(B, C, (2, 5, 0))
    term = equal(left, right)
    for given_ in assignments([A, B, C]):
        assert value(term, given_) == (chosen(left, given_) == chosen(right, given_))


def test_equal_folds() -> None:
    assert equal(constant(3), constant(3)) is TRUE
    assert equal(constant(3), constant(4)) is FALSE
    choice = three(A, B)
    assert equal(constant(1), choice) is choice[1]
    assert equal(choice, constant(2)) is choice[2]
    assert equal({1: A, 2: ~A}, constant(2)) is ~A
    assert equal({}, constant(2)) is FALSE


# ---- expressions ---------------------------------------------------------------------------------

READS: Mapping[int, Choice[int]] = {
    0: three(A, B, (0, 1, -1)),
    1: {0: C, 31: ~C},
    2: {2**31 - 1: A, -(2**31): ~A},
}
"""Reads that depend on each other, as those of one program do."""


EXPRESSIONS = st.recursive(
    st.builds(Constant, st.integers(-2, 3)) | st.builds(Read, st.sampled_from(sorted(READS))),
    combined,
    max_leaves=6,
)


@given(EXPRESSIONS)
def test_choose_by_truth_table(expression: Expression) -> None:
    choice = choose(expression, READS)
    holds = truth(expression, READS)
    assert FALSE not in choice.values()
    for given_ in assignments([A, B, C]):
        read = {index: chosen(each, given_) for index, each in READS.items()}
        expected = evaluate(expression, read)
        assert chosen(choice, given_) == expected
        assert value(holds, given_) == bool(expected)


@pytest.mark.parametrize("operator", sorted(BINARY))
def test_choose_with_constants_is_a_constant(operator: str) -> None:
    for left, right in product((-3, 0, 5), repeat=2):
        expression = Binary(operator, Constant(left), Constant(right))
        assert choose(expression, {}) == {evaluate(expression, {}): TRUE}


def test_choose_keeps_what_it_is_given() -> None:
    assert choose(Read(1), READS) is READS[1]
    assert choose(Constant(5), READS) == {5: TRUE}


def test_values_that_coincide_share_a_term() -> None:
    read = three(A, B, (0, 1, 2))
    parity = choose(Binary("&", Read(9), Constant(1)), {9: read})
    assert set(parity) == {0, 1}
    assert parity[1] is read[1]
    assert parity[0].arguments == (read[0], read[2])


def test_truth_of_what_cannot_be_zero_is_decided() -> None:
    assert truth(Constant(0), {}) is FALSE
    assert truth(Constant(2), {}) is TRUE
    assert truth(Read(0), {0: {0: TRUE}}) is FALSE
    assert truth(Read(0), {0: {4: A, 0: ~A}}) is A


@given(terms([A, B, C]), EXPRESSIONS, EXPRESSIONS)
def test_merge_of_expressions(condition: Term, then: Expression, otherwise: Expression) -> None:
    merged = merge(condition, choose(then, READS), choose(otherwise, READS))
    same = equal(choose(then, READS), choose(otherwise, READS))
    assert set().union(*(variables(each) for each in merged.values())) <= {A, B, C}
    for given_ in assignments([A, B, C]):
        read = {index: chosen(each, given_) for index, each in READS.items()}
        first, second = evaluate(then, read), evaluate(otherwise, read)
        assert chosen(merged, given_) == (first if value(condition, given_) else second)
        assert value(same, given_) == (first == second)
