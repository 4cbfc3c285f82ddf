"""Functions of a test, and `return`; what they mean is in test_litmus_loops.py."""

from __future__ import annotations

import pytest

from rspverify.litmus.program import Kind, Program
from rspverify.litmus.reader import read_program
from rspverify.source import InputError, Severity, Source
from rspverify.value import evaluate


def program(functions: str, body: str, unroll: int = 4, parameters: str = "") -> Program:
    given = parameters or "global int* x, global int* y, global int* v"
    text = (
        f"OpenCL t\n{{ global int v[2]; global atomic_int f[3]; }}\n{functions}\n"
        f"P0@wg 0, dev 0 ({given}) {{\n{body}\n}}"
    )
    return read_program(Source("t", text), unroll)


def mistakes(functions: str, body: str = "", parameters: str = "") -> list[str]:
    with pytest.raises(InputError) as caught:
        program(functions, body, parameters=parameters)
    return [f"{each.span}: {each.message}" for each in caught.value.problems]


# ---- what a call is --------------------------------------------------------------------------------


def test_a_computed_element_goes_through_calls() -> None:
    whole = program("int get(int* p) { return *p; }", "int r = *x & 1; int s = get(&v[r]);")
    assert [each.location for each in whole.operations] == ["x", "v[0]", "v[1]"]
    assert evaluate(whole.threads[0].registers["s"], {0: 1, 2: 6}) == 6


def test_a_value_that_is_not_given_is_a_fault_where_it_is_used() -> None:
    function = "int f(int r) { if (r) return 1; }"
    (fault,) = program(function, "int r = *x; int s = f(r);").faults
    assert (fault.name, fault.span.line, fault.said({})) == (
        "Value",
        5,
        "f ends without a value, which is used",
    )
    assert [bool(evaluate(fault.guard, {0: value})) for value in (0, 1)] == [True, False]
    assert not program(function, "int r = *x; f(r);").faults
    assert not program("int f(int r) { if (r) return 1; else return 2; }", "int s = f(*x);").faults


def test_bool_is_0_or_1() -> None:
    functions = "bool f(bool b) { return b + b; } int g(bool b) { return b; }"
    body = (
        "bool b = 4; b = b + 2; bool c; c += 7; int r = f(3) + b + c; int s = g(5) + true - false;"
    )
    registers = program(functions, body).threads[0].registers
    assert {name: evaluate(it, {}) for name, it in registers.items()} == {
        "b": 1,
        "c": 1,
        "r": 3,
        "s": 2,
    }
    text = "OpenCL t\n{ bool o = true; }\nP0@wg 0, dev 0 (global bool* o) { *o = 6; int r = *o; }"
    whole = read_program(Source("t", text))
    assert whole.locations[0].initial == 1
    (store, _) = whole.operations
    assert store.kind is Kind.STORE and store.value is not None
    assert evaluate(store.value, {}) == 1


# ---- mistakes --------------------------------------------------------------------------------------


def test_many_functions_and_calls() -> None:
    many = "\n".join(f"void f{n}() {{ }}" for n in range(101))
    assert mistakes(many)[0].endswith("a test with more than 100 functions is not supported")
    doubled = "void f0(int* p) { *p = 1; }\n" + "\n".join(
        f"void f{n}(int* p) {{ f{n - 1}(p); f{n - 1}(p); }}" for n in range(1, 30)
    )
    with pytest.raises(InputError) as caught:
        program(doubled, "f29(x);")
    assert {each.severity for each in caught.value.problems} == {Severity.UNSUPPORTED}
    assert any("more than 1,000 calls" in each.message for each in caught.value.problems)
    deep = "void f0(int* p) { *p = 1; }\n" + "\n".join(
        f"void f{n}(int* p) {{ {'{' * 30} f{n - 1}(p); {'}' * 30} }}" for n in range(1, 30)
    )
    assert "deeper than 150 levels" in mistakes(deep, "f29(x);")[0]


# ---- loops that only spin --------------------------------------------------------------------------

WAIT = "void wait(global atomic_int* p, int n) { while (atomic_load(p) != n) ; }"
LEAVE = "int wait(global atomic_int* p, int n) { for (;;) { int r = atomic_load(p); if (r == n) return r; } }"


@pytest.mark.parametrize("functions", [WAIT, LEAVE])
def test_a_loop_in_a_function_may_only_spin(functions: str) -> None:
    body = "wait(&f[1], 2); wait(&f[2], 3); atomic_store(&f[1], 2); atomic_store(&f[2], 3);"
    whole = program(functions, body, parameters="global atomic_int* f")
    assert [each.location for each in whole.operations] == ["f[1]", "f[2]", "f[1]", "f[2]"]
    assert [(each.first, each.end) for each in whole.spins] == [(0, 1), (1, 2)]
    assert not whole.cuts and not whole.within
    assert [bool(evaluate(whole.spins[1].guard, {0: 2, 1: value})) for value in (2, 3)] == [1, 0]


def test_what_is_returned_out_of_a_spin_is_of_its_last_iteration() -> None:
    body = "int r = wait(&f[1], 2); if (r == 2) { atomic_store(&f[0], r + 1); } atomic_store(&f[1], 2);"
    whole = program(LEAVE, body, parameters="global atomic_int* f")
    assert [bool(evaluate(each.guard, {0: 2})) for each in whole.operations] == [True] * 3
    assert evaluate(whole.threads[0].registers["r"], {0: 2}) == 2
    assert len(whole.spins) == 1 and not [it for it in whole.faults if evaluate(it.guard, {0: 2})]


def test_an_index_may_only_spin() -> None:
    body = "while (atomic_load(&f[*x]) == 0) ; atomic_store(&f[0], 1); atomic_store(&f[2], 1);"
    whole = program("", body, parameters="global int* x, global atomic_int* f")
    (spin,) = whole.spins
    assert (spin.first, spin.end, len(spin.faults)) == (0, 4, 1)
    assert spin.faults == whole.faults
