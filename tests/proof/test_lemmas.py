"""The lemmas of the proof: two solvers prove each, from facts that it needs, which hold together."""

from __future__ import annotations

import json
from itertools import product

import pytest
from command_line import run
from proof.universe import parts, possible

from rspverify.proof.lemmas import (
    CHECKED,
    Formula,
    Lemma,
    digest,
    formula,
    theory,
    written,
)
from rspverify.records import replace
from rspverify.smt.portfolio import is_solver
from rspverify.smt.smtlib import asked

LEMMAS = [*theory().lemmas.values()]
NAMES = [it.name for it in LEMMAS]


def test_lemmas_are_proved() -> None:
    """By Z3, and by cvc5 where it is installed; `prove` takes them as proved if they are those that
    were checked."""
    shown = run("prove", "--lemmas", "--format", "json")
    assert shown.exit_code == 0
    answers = json.loads(shown.output)["lemmas"]
    solvers = ["z3", *(["cvc5"] if is_solver("cvc5") else [])]
    assert [(it["solver"], it["name"]) for it in answers] == [*product(solvers, NAMES)]
    assert all(it["proved"] for it in answers)
    assert len(NAMES) == 34
    assert digest() == CHECKED


@pytest.mark.parametrize("lemma", LEMMAS, ids=NAMES)
def test_hypotheses_hold_together(lemma: Lemma) -> None:
    """All facts and obligations, with what a lemma supposes, in a universe of four accesses; those
    of the second way where the lemma uses them."""
    given = [it for it in theory().facts if "afresh" not in it or it in lemma.uses]
    for premise, _ in parts(lemma):
        assert asked(possible(given, premise)) == "sat"


@pytest.mark.parametrize("lemma", [it for it in LEMMAS if it.uses], ids=lambda it: it.name)
def test_each_fact_is_needed(lemma: Lemma) -> None:
    """Without any one of its facts a lemma has a counterexample, in a small universe."""
    for fact in lemma.uses:
        others = [each for each in lemma.uses if each != fact]
        without = (
            asked(possible(others, premise, ("not", conclusion)))
            for premise, conclusion in parts(lemma)
        )
        assert "sat" in without, fact


def test_every_fact_is_used() -> None:
    """What no lemma needs is no fact of the proof."""
    assert {*theory().facts} == {fact for it in LEMMAS for fact in it.uses}


def test_lemma_that_is_false_is_not_proved() -> None:
    """The lemma of SYNC does not follow without it, and a wrong conclusion not at all."""
    carries = theory().lemmas["sw⁺ carries"]
    without = replace(carries, uses=tuple(it for it in carries.uses if it != "SYNC"))
    assert asked(theory().question(without), seconds=2) != "unsat"
    wrong: Formula = ("=>", carries.goal[1], "false")
    assert asked(theory().question(replace(carries, goal=wrong)), seconds=2) != "unsat"


def test_formulas_are_read_as_they_are_written() -> None:
    """And what is no s-expression is refused."""
    assert written(formula("(=> (and a  b) (c d))")) == "(=> (and a b) (c d))"
    for wrong in ("(a", "a)", "a b", ""):
        with pytest.raises(ValueError, match="must be one s-expression"):
            formula(wrong)
