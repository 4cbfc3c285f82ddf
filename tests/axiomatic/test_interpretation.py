"""The way through a model's statements, the same by each algebra: what a name stands for, and where."""

from __future__ import annotations

from typing import Any

from rspverify.axiomatic.cat import read_model
from rspverify.axiomatic.interpretation import Interpretation, interpret
from rspverify.axiomatic.model import Linearisation, MemoryModel
from rspverify.relation.concrete import Concrete, pairs_of, related
from rspverify.source import Source

EDGES = {"rf": {(0, 1)}, "mo": {(1, 2)}}
EVENTS = 3
PAIRS = frozenset[tuple[int, int]]


def read(text: str) -> MemoryModel:
    return read_model(Source("m.cat", f"{text}\nacyclic rf | mo as Last"), "m")


def interpreted(model: MemoryModel, chosen: Any = None) -> Interpretation[int]:
    def order(asked: Linearisation, values: Any) -> Any:
        assert asked.name == "S"
        return chosen

    base = {name: related(edges, EVENTS) for name, edges in EDGES.items()}
    return interpret(model, base, Concrete(EVENTS), order)


def told(text: str) -> dict[str, dict[str, PAIRS]]:
    """What names stand for at each axiom."""
    found = interpreted(read(text), related({(0, 2)}, EVENTS))
    return {
        axiom: {name: frozenset(pairs_of(it, EVENTS)) for name, it in scope.values.items()}
        for axiom, scope in found.at.items()
    }


def test_a_later_definition_hides_an_earlier_one_from_then_on() -> None:
    found = told("let a = rf\nacyclic a as First\nlet b = a\nlet a = mo\nacyclic a as Second")
    assert (found["First"]["a"], found["Second"]["a"]) == ({(0, 1)}, {(1, 2)})
    assert "b" not in found["First"]
    assert found["Second"]["b"] == found["Last"]["b"] == {(0, 1)}


def test_definitions_at_once_do_not_see_each_other() -> None:
    found = told("let a = rf\nlet b = mo\nlet a = b and b = a")
    assert (found["Last"]["a"], found["Last"]["b"]) == ({(1, 2)}, {(0, 1)})


def test_a_definition_of_a_base_name_speaks_of_the_one_before() -> None:
    found = told("acyclic rf as First\nlet rf = rf | rf^-1\nlet a = rf")
    assert found["First"]["rf"] == {(0, 1)}
    assert found["Last"]["a"] == found["Last"]["rf"] == {(0, 1), (1, 0)}


def test_recursion() -> None:
    found = told("let a = mo\nlet rec a = rf | b and b = mo | (a; a)\nlet c = a")
    assert found["Last"]["a"] == found["Last"]["c"] == {(0, 1), (1, 2), (0, 2)}
    assert found["Last"]["b"] == {(1, 2), (0, 2)}


def test_an_order_that_is_chosen() -> None:
    found = told("acyclic rf as First\nwith S from linearisations(W, rf)\nlet a = S | rf")
    assert "S" not in found["First"]
    assert found["Last"]["a"] == {(0, 2), (0, 1)}


def test_where_a_definition_stands_is_known() -> None:
    """Why a pair is in a relation is looked for there."""
    model = read("let a = rf\nlet b = a | mo\nlet a = mo\nlet rec c = b | (b; c)")
    end = interpreted(model).end
    expression, scope = end.definitions["b"]
    assert str(expression) == "a | mo"
    assert pairs_of(scope.values["a"], EVENTS) == [(0, 1)]
    assert str(scope.definitions["a"][0]) == "rf"
    assert str(end.definitions["a"][0]) == "mo"
    assert end.definitions.keys() == {"a", "b"}
