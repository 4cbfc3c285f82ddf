"""Functions and local definitions: an application means what its expansion by hand means."""

import re
from pathlib import Path

import pytest
from axiomatic.test_cat_language import meaning, problems, read
from hypothesis import given, settings
from hypothesis import strategies as st
from relation.concrete import relation_expressions, set_expressions

from rspverify.axiomatic.model import Let, MemoryModel
from rspverify.relation.expression import Expression

TABLE = Path(__file__).with_name("expansions.txt").read_text()


@pytest.mark.parametrize("line", re.findall(r"^[^#\n].+$", TABLE, re.MULTILINE))
def test_an_expression_is_what_it_means_by_hand(line: str) -> None:
    names = "let a = rf let b = mo let c = sb let S = R let T = W let U = WG "
    *definitions, rest = line.split(" : ")
    expression, by_hand = rest.split(" == ")
    before = "".join([names, *definitions])
    assert meaning(expression, before) == meaning(by_hand, before)


def test_free_names_mean_what_they_meant_where_the_function_is() -> None:
    """The function keeps the old x under a name of its own."""
    model = read("let x = rf let f(r) = x; r let x = mo let it = f(x)")
    assert [each.name for each in model.statements] == ["hb", "Hb", "x", "x@1", "x", "it"]
    assert [
        str(each.definitions[0][1]) for each in model.statements[2:] if isinstance(each, Let)
    ] == [
        "rf",
        "x",
        "mo",
        "x@1; x",
    ]


def test_a_base_name_in_a_function_stays_the_base_name() -> None:
    model = read("let W = R let it = WW(rf)")
    assert str(model.definition("it")) == "rf & W@1 * W@1"
    assert str(model.definition("W@1")) == "W"
    assert model.names == {"sb", "W", "R", "rf"}


def test_what_a_function_keeps_costs_nothing_where_it_is_not_applied() -> None:
    model = read("let f(r) = mo; r let mo = rf let it = mo")
    assert [each.name for each in model.statements] == ["hb", "Hb", "mo", "it"]
    assert model.names == {"sb", "rf"}


@pytest.mark.parametrize("number", [20, 60, 400])
def test_what_grows_without_bound_is_an_error_at_its_line(number: int) -> None:
    doubling = [
        "let f0(r) = r | r",
        *(f"let f{i}(r) = f{i - 1}(f{i - 1}(r))" for i in range(1, number)),
    ]
    found = problems("\n".join([*doubling, f"let it = f{number - 1}(rf)"]))
    assert {each.message for each in found} <= {
        "an expression must be at most 150 operators deep",
        "an expression must have at most 10,000 operators and names",
    }
    assert all(each.span is not None and each.span.line == number + 3 for each in found)


def test_what_is_expanded_without_growing_has_a_bound() -> None:
    same = ["let f0(r) = r", *(f"let f{i}(r) = f{i - 1}(f{i - 1}(r))" for i in range(1, 20))]
    (problem,) = problems("\n".join([*same, "let it = f19(rf)"]))
    assert str(problem.span) == "t.cat:23:10"
    assert "the functions of a model must expand to at most" in problem.message


def test_local_definitions_that_grow_have_a_bound() -> None:
    body = "let x0 = rf in " + "".join(f"let x{i} = x{i - 1} | x{i - 1} in " for i in range(1, 60))
    (problem,) = problems(f"let it = {body} x59")
    assert problem.message == "an expression must have at most 10,000 operators and names"


# ---- random functions, and the text that one would write without them ----

SETS, RELATIONS = ("R", "W", "s"), ("rf", "mo", "r")


@settings(max_examples=25)
@given(
    relation_expressions(SETS, RELATIONS, 2),
    relation_expressions(SETS[:2], RELATIONS[:2], 1),
    set_expressions(SETS[:2], 1),
)
def test_random_functions(body: Expression, relation: Expression, members: Expression) -> None:
    """Arguments in brackets in place of parameters, by an `in` that shadows nothing else."""
    applied = meaning(f"f({relation}, {members})", f"let f(r, s) = {body}")
    local = meaning(f"let r = {relation} and s = {members} in {body}")
    named = read(f"let r = {relation} and s = {members}\nlet it = {body}").definition("it")
    assert named is not None
    assert applied == local
    assert applied == meaning(substituted(str(named), str(relation), str(members)))


def substituted(text: str, relation: str, members: str) -> str:
    """The text with what r and s stand for."""
    words = {"r": f"({relation})", "s": f"({members})"}
    parts = text.replace("domain", "D").replace("range", "G").replace("rf", "F").replace("mo", "M")
    parts = "".join(words.get(each, each) for each in parts)
    return parts.replace("D", "domain").replace("G", "range").replace("F", "rf").replace("M", "mo")


NAMES = st.sampled_from(["a", "b", "c"])


@settings(max_examples=25)
@given(st.lists(st.tuples(NAMES, relation_expressions(("R",), ("a", "b", "c"), 1)), max_size=6))
def test_redefinitions(definitions: list[tuple[str, Expression]]) -> None:
    """A function means the same however its free names are defined again after it."""
    start = "let a = rf let b = mo let c = sb\n"
    steps = "\n".join(f"let {name} = {each}" for name, each in definitions)
    after = read(f"{start}let f(r) = (r; a) | b | c\n{steps}\nlet it = f(rf)")
    kept = read(f"{start}let it = (rf; a) | b | c\n{steps}")
    assert expanded(after, "it") == expanded(kept, "it")


def expanded(model: MemoryModel, name: str) -> str:
    """What a name stands for in base names alone, with all brackets."""
    values: dict[str, str] = {}
    for statement in model.statements:
        if isinstance(statement, Let):
            made = {
                each: spelled(str(expression), values) for each, expression in statement.definitions
            }
            values |= made
    return values[name]


def spelled(text: str, values: dict[str, str]) -> str:
    def value(name: re.Match[str]) -> str:
        found = values.get(name[0], name[0])
        return found if re.fullmatch(r"\w+", found) else f"({found})"

    return re.sub(r"[A-Za-z][\w@]*", value, text)
