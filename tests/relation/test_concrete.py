"""Bit masks and rows against plain sets."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from relation.concrete import World, expressions, relation_expressions, set_expressions
from relation.test_relation_algebra import OPERATORS, r, s

from rspverify.relation.calculation import Calculation
from rspverify.relation.concrete import Concrete, Value, irreflexive, members, pairs_of, related
from rspverify.relation.expression import (
    Complement,
    Difference,
    Expression,
    Inverse,
    Nothing,
    Plus,
    Sort,
    Union,
)

SETS = ("S", "T")
RELATIONS = ("r", "s")


@st.composite
def worlds(draw: st.DrawFn, most: int = 5) -> World:
    """All events are executed, as they are where an outcome is known."""
    events = range(draw(st.integers(0, most)))
    pairs = [(a, b) for a in events for b in events]
    some_events = st.sets(st.sampled_from(events)) if events else st.just(set())
    some_pairs = st.sets(st.sampled_from(pairs)) if pairs else st.just(set())
    return World(
        set(events),
        {name: draw(some_events) for name in SETS},
        {name: draw(some_pairs) for name in RELATIONS},
    )


def mask(events: set[int]) -> int:
    return sum(1 << event for event in events)


def rows(pairs: set[tuple[int, int]], size: int) -> Value:
    found = related(pairs, size)
    assert pairs_of(found, size) == sorted(pairs)
    return found


def names_of(world: World) -> dict[str, Value]:
    size = len(world.executed)
    found: dict[str, Value] = {name: mask(those) for name, those in world.sets.items()}
    return found | {name: rows(pairs, size) for name, pairs in world.relations.items()}


def expected(world: World, expression: Expression) -> Value:
    if expression.sort is Sort.SET:
        return mask(world.members(expression))
    return rows(world.pairs(expression), len(world.executed))


def value_of(expression: Expression, size: int, names: Mapping[str, Value]) -> Value:
    return Concrete(size).value(expression, names)


def check(world: World, expression: Expression) -> None:
    found = value_of(expression, len(world.executed), names_of(world))
    assert found == expected(world, expression)


@pytest.mark.parametrize("operator", OPERATORS, ids=str)
@settings(max_examples=40)
@given(world=worlds())
def test_operator(operator: Expression, world: World) -> None:
    check(world, operator)


@settings(max_examples=100)
@given(worlds(), expressions(SETS, RELATIONS))
def test_expression(world: World, expression: Expression) -> None:
    check(world, expression)


@settings(max_examples=60)
@given(worlds(), set_expressions(SETS), relation_expressions(SETS, RELATIONS, 2))
def test_what_axioms_ask(world: World, those: Expression, pairs: Expression) -> None:
    size, names = len(world.executed), names_of(world)
    assert (value_of(those, size, names) == 0) == (not world.members(those))
    found = value_of(pairs, size, names)
    assert (found == 0) == (not world.pairs(pairs))
    assert irreflexive(found, size) == all(a != b for a, b in world.pairs(pairs))


def test_members_ascend() -> None:
    assert list(members(0b101101)) == [0, 2, 3, 5]


# ---- calculations ----


def calculated(
    calculation: Calculation, place: int, names: Mapping[str, Value], size: int
) -> Value:
    values = calculation.values(names)
    calculation.run(calculation.needed([place]), values, size)
    found: Value = values[place]
    return found


@settings(max_examples=100)
@given(worlds(), worlds(), st.lists(expressions(SETS, RELATIONS), min_size=1, max_size=4))
def test_only_what_depends_on_a_change_is_calculated_again(
    world: World, other: World, many: list[Expression]
) -> None:
    """First everything; then s changes, and the steps that do not depend on it are kept."""
    size = min(len(world.executed), len(other.executed))
    world, other = (
        World(
            set(range(size)),
            {name: {it for it in those if it < size} for name, those in each.sets.items()},
            {
                name: {pair for pair in pairs if max(pair) < size}
                for name, pairs in each.relations.items()
            },
        )
        for each in (world, other)
    )
    names = names_of(world)
    later = names | {"s": names_of(other)["s"]}
    calculation = Calculation([*SETS, "r"], ["s"])
    places = [calculation.value(each, calculation.given) for each in many]
    values = calculation.values(names)
    steps = calculation.needed(places)
    calculation.run(steps, values, size)
    assert [values[place] for place in places] == [value_of(each, size, names) for each in many]
    values[calculation.given["s"]] = later["s"]
    kept = [step for step in steps if not calculation.depends(step)]
    calculation.run(calculation.needed(places, kept), values, size)
    assert [values[place] for place in places] == [value_of(each, size, later) for each in many]


@settings(max_examples=150)
@given(worlds(4), expressions(SETS, RELATIONS), st.data())
def test_what_rises_only_grows(world: World, expression: Expression, data: st.DataObject) -> None:
    size = len(world.executed)
    names = names_of(world)
    more = data.draw(st.integers(0, (1 << size * size) - 1))
    greater = names | {"s": names["s"] | more}
    calculation = Calculation([*SETS, "r"], ["s"])
    place = calculation.value(expression, calculation.given)
    before = calculated(calculation, place, names, size)
    after = calculated(calculation, place, greater, size)
    if calculation.rises(place, "s"):
        assert not before & ~after
    if "s" not in calculation.depends(place):
        assert before == after
    part = calculation.rising(place)
    little = calculated(calculation, part, names, size)
    assert not little & ~before
    assert not little & ~calculated(calculation, part, greater, size)
    if calculation.rises(place, "s"):
        assert little == before


def test_which_operators_rise_with_s() -> None:
    """Without this the test before it could pass by never finding anything that rises."""
    calculation = Calculation([*SETS, "r"], ["s"])
    rising = {
        str(each): calculation.rises(calculation.value(each, calculation.given), "s")
        for each in (
            *OPERATORS[:4],
            Inverse(s),
            Plus(s),
            Complement(s),
            Difference(r, Complement(s)),
        )
    }
    assert rising == {
        "r | s": True,
        "r & s": True,
        "r \\ s": False,
        "r; s": True,
        "s^-1": True,
        "s+": True,
        "~s": False,
        "r \\ ~s": True,
    }


@pytest.mark.parametrize(
    ("expression", "part"),
    [
        (Union(r, Difference(r, s)), Union(r, Nothing(Sort.RELATION))),
        (Plus(Union(s, Complement(s))), Plus(Union(s, Nothing(Sort.RELATION)))),
        (Difference(Union(s, Complement(s)), r), Difference(Union(s, Nothing(Sort.RELATION)), r)),
    ],
)
def test_the_part_that_rises_leaves_out_what_may_shrink(
    expression: Expression, part: Expression
) -> None:
    calculation = Calculation([*SETS, "r"], ["s"])
    place = calculation.value(expression, calculation.given)
    assert calculation.rising(place) == calculation.value(part, calculation.given)


def test_equal_expressions_are_one_step() -> None:
    calculation = Calculation(["r"], ["s"])
    first = calculation.value(OPERATORS[3], calculation.given)
    assert calculation.value(OPERATORS[3], calculation.given) == first
    assert calculation.needed([first, first]) == (first,)
