"""Solver: answers, models, cores and limits, against truth tables."""

import time
from itertools import pairwise, product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from smt.truth import assignments, terms, value

from rspverify.limits import LimitReached, Limits
from rspverify.smt.choice import pick
from rspverify.smt.solver import Model, Satisfiable, Solver, Unknown, Unsatisfiable
from rspverify.smt.term import FALSE, TRUE, Term, all_of, any_of, at_most_one, variable

X, Y, Z, U = (variable(name) for name in "xyzu")
TERMS = terms([X, Y, Z, U])


def solver(*terms: Term) -> Solver:
    made = Solver()
    made.add(*terms)
    return made


def model(answer: object) -> Model:
    assert isinstance(answer, Satisfiable)
    return answer.model


def core(answer: object) -> frozenset[Term]:
    assert isinstance(answer, Unsatisfiable)
    return answer.core


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
    found = model(Solver().check())
    assert found[TRUE] is True
    assert found[FALSE] is False
    assert found[X] is False  # never mentioned
    assert found[~X] is True


def test_constants() -> None:
    assert isinstance(solver(TRUE).check(), Satisfiable)
    assert isinstance(solver(FALSE).check(), Unsatisfiable)
    assert isinstance(solver(X, FALSE).check(), Unsatisfiable)
    assert isinstance(Solver().check([TRUE]), Satisfiable)
    assert core(Solver().check([X, FALSE])) == {FALSE}


def test_a_model_values_any_term() -> None:
    found = model(solver(X & ~Y, Z | Y).check())
    assert (found[X], found[Y], found[Z]) == (True, False, True)
    assert found[X & Z] is True
    assert found[~(X & Z) | Y] is False
    assert found[all_of([X, ~Y, any_of([Y, Z])])] is True


def test_a_deep_term_needs_no_deep_stack() -> None:
    term = X
    for _ in range(5_000):
        term = ~(term & Y) | Z
    both = solver(term, ~Z)
    assert model(both.check())[term] is True


def test_questions_leave_no_trace() -> None:
    one = solver(X | Y)
    assert isinstance(one.check([~X, ~Y]), Unsatisfiable)
    assert isinstance(one.check([~X]), Satisfiable)
    assert isinstance(one.check([X & ~Y]), Satisfiable)
    assert isinstance(one.check([~X & ~Y]), Unsatisfiable)
    assert isinstance(one.check(), Satisfiable)


def test_assertions_grow() -> None:
    one = solver(X | Y | Z)
    seen = set()
    while isinstance(answer := one.check(), Satisfiable):
        values = tuple(answer.model[each] for each in (X, Y, Z))
        assert values not in seen
        seen.add(values)
        one.add(any_of(~v if chosen else v for v, chosen in zip((X, Y, Z), values, strict=True)))
    assert len(seen) == 7
    assert isinstance(one.check(), Unsatisfiable)


def test_a_conjunction_is_asserted_part_by_part() -> None:
    one = solver(all_of([X, Y & (Z | U), ~(Z & U), all_of([~Z, X])]))
    found = model(one.check())
    assert [found[each] for each in (X, Y, Z, U)] == [True, True, False, True]


def test_find() -> None:
    one = solver(X | Y)
    found = one.find([~X])
    assert found is not None
    assert (found[X], found[Y]) == (False, True)
    assert one.find([~X, ~Y]) is None
    assert one.find() is not None
    one.add(~X & ~Y)
    assert one.find() is None


# ---- cores ---------------------------------------------------------------------------------------


def test_a_core_is_made_of_assumptions() -> None:
    one = solver(~X | ~Y)
    found = core(one.check([Z, X, U, Y, ~Z | U]))
    assert found == {X, Y}


def test_a_core_names_compound_assumptions() -> None:
    both, either, neither = X & Y, X | Z, ~X & ~U
    one = solver(U | Z)
    assert core(one.check([both, either, neither])) in ({both, neither}, {both, either, neither})
    assert isinstance(one.check([both, either]), Satisfiable)
    assert isinstance(one.check([either, neither]), Satisfiable)
    assert core(one.check([neither, both])) == {neither, both}


def test_no_assumption_is_to_blame_where_the_assertions_contradict() -> None:
    one = solver(X, ~X)
    assert core(one.check([Y & Z])) == frozenset()


@given(st.lists(TERMS, max_size=4), st.lists(TERMS, max_size=5))
def test_answers_by_truth_table(asserted: list[Term], assumed: list[Term]) -> None:
    one = solver(*asserted)
    whole = all_of([*asserted, *assumed])
    answer = one.check(assumed)
    if any(value(whole, each) for each in assignments([X, Y, Z, U])):
        found = model(answer)
        given_ = {each: found[each] for each in (X, Y, Z, U)}
        assert value(whole, given_)
        for term in (*asserted, *assumed):
            assert found[term] is True
            assert found[~term] is False
    else:
        blamed = core(answer)
        assert blamed <= set(assumed)
        suffices = all_of([*asserted, *blamed])
        assert not any(value(suffices, each) for each in assignments([X, Y, Z, U]))


@given(st.lists(st.tuples(TERMS, st.lists(TERMS, max_size=3)), min_size=1, max_size=6))
def test_incremental_answers_by_truth_table(rounds: list[tuple[Term, list[Term]]]) -> None:
    one, shared = Solver(), []
    for added, assumed in rounds:
        one.add(added)
        shared.append(added)
        whole = all_of([*shared, *assumed])
        expected = any(value(whole, each) for each in assignments([X, Y, Z, U]))
        assert isinstance(one.check(assumed), Satisfiable if expected else Unsatisfiable)


# ---- several solvers -----------------------------------------------------------------------------


def test_solvers_share_terms_and_nothing_else() -> None:
    one, other = solver(X), solver(~X, Y)
    private = Solver(reproducible=True)
    private.add(X, ~Y)
    assert model(one.check())[X] is True
    assert model(other.check())[X] is False
    assert (model(private.check())[X], model(private.check())[Y]) == (True, False)
    one.add(X.iff(Y))
    assert model(one.check())[X & Y] is True
    assert model(other.check())[X & Y] is False
    del one
    assert model(other.check())[Y] is True


def test_a_model_outlives_its_solver() -> None:
    one = solver(X & ~Y)
    found = model(one.check())
    one.add(Y)
    assert isinstance(one.check(), Unsatisfiable)
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
            answer = model(one.check([~choices[0][4], choices[3][2] | choices[4][7]]))
            values = [next(v for v in range(9) if answer[choice[v]]) for choice in choices]
            sequence += values
            one.add(any_of(~choice[v] for choice, v in zip(choices, values, strict=True)))
        return sequence

    first = found()
    assert isinstance(solver(*pigeonhole(6)).check(), Unsatisfiable)
    assert found() == first
    keep = [Solver(reproducible=True) for _ in range(3)]
    assert isinstance(keep[0].check([X | Y]), Satisfiable)
    assert found() == first


# ---- limits --------------------------------------------------------------------------------------


def test_time_runs_out_within_a_question() -> None:
    began = time.monotonic()
    limits = Limits(seconds=0.05)
    one = Solver(limits)
    one.add(*pigeonhole(13))
    try:
        answer = one.check()
    except LimitReached as limit:
        assert str(limit) == "timeout of 0.05 s"
    else:
        assert isinstance(answer, Unknown)
        assert answer.why.startswith("the solver gave up: ")
    assert time.monotonic() - began < 10


def test_no_time_is_left_for_the_next_question() -> None:
    limits = Limits(seconds=0.01)
    one = Solver(limits)
    one.add(X)
    time.sleep(0.02)
    with pytest.raises(LimitReached, match=r"^timeout of 0\.01 s$"):
        one.check()
    again = Solver(Limits())
    again.add(X)
    assert isinstance(again.check(), Satisfiable)


def test_find_has_no_answer_that_is_not_one() -> None:
    one = Solver(Limits(seconds=0.05))
    one.add(*pigeonhole(13))
    with pytest.raises(LimitReached, match=r"^(timeout of 0\.05 s|the solver gave up: .+)$"):
        one.find()


def test_enough_time_changes_no_answer() -> None:
    one = Solver(Limits(seconds=60))
    one.add(*pigeonhole(7))
    assert isinstance(one.check(), Unsatisfiable)


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
