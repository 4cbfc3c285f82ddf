"""Scripts of SMT-LIB 2, read back by other readers of the language: the same question."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
import z3
from hypothesis import given, settings
from hypothesis import strategies as st
from smt.truth import assignments, terms, value

from rspverify.smt.smtlib import script
from rspverify.smt.term import FALSE, TRUE, Term, all_of, variable

X, Y, Z = (variable(name) for name in "xyz")
PROPERTY = settings(max_examples=60, derandomize=True)
Reader = Callable[[str], str]


def z3_says(text: str) -> str:
    solver = z3.Solver()
    solver.from_string(text)
    return str(solver.check())


def cvc5_says(text: str) -> str:
    cvc5 = pytest.importorskip("cvc5", reason="cvc5 is not installed")
    solver = cvc5.Solver()
    parser = cvc5.InputParser(solver)
    parser.setStringInput(cvc5.InputLanguage.SMT_LIB_2_6, text, "question")
    said = ""
    while not (command := parser.nextCommand()).isNull():
        said += command.invoke(solver, parser.getSymbolManager())
    return said.strip()


def bitwuzla_says(text: str) -> str:
    bitwuzla = pytest.importorskip("bitwuzla", reason="bitwuzla is not installed")
    parser = bitwuzla.Parser(bitwuzla.TermManager(), bitwuzla.Options())
    parser.parse(text.replace("(check-sat)\n", ""), True, False)
    return str(parser.bitwuzla().check_sat().name).lower()


READERS: list[Reader] = [z3_says, cvc5_says, bitwuzla_says]
READER = pytest.mark.parametrize("says", READERS, ids=lambda each: each.__name__)


@READER
@PROPERTY
@given(asserted=st.lists(terms([X, Y, Z]), max_size=4))
def test_every_reader_gives_the_answer_of_the_truth_table(
    says: Reader, asserted: list[Term]
) -> None:
    holds = any(value(all_of(asserted), each) for each in assignments([X, Y, Z]))
    assert says(script(asserted)) == ("sat" if holds else "unsat")


@READER
@pytest.mark.parametrize(
    "name",
    ["a b", "a|b", "back\\slash", "(", ";", '"', "", "0", "x=1<2", "größe", "two\nlines", "let"],
)
def test_odd_names(says: Reader, name: str) -> None:
    one, other = variable(name), variable(name)
    assert says(script([one, ~other])) == "sat"
    assert says(script([one | other, ~one, ~other])) == "unsat"


@READER
def test_constants(says: Reader) -> None:
    assert says(script([])) == "sat"
    assert says(script([TRUE, X])) == "sat"
    assert says(script([X, FALSE])) == "unsat"


def test_variables_are_named_as_their_terms() -> None:
    text = script([variable("mo1,2") & variable("FLUSH7")])
    assert re.search(r"\(declare-const \|mo1,2 #\d\| Bool\)", text)
    assert re.search(r"\(declare-const \|FLUSH7 #\d\| Bool\)", text)


@READER
def test_what_is_shared_is_said_once(says: Reader) -> None:
    """Each level has the one below twice, under a negation: written out it would be 2^60 long."""
    term = X
    for _ in range(60):
        term = (~term & Y) | (~term & Z)
    text = script([term, X])
    assert len(text) < 20_000
    assert says(text) == "sat"


@READER
def test_a_deep_term_is_no_deep_text(says: Reader) -> None:
    term = X
    for _ in range(3_000):
        term = ~(term & Y) | Z
    text = script([term, ~Z])
    assert len(text) < 400_000
    assert says(text) == "sat"


@pytest.mark.parametrize(("known", "status"), [(None, "unknown"), (True, "sat"), (False, "unsat")])
def test_the_answer_that_is_known_is_the_status(known: bool | None, status: str) -> None:
    lines = script([X], satisfiable=known).splitlines()
    assert lines[:2] == ["(set-logic QF_UF)", f"(set-info :status {status})"]
    assert lines[-1] == "(check-sat)"


@READER
def test_the_header_is_a_comment_whatever_is_in_it(says: Reader) -> None:
    text = script([X], ["what it asks", "", "of two\n(assert false)\rlines"])
    assert text.startswith("; what it asks\n; of two\n; (assert false)\n; lines\n(set-logic")
    assert says(text) == "sat"
