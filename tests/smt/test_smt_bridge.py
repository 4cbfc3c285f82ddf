"""The second opinion agrees with the solver, and says so where there is none."""

from hypothesis import given, settings
from hypothesis import strategies as st
from smt.truth import assignments, terms, value

from rspverify.smt.bridge import second_opinion
from rspverify.smt.choice import pick
from rspverify.smt.solver import Solver
from rspverify.smt.term import FALSE, TRUE, Term, all_of, at_most_one, variable

X, Y, Z = (variable(name) for name in "xyz")


@settings(max_examples=50)
@given(st.lists(terms([X, Y, Z]), max_size=4))
def test_second_opinion_by_truth_table(asserted: list[Term]) -> None:
    whole = all_of(asserted)
    expected = any(value(whole, each) for each in assignments([X, Y, Z]))
    assert second_opinion(asserted) is expected


def test_constants() -> None:
    assert second_opinion([]) is True
    assert second_opinion([TRUE]) is True
    assert second_opinion([FALSE]) is False


def test_variables_of_one_name_are_different() -> None:
    assert second_opinion([variable("x"), ~variable("x")]) is True


def test_a_larger_formula() -> None:
    """Eight picks out of seven, no two the same."""
    choices, constraints = [], []
    for i in range(8):
        choice, exactly_one = pick(f"c{i}", range(7))
        choices.append(choice)
        constraints += exactly_one
    for v in range(7):
        constraints += at_most_one([choice[v] for choice in choices[:-1]])
    solver = Solver()
    solver.add(*constraints)
    assert solver.find() is not None
    assert second_opinion(constraints) is True
    for v in range(7):
        constraints += [~choice[v] | ~choices[-1][v] for choice in choices[:-1]]
    solver.add(*constraints)
    assert solver.find() is None
    assert second_opinion(constraints) is False


def test_a_deep_term_needs_no_deep_stack() -> None:
    term = X
    for _ in range(2_000):
        term = ~(term & Y) | Z
    assert second_opinion([term, ~Z]) is True


def test_a_solver_that_is_not_there() -> None:
    assert second_opinion([X], solver="nobody") == "pySMT has no solver named nobody"
