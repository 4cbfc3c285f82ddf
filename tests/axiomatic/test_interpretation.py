"""The way through a model's statements, by each algebra: what a name stands for, and where."""

from __future__ import annotations

from typing import Any

import pytest

from rspverify.axiomatic.cat import read_model
from rspverify.axiomatic.interpretation import Interpretation, interpret
from rspverify.axiomatic.model import Linearisation, MemoryModel
from rspverify.relation.algebra import Algebra
from rspverify.relation.calculation import Calculation
from rspverify.relation.concrete import Concrete, pairs_of, related
from rspverify.relation.terms import Terms
from rspverify.smt.term import TRUE
from rspverify.source import Source

EDGES = {"rf": {(0, 1)}, "mo": {(1, 2)}}
EVENTS = 3
PAIRS = frozenset[tuple[int, int]]


def read(text: str) -> MemoryModel:
    return read_model(Source("m.cat", f"{text}\nacyclic rf | mo as Last"), "m")


def pairs(value: Any) -> PAIRS:
    if isinstance(value, int):
        return frozenset(pairs_of(value, EVENTS))
    assert all(term is TRUE for term in value.values())
    return frozenset(value)


def interpreted(model: MemoryModel, algebra: Algebra[Any], base: Any, chosen: Any) -> Any:
    def order(asked: Linearisation, values: Any) -> Any:
        assert asked.name == "S"
        return chosen

    return interpret(model, base, algebra, order)


def by_terms(model: MemoryModel) -> dict[str, dict[str, PAIRS]]:
    base = {name: dict.fromkeys(edges, TRUE) for name, edges in EDGES.items()}
    algebra = Terms(dict.fromkeys(range(EVENTS), TRUE))
    return told(interpreted(model, algebra, base, {(0, 2): TRUE}), lambda value: value)


def by_rows(model: MemoryModel) -> dict[str, dict[str, PAIRS]]:
    base = {name: related(edges, EVENTS) for name, edges in EDGES.items()}
    return told(
        interpreted(model, Concrete(EVENTS), base, related({(0, 2)}, EVENTS)), lambda value: value
    )


def by_steps(model: MemoryModel) -> dict[str, dict[str, PAIRS]]:
    steps = Calculation(["rf", "the order"], ["mo"])
    found = interpreted(model, steps, steps.given, steps.given["the order"])
    given = {
        **{name: related(edges, EVENTS) for name, edges in EDGES.items()},
        "the order": related({(0, 2)}, EVENTS),
    }
    values = steps.values(given)
    places = {place for scope in (*found.at.values(), found.end) for place in scope.values.values()}
    steps.run(steps.needed(places), values, EVENTS)
    return told(found, lambda place: values[place])


def told(found: Interpretation[Any], value: Any) -> dict[str, dict[str, PAIRS]]:
    """What names stand for at each axiom."""
    return {
        axiom: {name: pairs(value(it)) for name, it in scope.values.items()}
        for axiom, scope in found.at.items()
    }


EVERY = pytest.mark.parametrize("by", [by_terms, by_rows, by_steps])


@EVERY
def test_a_later_definition_hides_an_earlier_one_from_then_on(by: Any) -> None:
    found = by(read("let a = rf\nacyclic a as First\nlet b = a\nlet a = mo\nacyclic a as Second"))
    assert (found["First"]["a"], found["Second"]["a"]) == ({(0, 1)}, {(1, 2)})
    assert "b" not in found["First"]
    assert found["Second"]["b"] == found["Last"]["b"] == {(0, 1)}


@EVERY
def test_definitions_at_once_do_not_see_each_other(by: Any) -> None:
    found = by(read("let a = rf\nlet b = mo\nlet a = b and b = a"))
    assert (found["Last"]["a"], found["Last"]["b"]) == ({(1, 2)}, {(0, 1)})


@EVERY
def test_a_definition_of_a_base_name_speaks_of_the_one_before(by: Any) -> None:
    found = by(read("acyclic rf as First\nlet rf = rf | rf^-1\nlet a = rf"))
    assert found["First"]["rf"] == {(0, 1)}
    assert found["Last"]["a"] == found["Last"]["rf"] == {(0, 1), (1, 0)}


@EVERY
def test_recursion(by: Any) -> None:
    found = by(read("let a = mo\nlet rec a = rf | b and b = mo | (a; a)\nlet c = a"))
    assert found["Last"]["a"] == found["Last"]["c"] == {(0, 1), (1, 2), (0, 2)}
    assert found["Last"]["b"] == {(1, 2), (0, 2)}


@EVERY
def test_an_order_that_is_chosen(by: Any) -> None:
    found = by(read("acyclic rf as First\nwith S from linearisations(W, rf)\nlet a = S | rf"))
    assert "S" not in found["First"]
    assert found["Last"]["a"] == {(0, 2), (0, 1)}


def test_where_a_definition_stands_is_known() -> None:
    """Why a pair is in a relation is looked for there."""
    model = read("let a = rf\nlet b = a | mo\nlet a = mo\nlet rec c = b | (b; c)")
    base = {name: related(edges, EVENTS) for name, edges in EDGES.items()}
    end = interpreted(model, Concrete(EVENTS), base, None).end
    expression, scope = end.definitions["b"]
    assert str(expression) == "a | mo"
    assert pairs(scope.values["a"]) == {(0, 1)}
    assert str(scope.definitions["a"][0]) == "rf"
    assert str(end.definitions["a"][0]) == "mo"
    assert end.definitions.keys() == {"a", "b"}
