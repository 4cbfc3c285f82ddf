"""What is said of texts that are wrong, or right and beyond this version: all of it, at its place."""

import re
from pathlib import Path

import pytest
from messages import cases, told

from rspverify.litmus.reader import read_program
from rspverify.source import InputError, Problem, Severity, Source

HEAD = "OPENCL t\n{}\nP0@wg 0, dev 0 (global int* x, global atomic_int* a) {\n"


@pytest.mark.parametrize(("text", "said"), cases(Path(__file__).with_name("messages.txt")))
def test_what_is_said(text: str, said: list[str]) -> None:
    with pytest.raises(InputError) as caught:
        read_program(Source("t", text), assembly=True)
    assert told(caught.value) == said


def problems(body: str, condition: str = "") -> tuple[Problem, ...]:
    with pytest.raises(InputError) as caught:
        read_program(Source("t", f"{HEAD}{body}\n}}\n{condition}"))
    return caught.value.problems


# ---- sizes ---------------------------------------------------------------------------------------

DEEP = 2000
"""More than Python nests."""


@pytest.mark.parametrize(
    "body",
    [
        "r = " + "(" * DEEP + "1" + ")" * DEEP + ";",
        "r = " + "!" * DEEP + "1;",
        "r = " + "1+" * DEEP + "1;",
        "r = " + "1 ? 2 : " * DEEP + "1;",
        "if (1) " * DEEP + ";",
        "if (*x) ; else " * DEEP + ";",
        "{" * DEEP + "}" * DEEP,
        "while (1) " * DEEP + ";",
        "}\nexists " + "~" * DEEP + "x=1",
        "}\nexists " + "(" * DEEP + "x=1" + ")" * DEEP,
        "}\nscopeTree " + "(device " * DEEP + ")" * DEEP,
    ],
)
def test_deep_nesting(body: str) -> None:
    body, _, condition = body.partition("}\n")
    (problem,) = problems(body, condition)
    assert problem.message == "operators, brackets and statements must be nested at most 100 deep"


@pytest.mark.parametrize(
    "body",
    [
        "r = *x;" + "r = r + r;" * 200,
        "r = *x;" + "r = r + 1;" * 2000,
        "r = *x;" + "if (r) r = r + *x;" * 200,
    ],
)
def test_values_that_grow_without_end(body: str) -> None:
    (problem,) = problems(body)
    assert problem.severity is Severity.UNSUPPORTED
    assert re.match(
        "^an expression with more than 10,000 parts.* is not supported$", problem.message
    )


def test_integers_of_any_length() -> None:
    (problem,) = problems("", f"exists x={'9' * 6000}")
    assert re.match("^an integer must fit into 32 bits, not be `9+...`$", problem.message)


def test_a_hundred_problems_are_told_and_the_rest_is_counted() -> None:
    found = problems("get_work_dim(1);\n" * 150 + "r = s;\n")
    assert len(found) == 101
    assert found[-1].message == "51 more problems from here on"
    assert found[-1].severity is Severity.ERROR


def test_declarations_may_be_mixed_if_asked_for() -> None:
    """As Dartagnan reads them: atomic if all say so, and local if one does."""
    text = """OpenCL t
{ }
P0@wg 0, dev 0 (global int* x, global atomic_int* y, global atomic_int* z) { }
P1@wg 0, dev 0 (global atomic_int* x, local atomic_int* y, global atomic_int* z) { }"""
    with pytest.raises(InputError):
        read_program(Source("t", text))
    found = {it.name: it for it in read_program(Source("t", text), mixed=True).locations}
    assert {name: (it.atomic, it.region) for name, it in found.items()} == {
        "x": (False, "global"),
        "y": (True, "local"),
        "z": (True, "global"),
    }
