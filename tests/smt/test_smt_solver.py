"""Solver: answers, models and limits, against truth tables."""

import time
from itertools import pairwise, product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from smt.truth import assignments, terms, value

from rspverify.limits import LimitReached, Limits
from rspverify.smt.choice import pick
from rspverify.smt.solver import Model, Solver
from rspverify.smt.term import FALSE, TRUE, Term, all_of, any_of, at_most_one, variable

X, Y, Z, U = (variable(name) for name in "xyzu")
TERMS = terms([X, Y, Z, U])


def solver(*terms: Term) -> Solver:
    made = Solver()
    made.add(*terms)
    return made


def model(one: Solver, *assumed: Term) -> Model:
    found = one.find(assumed)
    assert found is not None
    return found


def pigeonhole(pigeons: int) -> list[Term]:
    """More pigeons than holes; resolution needs exponentially many steps."""
    seats = [
        [variable(f"p{pigeon}h{hole}") for hole in range(pigeons - 1)] for pigeon in range(pigeons)
    ]
    crowded = [
        ~seats[a][hole] | ~seats[b][hole]
        for hole in range(pigeons - 1)
        for a in range(pigeons)
        for b in range(a)
    ]
    return [any_of(row) for row in seats] + crowded


# ---- answers -------------------------------------------------------------------------------------


def test_nothing_asserted_is_satisfiable() -> None:
    found = model(Solver())
    assert found[TRUE] is True
    assert found[FALSE] is False
    assert found[X] is False  # never mentioned
    assert found[~X] is True


def test_constants() -> None:
    assert solver(TRUE).find() is not None
    assert solver(FALSE).find() is None
    assert solver(X, FALSE).find() is None
    assert Solver().find([TRUE]) is not None
    assert Solver().find([X, FALSE]) is None


def test_a_model_values_any_term() -> None:
    found = model(solver(X & ~Y, Z | Y))
    assert (found[X], found[Y], found[Z]) == (True, False, True)
    assert found[X & Z] is True
    assert found[~(X & Z) | Y] is False
    assert found[all_of([X, ~Y, any_of([Y, Z])])] is True


def test_a_deep_term_needs_no_deep_stack() -> None:
    term = X
    for _ in range(5_000):
        term = ~(term & Y) | Z
    both = solver(term, ~Z)
    assert model(both)[term] is True


def test_questions_leave_no_trace() -> None:
    one = solver(X | Y)
    assert one.find([~X, ~Y]) is None
    assert one.find([~X]) is not None
    assert one.find([X & ~Y]) is not None
    assert one.find([~X & ~Y]) is None
    assert one.find() is not None


def test_assertions_grow() -> None:
    one = solver(X | Y | Z)
    seen = set()
    while (found := one.find()) is not None:
        values = tuple(found[each] for each in (X, Y, Z))
        assert values not in seen
        seen.add(values)
        one.add(any_of(~v if chosen else v for v, chosen in zip((X, Y, Z), values, strict=True)))
    assert len(seen) == 7
    assert one.find() is None


def test_a_conjunction_is_asserted_part_by_part() -> None:
    one = solver(all_of([X, Y & (Z | U), ~(Z & U), all_of([~Z, X])]))
    found = model(one)
    assert [found[each] for each in (X, Y, Z, U)] == [True, True, False, True]


@given(st.lists(TERMS, max_size=4), st.lists(TERMS, max_size=5))
def test_answers_by_truth_table(asserted: list[Term], assumed: list[Term]) -> None:
    one = solver(*asserted)
    whole = all_of([*asserted, *assumed])
    found = one.find(assumed)
    assert (found is not None) == any(value(whole, each) for each in assignments([X, Y, Z, U]))
    if found is not None:
        given_ = {each: found[each] for each in (X, Y, Z, U)}
        assert value(whole, given_)
        for term in (*asserted, *assumed):
            assert found[term] is True
            assert found[~term] is False


@given(st.lists(st.tuples(TERMS, st.lists(TERMS, max_size=3)), min_size=1, max_size=6))
def test_incremental_answers_by_truth_table(rounds: list[tuple[Term, list[Term]]]) -> None:
    one, shared = Solver(), []
    for added, assumed in rounds:
        one.add(added)
        shared.append(added)
        whole = all_of([*shared, *assumed])
        expected = any(value(whole, each) for each in assignments([X, Y, Z, U]))
        assert (one.find(assumed) is not None) == expected


# ---- several solvers -----------------------------------------------------------------------------


def test_solvers_share_terms_and_nothing_else() -> None:
    one, other = solver(X), solver(~X, Y)
    private = Solver(reproducible=True)
    private.add(X, ~Y)
    assert model(one)[X] is True
    assert model(other)[X] is False
    assert (model(private)[X], model(private)[Y]) == (True, False)
    one.add(X.iff(Y))
    assert model(one)[X & Y] is True
    assert model(other)[X & Y] is False
    del one
    assert model(other)[Y] is True


def test_a_model_outlives_its_solver() -> None:
    one = solver(X & ~Y)
    found = model(one)
    one.add(Y)
    assert one.find() is None
    del one
    assert (found[X], found[Y]) == (True, False)


def test_reproducible_models_depend_on_the_terms_alone() -> None:
    """Equal questions get equal models, whatever was asked of other solvers in between."""

    def found() -> list[int]:
        choices, sequence = [], []
        one = Solver(reproducible=True)
        for i in range(12):
            choice, constraints = pick(f"c{i}", range(9))
            one.add(*constraints)
            choices.append(choice)
        for a, b in pairwise(choices):
            one.add(*(~a[v] | ~b[v] for v in a))
        for v in range(9):
            one.add(*at_most_one([choice[v] for choice in choices[:8]]))
        for _ in range(5):
            answer = model(one, ~choices[0][4], choices[3][2] | choices[4][7])
            values = [next(v for v in range(9) if answer[choice[v]]) for choice in choices]
            sequence += values
            one.add(any_of(~choice[v] for choice, v in zip(choices, values, strict=True)))
        return sequence

    first = found()
    assert solver(*pigeonhole(6)).find() is None
    assert found() == first
    keep = [Solver(reproducible=True) for _ in range(3)]
    assert keep[0].find([X | Y]) is not None
    assert found() == first


# ---- limits --------------------------------------------------------------------------------------


def test_time_runs_out_within_a_question() -> None:
    began = time.monotonic()
    limits = Limits(seconds=0.05)
    one = Solver(limits)
    one.add(*pigeonhole(13))
    with pytest.raises(LimitReached, match=r"^(timeout of 0\.05 s|the solver gave up: .+)$"):
        one.find()
    assert time.monotonic() - began < 10


def test_no_time_is_left_for_the_next_question() -> None:
    limits = Limits(seconds=0.01)
    one = Solver(limits)
    one.add(X)
    time.sleep(0.02)
    with pytest.raises(LimitReached, match=r"^timeout of 0\.01 s$"):
        one.find()
    again = Solver(Limits())
    again.add(X)
    assert again.find() is not None


def test_enough_time_changes_no_answer() -> None:
    one = Solver(Limits(seconds=60))
    one.add(*pigeonhole(7))
    assert one.find() is None


@settings(max_examples=60)
@given(
    weights=st.lists(st.integers(0, 9), min_size=1, max_size=6),
    fixed=st.lists(st.sampled_from([None, True, False]), min_size=6, max_size=6),
    most=st.integers(0, 40),
)
def test_bound(weights: list[int], fixed: list[bool | None], most: int) -> None:
    """As many choices as there are by counting, where the condition holds; all where not."""
    free = [variable(f"w{place}") for place in range(len(weights))]
    constants = {True: TRUE, False: FALSE}
    terms = [own if fix is None else constants[fix] for fix, own in zip(fixed, free, strict=False)]
    holds = variable("holds")
    solver = Solver()
    solver.bound(holds, list(zip(terms, weights, strict=True)), most)
    for values in product([True, False], repeat=len(weights)):
        assumed = [own if value else ~own for own, value in zip(free, values, strict=True)]
        counted = [value if fix is None else fix for value, fix in zip(values, fixed, strict=False)]
        total = sum(weight for weight, value in zip(weights, counted, strict=True) if value)
        assert (solver.find([holds, *assumed]) is not None) == (total <= most)
        assert solver.find([~holds, *assumed]) is not None
