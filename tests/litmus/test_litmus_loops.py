"""Loops and calls: what they mean, held against running the text with concrete values."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import pytest
from oracle.running import Running

from rspverify.limits import DEFAULT_UNROLL
from rspverify.litmus import tree
from rspverify.litmus.problems import Problems
from rspverify.litmus.program import Cut, Kind, Program
from rspverify.litmus.reader import read_program
from rspverify.litmus.syntax import C, parse
from rspverify.source import InputError, Severity, Source
from rspverify.value import Constant, Read, evaluate

GIVEN = "global int* x, global int* y, global atomic_int* a"


def program(body: str, unroll: int = DEFAULT_UNROLL, functions: str = "") -> Program:
    text = f"OPENCL t\n{{}} {functions}\nP0@wg 0, dev 0 ({GIVEN}) {{\n{body}\n}}"
    return read_program(Source("t.litmus", text), unroll)


# ---- against a run with concrete values ----------------------------------------------------------

CASES = [
    ("", "n = 0; while (*x == 0) n++; *y = n;"),
    ("", "n = 0; for (; !*x; n += 1) {} *y = n;"),
    (
        "",
        "int r; int s = 7; while (1) { r = *x; if (r == 1) { s = 1; break; s = 2; } *y = r; s++; }"
        " *y = s;",
    ),
    (
        "",
        "int total = 0, i; for (i = 0; i < 3; i++) { int r = *x; if (r == 0) continue;"
        " total += r; if (r == 2) { if (total == 2) { *y = 9; break; } total -= 1; } *y = total; }",
    ),
    (
        "",
        "int r, n = 0; do { r = *x; ++n; if (r == 2) continue; *y = n; } while (r == 1 || r == 2);",
    ),
    (
        "",
        "int n = 1; for (int i = 0; i < 2; i++) { int r = *x; if (r == 1) continue; n = 5 + i; }"
        " *y = n;",
    ),
    ("", "int n = *x; do { continue; n = 5; } while (0); *y = n;"),
    (
        "",
        "int n; for (int i = 0; i < 2; i++) { while (*x != 0) { n = n + i + 1;"
        " if (n == 3) break; } *y = n; }",
    ),
    (
        "",
        "int s; if (*x) for (;;) { s++; if (!*x) break; if (s == 2) { s = 5; break; } *y = s; }"
        " else s = -1; *y = s;",
    ),
    (
        "int f(global int* p, global int* q, int i) { if (*p == i) return 7; *q = i; return i + 1; }",
        "int r = f(x, y, 1); int s = f(x, y, r);",
    ),
    (
        "int find(int* p, int* q, int most) { int i = 4; int value = 5;"
        " for (i = 0; i < most; i++) { while (1) { value = *p; if (value == 0) break;"
        " if (value == 2) return i; *q = i; } } *q = 9; return -1; }",
        "int i = 17; int r = find(x, y, 2); *y = r;",
    ),
    (
        "",
        "int n = 0, r = 5; while (1) { r = *x; if (r == 1) return; n++; if (r == 2) break;"
        " if (n == 3) return; } *y = n; n = 8; return; n = 9; *y = 3;",
    ),
    (
        "",
        "int total = 0; for (int i = 0; i < 3; i++) { int r = *x; if (r == 0) continue;"
        " if (r == 2 && i) { return; } total += r; } *y = total;",
    ),
    (
        "bool small(int r) { return r < 2; }"
        " void leave(int* q, int r) { if (small(r)) return; *q = r; }",
        "int r = *x; leave(y, r); int s = 3; if (small(r)) { int t = *x;"
        " if (!small(t)) s = *x; } leave(y, s + 1);",
    ),
    (
        "int at(int p[], int i) { return p[i]; } int first(int* p) { return at(&p[0], 0); }",
        "int n = 0; while (first(x) == 0 || at(x, 0) == 1) n++; *y = n;",
    ),
]


class TooFew(Exception):
    """There is no further value to read."""


def expected(test: tree.Test, values: Iterator[int]) -> tuple[dict[str, int], list[int], int]:
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

    return Running(test, load, written.append).registers, written, count


def found(whole: Program, values: Iterator[int]) -> tuple[dict[str, int], list[int], int] | None:
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


@pytest.mark.parametrize(("functions", "body"), CASES)
def test_what_is_read_does_what_the_text_does(functions: str, body: str) -> None:
    whole = program(body, unroll=4, functions=functions)
    whole = whole.unrolled or whole  # Which loops only spin is told by what this test writes.
    assert not [fault for fault in whole.faults if fault.name == "Bounds"]
    test = parse(C, whole.source, whole.source.text, Problems())
    agreed = 0
    for values in product((0, 1, 2), repeat=5):
        try:
            registers, written, count = expected(test, iter(values))
        except TooFew:
            continue
        seen = found(whole, iter(values + (0,) * 40))
        if seen is not None:
            shown, also, reads = seen
            assert {name: shown[name] for name in registers} == registers
            assert (also, reads) == (written, count)
            agreed += 1
    assert agreed > (60 if functions or "return" in body else 100)


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
