"""Functions of a test, and `return`, held against running the same with concrete values."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from litmus.test_litmus_loops import Load, Registers, Store, agreements

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


# ---- against a run with concrete values ----------------------------------------------------------


def twice(load: Load, store: Store) -> Registers:
    def f(i: int) -> int:
        if load() == i:
            return 7
        store(i)
        return i + 1

    r = f(1)
    return {"r": r, "s": f(r)}


def searches(load: Load, store: Store) -> Registers:
    def find(most: int) -> int:
        for i in range(most):
            while (value := load()) != 0:
                if value == 2:
                    return i
                store(i)
        store(9)
        return -1

    r = find(2)
    store(r)
    return {"r": r}


def ends_early(load: Load, store: Store) -> Registers:
    n, r = 0, 5
    while True:
        r = load()
        if r == 1:
            return {"n": n, "r": r}
        n += 1
        if r == 2:
            break
        if n == 3:
            return {"n": n, "r": r}
    store(n)
    return {"n": 8, "r": r}


def goes_on(load: Load, store: Store) -> Registers:
    total = 0
    for i in range(3):
        r = load()
        if r == 0:
            continue
        if r == 2 and i:
            return {"total": total}
        total += r
    store(total)
    return {"total": total}


def chooses(load: Load, store: Store) -> Registers:
    def small(r: int) -> bool:
        return r < 2

    def leave(r: int) -> None:
        if small(r):
            return
        store(r)

    r = load()
    leave(r)
    s = load() if small(r) and not small(load()) else 3
    leave(s + 1)
    return {"r": r, "s": s}


def waits(load: Load, store: Store) -> Registers:
    n = 0
    while load() == 0 or load() == 1:
        n += 1
    store(n)
    return {"n": n}


CASES = [
    (
        "int f(global int* p, global int* q, int i) { if (*p == i) return 7; *q = i; return i + 1; }",
        "int r = f(x, y, 1); int s = f(x, y, r);",
        twice,
    ),
    (
        "int find(int* p, int* q, int most) { int i = 4; int value = 5;"
        " for (i = 0; i < most; i++) { while (1) { value = *p; if (value == 0) break;"
        " if (value == 2) return i; *q = i; } } *q = 9; return -1; }",
        "int i = 17; int r = find(x, y, 2); *y = r;",
        searches,
    ),
    (
        "",
        "int n = 0, r = 5; while (1) { r = *x; if (r == 1) return; n++; if (r == 2) break;"
        " if (n == 3) return; } *y = n; n = 8; return; n = 9; *y = 3;",
        ends_early,
    ),
    (
        "",
        "int total = 0; for (int i = 0; i < 3; i++) { int r = *x; if (r == 0) continue;"
        " if (r == 2 && i) { return; } total += r; } *y = total;",
        goes_on,
    ),
    (
        "bool small(int r) { return r < 2; }"
        " void leave(int* q, int r) { if (small(r)) return; *q = r; }",
        "int r = *x; leave(y, r); int s = 3; if (small(r)) { int t = *x;"
        " if (!small(t)) s = *x; } leave(y, s + 1);",
        chooses,
    ),
    (
        "int at(int p[], int i) { return p[i]; } int first(int* p) { return at(&p[0], 0); }",
        "int n = 0; while (first(x) == 0 || at(x, 0) == 1) n++; *y = n;",
        waits,
    ),
]


@pytest.mark.parametrize(("functions", "body", "case"), CASES)
def test_calls_mean_what_the_functions_do(
    functions: str, body: str, case: Callable[[Load, Store], Registers]
) -> None:
    whole = program(functions, body)
    whole = whole.unrolled or whole  # Which loops only spin is told by what this test writes.
    assert not [fault for fault in whole.faults if fault.name == "Bounds"]
    assert agreements(whole, case) > 60


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
