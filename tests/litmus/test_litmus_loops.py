"""Loops: what their unrolling means, held against running the program with concrete values."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product

import pytest

from rspverify.limits import DEFAULT_UNROLL
from rspverify.litmus.program import Cut, Kind, Program
from rspverify.litmus.reader import read_program
from rspverify.source import InputError, Severity, Source
from rspverify.value import Constant, Read, evaluate


def program(body: str, unroll: int = DEFAULT_UNROLL, parameters: str = "") -> Program:
    given = parameters or "global int* x, global int* y, global atomic_int* a"
    text = f"OPENCL t\n{{}}\nP0@wg 0, dev 0 ({given}) {{\n{body}\n}}"
    return read_program(Source("t.litmus", text), unroll)


# ---- against a run with concrete values ----------------------------------------------------------
#
# Each case is a body, and the same in Python: `load` gives the next value that is read, `store`
# notes a value that is written, and the result is what the registers hold at the end.

Load = Callable[[], int]
Store = Callable[[int], None]
Registers = dict[str, int]


def spin(load: Load, store: Store) -> Registers:
    n = 0
    while load() == 0:
        n += 1
    store(n)
    return {"n": n}


def breaks(load: Load, store: Store) -> Registers:
    r, s = 0, 7
    while True:
        r = load()
        if r == 1:
            s = 1
            break
        store(r)
        s += 1
    store(s)
    return {"r": r, "s": s}


def continues(load: Load, store: Store) -> Registers:
    total, i = 0, 0
    while i < 3:
        r = load()
        if r == 0:
            i += 1
            continue
        total += r
        if r == 2:
            if total == 2:
                store(9)
                break
            total -= 1
        store(total)
        i += 1
    return {"total": total, "i": i}


def repeats(load: Load, store: Store) -> Registers:
    r, n = 0, 0
    while True:
        r = load()
        n += 1
        if r != 2:
            store(n)
            if r != 1:
                break
    return {"r": r, "n": n}


def nested(load: Load, store: Store) -> Registers:
    n = 0
    for i in range(2):
        while load() != 0:
            n += i + 1
            if n == 3:
                break
        store(n)
    return {"n": n}


def branches(load: Load, store: Store) -> Registers:
    s = 0
    if load() != 0:
        while True:
            s += 1
            if load() == 0:
                break
            if s == 2:
                s = 5
                break
            store(s)
    else:
        s = -1
    store(s)
    return {"s": s}


CASES = [
    ("n = 0; while (*x == 0) n++; *y = n;", spin),
    ("n = 0; for (; !*x; n += 1) {} *y = n;", spin),
    (
        "int r; int s = 7; while (1) { r = *x; if (r == 1) { s = 1; break; s = 2; } *y = r; s++; }"
        " *y = s;",
        breaks,
    ),
    (
        "int total = 0, i; for (i = 0; i < 3; i++) { int r = *x; if (r == 0) continue;"
        " total += r; if (r == 2) { if (total == 2) { *y = 9; break; } total -= 1; } *y = total; }",
        continues,
    ),
    (
        "int r, n = 0; do { r = *x; ++n; if (r == 2) continue; *y = n; } while (r == 1 || r == 2);",
        repeats,
    ),
    (
        "int n; for (int i = 0; i < 2; i++) { while (*x != 0) { n = n + i + 1;"
        " if (n == 3) break; } *y = n; }",
        nested,
    ),
    (
        "int s; if (*x) for (;;) { s++; if (!*x) break; if (s == 2) { s = 5; break; } *y = s; }"
        " else s = -1; *y = s;",
        branches,
    ),
]


class TooFew(Exception):
    """There is no further value to read."""


def expected(case: Callable[[Load, Store], Registers], values: Iterator[int]) -> object:
    """The registers at the end, the values written, and how many were read."""
    written: list[int] = []
    count = 0

    def load() -> int:
        nonlocal count
        count += 1
        try:
            return next(values)
        except StopIteration:
            raise TooFew from None

    registers = case(load, written.append)
    return registers, written, count


def found(whole: Program, values: Iterator[int]) -> object:
    """The same by the guards and values of operations; None where the execution is cut."""
    read: dict[int, int] = {}
    written: list[int] = []
    for each in whole.operations:
        if evaluate(each.guard, read):
            if each.kind is Kind.LOAD:
                read[each.index] = next(values)
            else:
                assert each.value is not None
                written.append(evaluate(each.value, read))
    if any(evaluate(cut.guard, read) for cut in whole.cuts):
        return None
    registers = whole.threads[0].registers
    shown = {name: evaluate(registers[name], read) for name in registers}
    return shown, written, len(read)


def agreements(whole: Program, case: Callable[[Load, Store], Registers]) -> int:
    """For how many of the values that may be read a program does what the case does, which it must."""
    agreed = 0
    for values in product((0, 1, 2), repeat=5):
        try:
            registers, written, count = expected(case, iter(values))  # type: ignore[misc]
        except TooFew:
            continue
        seen = found(whole, iter(values + (0,) * 40))
        if seen is not None:
            shown, also, reads = seen  # type: ignore[misc]
            assert {name: shown[name] for name in registers} == registers
            assert (also, reads) == (written, count)
            agreed += 1
    return agreed


@pytest.mark.parametrize(("body", "case"), CASES)
def test_unrolled_loops_mean_what_the_loop_does(
    body: str, case: Callable[[Load, Store], Registers]
) -> None:
    assert agreements(program(body, unroll=4), case) > 100


# ---- bounds --------------------------------------------------------------------------------------


def loads(whole: Program) -> int:
    return sum(each.kind is Kind.LOAD for each in whole.operations)


@pytest.mark.parametrize("unroll", [1, 2, 5])
@pytest.mark.parametrize(
    ("body", "more"),
    [
        ("while (*x) {}", 1),
        ("for (;;) { if (*x) break; }", 0),
        ("do {} while (*x);", 0),
        ("do { if (*x) continue; if (*y) break; } while (1);", 0),
    ],
)
def test_a_loop_without_an_end_is_cut(body: str, more: int, unroll: int) -> None:
    whole = program(body, unroll).unrolled
    assert whole is not None
    assert loads(whole) == unroll * (1 + ("*y" in body)) + more
    (cut,) = whole.cuts
    assert isinstance(cut, Cut)
    assert (cut.thread, cut.iterations, cut.span.line) == (0, unroll, 4)
    assert whole.within == {"iterations": unroll}


@pytest.mark.parametrize(
    ("body", "count"),
    [
        ("for (int i = 0; i < 20; i++) *x = i;", 20),
        ("int i = 20; while (i) { *x = i; i--; }", 20),
        ("int i; do { *x = 1; i += 3; } while (i < 10);", 4),
        ("for (int i = 0, j = 9; i < j; i++, j--) *x = i;", 5),
        ("for (int i = 0; i < 4; i++) for (int j = 0; j < i; j++) *x = j;", 6),
        ("while (1) { *x = 1; break; *x = 2; }", 1),
        ("while (0) *x = 1;", 0),
        ("int i; for (;;) { *x = 1; i++; if (i == 12) break; }", 12),
        ("for (int i = 0; i < 9; i++) { if (*y) continue; *x = i; }", 9),
    ],
)
def test_a_loop_whose_conditions_are_constant_needs_no_bound(body: str, count: int) -> None:
    whole = program(body, unroll=1)
    assert sum(each.kind is Kind.STORE for each in whole.operations) == count
    assert whole.cuts == () and whole.within == {}


def test_a_bound_that_is_enough_leaves_no_cut() -> None:
    body = "for (int i = 0; i < 4; i++) { if (*x) break; }"
    assert program(body, 3).within == {"iterations": 3}
    assert program(body, 4).within == {}


def test_what_follows_a_loop_is_guarded_as_the_loop_is() -> None:
    whole = program("if (*y) { while (*x) ; *y = 1; } *y = 2;", unroll=2)
    first, *_, inner, outer = whole.operations
    assert inner.guard == Read(first.index)
    assert outer.guard == first.guard == Constant(1)


def test_a_cut_inside_an_if_has_its_guard() -> None:
    whole = program("if (*y) while (*x) ;", unroll=1).unrolled
    assert whole is not None
    (cut,) = whole.cuts
    assert [evaluate(cut.guard, {0: a, 1: b, 2: c}) for a, b, c in product((0, 1), repeat=3)] == [
        a and b and c for a, b, c in product((0, 1), repeat=3)
    ]


def test_barriers_in_loops_meet_by_iteration() -> None:
    body = """for (int i = 0; i < 2; i++) {
      B: barrier(CLK_LOCAL_MEM_FENCE);
      for (int j = 0; j < 2; j++) barrier(CLK_LOCAL_MEM_FENCE);
    }
    barrier(CLK_LOCAL_MEM_FENCE);"""
    labels = [each.label for each in program(body).operations]
    assert labels == ["B[1]", "#2[1,1]", "#2[1,2]", "B[2]", "#2[2,1]", "#2[2,2]", "#3"]


def test_the_bound_must_be_positive() -> None:
    with pytest.raises(ValueError, match="at least once"):
        program(";", unroll=0)


@pytest.mark.parametrize(
    "body",
    [
        "int r; while (1) r++;",
        "int s; do { s = s + *x; if (*x) continue; } while (1);",
        "for (;;) { *x = 1; }",
        "for (int i = 0; i < 100; i++) for (int j = 0; j < 100; j++) ;",
        "while (1) { while (1) { while (1) ; } }",
        "for (int i = 0; i < 900; i++) {" + "r = 1;" * 100 + "}",
    ],
)
def test_loops_that_are_too_long_are_not_supported(body: str) -> None:
    with pytest.raises(InputError, match="a loop that has not ended") as caught:
        program(body)
    assert caught.value.severity is Severity.UNSUPPORTED


def test_a_problem_in_a_loop_is_told_once_and_in_one_that_is_never_entered_too() -> None:
    with pytest.raises(InputError) as caught:
        program("while (*x) { *q = 1; } while (0) { r = p; }")
    messages = [each.message for each in caught.value.problems]
    assert messages == [
        "the location `q` must be declared as a parameter of P0",
        "the register `p` must be declared or assigned in P0",
    ]


def test_registers_may_be_declared_anew_in_each_iteration_and_in_heads() -> None:
    body = "for (int i = 0; i < 2; i++) { int r = *x; } for (int i = 0; i < 2; i++) { int r; }"
    assert loads(program(body)) == 2
    with pytest.raises(InputError, match="must be declared once"):
        program("for (int i = 0; i < 2; i++) { int i = 3; }")
