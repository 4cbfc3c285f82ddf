"""The second opinion agrees with the solver, and says so where there is none."""

from hypothesis import given, settings
from hypothesis import strategies as st
from smt.truth import assignments, terms, value

from rspverify.smt import (
    FALSE,
    TRUE,
    Satisfiable,
    Solver,
    Term,
    Unknown,
    Unsatisfiable,
    all_of,
    at_most_one,
    pick,
    variable,
)
from rspverify.smt.bridge import second_opinion

X, Y, Z = (variable(name) for name in "xyz")


@settings(deadline=None, max_examples=50)
@given(st.lists(terms([X, Y, Z]), max_size=4))
def test_second_opinion_by_truth_table(asserted: list[Term]) -> None:
    whole = all_of(asserted)
    answer = second_opinion(asserted)
    if any(value(whole, each) for each in assignments([X, Y, Z])):
        assert isinstance(answer, Satisfiable)
        assert value(whole, {each: answer.model[each] for each in (X, Y, Z)})
        assert answer.model[whole] is True
    else:
        assert answer == Unsatisfiable(frozenset())


def test_constants() -> None:
    assert isinstance(second_opinion([]), Satisfiable)
    assert isinstance(second_opinion([TRUE]), Satisfiable)
    assert isinstance(second_opinion([FALSE]), Unsatisfiable)


def test_variables_of_one_name_are_different() -> None:
    answer = second_opinion([variable("x"), ~variable("x")])
    assert isinstance(answer, Satisfiable)


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
    assert isinstance(solver.check(), Satisfiable)
    assert isinstance(second_opinion(constraints), Satisfiable)
    for v in range(7):
        constraints += [~choice[v] | ~choices[-1][v] for choice in choices[:-1]]
    solver.add(*constraints)
    assert isinstance(solver.check(), Unsatisfiable)
    assert isinstance(second_opinion(constraints), Unsatisfiable)


def test_a_deep_term_needs_no_deep_stack() -> None:
    term = X
    for _ in range(2_000):
        term = ~(term & Y) | Z
    answer = second_opinion([term, ~Z])
    assert isinstance(answer, Satisfiable)
    assert answer.model[term] is True


def test_a_solver_that_is_not_there() -> None:
    answer = second_opinion([X], solver="nobody")
    assert answer == Unknown("pySMT has no solver named nobody")
