"""Which read-modify-writes give a value at which nothing looks."""

from __future__ import annotations

import pytest

from rspverify.litmus.program import Kind
from rspverify.litmus.reader import read_program
from rspverify.source import Source

ADD = "atomic_fetch_add_explicit(x, 1, memory_order_relaxed)"
GIVEN = "(global atomic_int* x, global int* y)"


def used(text: str, unroll: int = 8) -> list[bool]:
    program = read_program(Source("t.litmus", f"OpenCL t\n{{ [x]=0; [y]=0; }}\n{text}"), unroll)
    assert all(it.used for it in program.operations if it.kind is not Kind.RMW)
    return [it.used for it in program.operations if it.kind is Kind.RMW]


def of_thread(body: str, asks: str = "exists (x=1)", unroll: int = 8) -> list[bool]:
    return used(f"P0@wg 0, dev 0 {GIVEN} {{ {body} }}\n{asks}", unroll)


@pytest.mark.parametrize(
    ("body", "results"),
    [
        (f"{ADD};", [False]),
        (f"int r = {ADD};", [False]),
        (f"int r; r = {ADD};", [False]),
        (f"int r = {ADD}; *y = r;", [True]),
        (f"int r = {ADD}; r = 1;", [False]),
        (f"int r = {ADD}; r += 1;", [True]),
        (f"*y = {ADD};", [True]),
        (f"int r = {ADD} + 1;", [True]),
        (f"if ({ADD}) {{ *y = 1; }}", [True]),
        (f"if (*y) {{ {ADD}; }}", [False]),
        (f"int r = {ADD}; int s = {ADD}; *y = s;", [False, True]),
        (
            "atomic_compare_exchange_strong_explicit(x, y, 1, memory_order_relaxed, "
            "memory_order_relaxed);",
            [False],
        ),
        (
            "int e = 0; atomic_compare_exchange_strong_explicit(x, &e, 1, memory_order_relaxed, "
            "memory_order_relaxed);",
            [True],
        ),
    ],
)
def test_what_the_text_looks_at_is_used(body: str, results: list[bool]) -> None:
    assert of_thread(body) == results


@pytest.mark.parametrize(
    ("asks", "result"),
    [
        ("exists (0:r=0)", True),
        ("forall (x=1 \\/ ~(0:r=0))", True),
        ("exists (0:s=0)", False),
        ("locations [0:r;]", True),
        ("locations [x;]", False),
        ("", True),
    ],
)
def test_so_is_what_the_test_speaks_of(asks: str, result: bool) -> None:
    """Without a condition it is about all registers; what no register keeps is not used then."""
    assert of_thread(f"int s = 0; int r = {ADD};", asks) == [result]
    assert of_thread(f"{ADD};", asks.replace("0:r", "x").replace("0:s", "x")) == [False]


def test_it_is_the_same_however_often_a_loop_is_unrolled() -> None:
    """The value of the last iteration alone goes nowhere; a compiler has one instruction for all."""
    body = f"int p = 0; for (int i = 0; i < *y; i++) {{ if (p) {{ *y = 1; }} p = {ADD}; }}"
    for unroll in (1, 2, 3):
        assert of_thread(body, unroll=unroll) == [True] * unroll
        assert of_thread(body.replace("if (p)", "if (i)"), unroll=unroll) == [False] * unroll


def test_functions_and_kernels() -> None:
    called = f"void f{GIVEN} {{ int r = {ADD}; }}\nint g{GIVEN} {{ return {ADD}; }}\n"
    thread = f"P0@wg 0, dev 0 {GIVEN} {{ f(x, y); g(x, y); }}\nexists (x=1)"
    assert used(f"{called}{thread}") == [False, True]
    kernel = f"kernel void k{GIVEN} {{ int r = {ADD}; }}\ngroups 1 threads 2\n"
    assert used(f"{kernel}exists (1:r=0)") == [True, True]
    assert used(f"{kernel}exists (x=0)") == [False, False]
