"""Whatever the text is, the reader gives a model or raises InputError."""

import os
import re

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from mutants import mutants
from programs import consistent_executions
from relation.concrete import relation_expressions, set_expressions

from rspverify.axiomatic.cat import read_model
from rspverify.axiomatic.catalogue import SHIPPED
from rspverify.axiomatic.library import LIBRARY
from rspverify.axiomatic.model import MemoryModel
from rspverify.axiomatic.question import Questions
from rspverify.limits import Limits
from rspverify.litmus.reader import read_program
from rspverify.source import InputError, Source

EXAMPLES = int(os.environ.get("RSPVERIFY_FUZZ", "40"))

WIDE = """C "C++11" withsc
include "cos.cat" include "filters.cat"
let cnf = ((W * _) | (_ * W)) & loc \\ (IW * _)
let coh(hb) = (rf^-1)?; co; rf?; hb
let symm r = r | r^-1 and f(s, t) = [s]^-1+ | (!s)^2 & t
let rec hb = po | (hb; hb) and acq = [R & range(hb)] | rmw*
let local = let a = ext (rf) in f(rmw | R, symm a)
with lo from generate_orders(W & A, co0) with S from linearisations(SC, hb)
show hb, local \\ S as x
irreflexive coh(hb) acyclic S; acq as Sc ~empty lo | 0 | local
flag ~empty cnf & symm(hb) as race undefined_unless acyclic WW(hb)
let x = try rf with {} enum e = 'a || 'b procedure p(y) = call q(y) as z end
let m = match rf with || {} -> {} || e ++ es -> f e ++ es end
"""
"""Every construct of the language, and some that are refused."""

VALID = (
    WIDE,
    WIDE.split("let x = try")[0],
    *(path.read_text() for path in sorted([*SHIPPED.glob("*.cat"), *LIBRARY.glob("*.cat")])),
)
TOKEN = re.compile(r"\s+|\^-1|[\w']+|[^\w\s]")
TOKENS = [
    *sorted({token for text in VALID for token in TOKEN.findall(text)}),
    *("rec", "show", "unshow", "flag", "empty", "acyclic", "irreflexive", "as", "and", "let"),
    *("in", "with", "from", "rmw", "{}", "^2", "++", "f(", "ext", "domain", '"cos.cat"', "->", "||"),
    *("sb", "rf", "mo", "co", "loc", "W", "R", "hb", "dr", "0", "1", ",", '"', "#"),
    *("(*", "*)", "//", '"opencl-hb-common.cat"', '"."', "\n", "\x00", "\x0c", "\x85", "é", "~" * 99),
]  # fmt: skip

PROGRAM = read_program(
    Source(
        "p.litmus",
        """OPENCL t
{ [x]=0; }
P0@wg 0, dev 0 (global atomic_int* x) { *x = 1; }
P1@wg 1, dev 0 (global atomic_int* x) {
  int r0 = atomic_fetch_add_explicit(x, 1, memory_order_acq_rel, memory_scope_device);
}
""",
    )
)

fuzz = settings(max_examples=EXAMPLES, suppress_health_check=[HealthCheck.too_slow])


def check(text: str) -> MemoryModel | None:
    try:
        model = read_model(Source("fuzz.cat", text), "fuzz")
    except InputError as error:
        assert error.problems
        str(error).encode()
        for problem in error.problems:
            span = problem.span
            assert span is not None
            assert span.line >= 1 and span.column >= 1
            assert (span.line, span.column) <= (span.end_line, span.end_column)
        return None
    assert model.axioms
    return model


@fuzz
@given(st.text())
def test_any_text(text: str) -> None:
    check(text)
    check(f"let hb = sb\nacyclic hb as Hb\n{text}")


@fuzz
@given(st.lists(st.sampled_from(TOKENS), max_size=30).map(" ".join))
def test_any_tokens(text: str) -> None:
    check(text)
    check(f"let hb = sb\nacyclic hb as Hb\nlet x = {text}")


def test_what_mutants_are_made_of() -> None:
    model = check(VALID[1])
    assert model is not None and model.chooses and len(model.notes) == 1
    assert check(WIDE) is None


@fuzz
@given(mutants(VALID, TOKEN, TOKENS))
def test_mutants_of_shipped_models(text: str) -> None:
    check(text)


SETS, RELATIONS = ("R", "W", "I", "na", "A"), ("a", "b", "rf", "mo", "sb", "loc", "thd", "id")
SET, RELATION = set_expressions(SETS, 1), relation_expressions(SETS, RELATIONS, 2)
QUESTIONS = st.sampled_from(["acyclic", "irreflexive", "empty"])
STATEMENTS = (
    st.builds("let {} = {}".format, st.sampled_from(["a", "b", "rf", "loc", "hb"]), RELATION)
    | st.builds("let {} = {}".format, st.sampled_from(["R", "W"]), SET)
    | st.builds("let a = {} and b = sb".format, RELATION)
    | st.builds("{} {}".format, QUESTIONS, RELATION)
    | st.builds("empty {}".format, SET)
)


@fuzz
@given(st.lists(STATEMENTS, min_size=1, max_size=4))
def test_what_is_read_can_be_asked(statements: list[str]) -> None:
    """Small models of every kind: the answers are consistent with each other."""
    named = [
        each if each.startswith("let") else f"{each} as A{i}" for i, each in enumerate(statements)
    ]
    text = ["let hb = sb let a = rf let b = mo^-1", *named, "acyclic rf | hb as Base"]
    model = read_model(Source("fuzz.cat", "\n".join(text)), "fuzz")
    questions = Questions(PROGRAM, model, Limits())
    outcomes = set(questions.outcomes())
    assert {each.outcome for each in consistent_executions(questions)} == outcomes
    for each in ALL_OUTCOMES:
        assert questions.allows(each) == (each in outcomes)
        if each not in outcomes:
            axioms = questions.forbidding_axioms(each)
            assert set(axioms) <= {axiom.name for axiom in model.axioms}


ALL_OUTCOMES = set(
    Questions(
        PROGRAM,
        read_model(Source("any.cat", "let hb = sb\nempty hb \\ hb as None"), "any"),
        Limits(),
    ).outcomes()
)
