"""Loops that only spin: which are read as their last iteration, and which are not."""

from __future__ import annotations

import pytest

from rspverify.litmus.program import Kind, Program
from rspverify.litmus.reader import read_program
from rspverify.litmus.spins import one_more
from rspverify.source import InputError, Source
from rspverify.value import evaluate

GIVEN = "global int* x, global int* y, global atomic_int* a, global atomic_int* m"


def program(body: str, other: str = "", unroll: int = 2) -> Program:
    text = (
        f"OPENCL t\n{{}}\nP0@wg 0, dev 0 ({GIVEN}) {{\n{body}\n}}\n"
        f"P1@wg 1, dev 0 ({GIVEN}) {{\n{other}\n}}\n"
    )
    return read_program(Source("t.litmus", text), unroll)


UNLOCK = "atomic_store(m, 0);"


@pytest.mark.parametrize(
    ("body", "operations"),
    [
        ("while (atomic_load(a) == 0) ;", 1),
        ("int r; do { r = atomic_load(a); } while (r != 2); *y = r;", 1),
        ("int r; while (1) { r = atomic_load(a); if (r == 1) break; } *y = 1;", 1),
        ("int r; for (;;) { r = *x; if (r) break; if (atomic_load(a)) continue; }", 2),
        ("while (atomic_load(a) == 0) { atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE,"
         " memory_order_acquire, memory_scope_device); }", 2),
        ("while (1) { if (atomic_load(a)) { *y = 1; break; } }", 2),
        (f"while (atomic_exchange(m, 1) != 0) ; {UNLOCK}", 1),
        (f"while (atomic_exchange(m, 1)) ; {UNLOCK}", 1),
        ("if (*x) while (atomic_load(a) == 0) ;", 1),
        ("while (1) ;", 0),
        ("int r = 0; while (r == 0) r = atomic_load(a);", 1),  # the first test is certain to hold
        ("for (int r = 0; r == 0; r = atomic_load(a)) ;", 1),
        (f"int e = 0; while (!atomic_compare_exchange_strong(m, &e, 1)) e = 0; {UNLOCK}", 1),
        (f"int e; do e = 0; while (!atomic_compare_exchange_strong(m, &e, 1)); {UNLOCK}", 1),
    ],
)  # fmt: skip
def test_a_spin_is_its_last_iteration(body: str, operations: int) -> None:
    whole = program(body)
    (spin,) = whole.spins
    assert spin.end - spin.first == operations
    assert whole.cuts == () and whole.within == {} and len(whole.goes_on) == 1


@pytest.mark.parametrize(
    ("body", "other"),
    [
        ("int n; while (atomic_load(a) == 0) n++; *y = n;", ""),  # what it counts is seen
        ("int r, s; while (1) { r = atomic_load(a); if (r) break; s = *x; }", ""),  # s is left
        ("int r; while (1) { if (r) break; r = atomic_load(a); }", ""),  # the one before decides
        ("while (atomic_load(a) == 0) *y = 1;", ""),
        ("while (atomic_load(a) == 0) atomic_store(m, 1);", ""),
        ("while (atomic_fetch_add(a, 1) == 0) ;", ""),
        (f"while (atomic_exchange(m, 1) != 0) ; {UNLOCK}", "atomic_store(m, 2);"),
        (f"while (atomic_exchange(m, 1) != 0) ; {UNLOCK}", "atomic_store(m, *x);"),
        ("while (atomic_compare_exchange_strong(m, x, 0)) ;", ""),  # it goes on where it succeeds
        ("int e = 0; while (!atomic_compare_exchange_strong(m, &e, 1)) ;", ""),  # e is found
        ("while (atomic_exchange(m, 1) == 0) ;", ""),  # the last one changes nothing, the others do
        ("while (atomic_load(a) == 0) barrier(CLK_GLOBAL_MEM_FENCE);", ""),
    ],
)
def test_what_others_see_is_no_spin(body: str, other: str) -> None:
    whole = program(body, other)
    assert whole.spins == () and whole.unrolled is None
    assert whole.within == {"iterations": 2}


def test_a_spin_in_a_spin() -> None:
    """A lock that is looked at before it is taken: both loops are left by reads alone."""
    body = "while (1) { while (atomic_load(m) == 1) ; if (atomic_exchange(m, 1) == 0) break; }"
    whole = program(f"{body} {UNLOCK}")
    inner, outer = whole.spins
    assert (inner.first, inner.end) == (0, 1) and (outer.first, outer.end) == (0, 2)
    assert (inner.rmws, outer.rmws) == (frozenset(), {1})
    assert [it.kind for it in whole.operations] == [Kind.LOAD, Kind.RMW, Kind.STORE]


def test_a_spin_in_a_loop_that_ends_by_itself_is_one_each_time() -> None:
    whole = program("for (int i = 0; i < 3; i++) while (atomic_load(a) != i) ;")
    assert [(spin.first, spin.end) for spin in whole.spins] == [(0, 1), (1, 2), (2, 3)]
    assert whole.within == {}


def test_a_loop_is_tried_in_bounded_time_however_deep_it_is() -> None:
    with pytest.raises(InputError, match="a loop that has not ended"):
        program("while (atomic_load(a)) " * 30 + ";")


def test_the_bounded_reading_is_beside_it() -> None:
    whole = program("int r; do r = atomic_load(a); while (r == 0); *y = r;", unroll=3)
    assert whole.unrolled is not None
    assert whole.unrolled.within == {"iterations": 3}
    assert sum(it.reads for it in whole.unrolled.operations) == 3


def test_one_iteration_more_is_one_that_goes_on() -> None:
    whole = program("int r; do r = atomic_load(a); while (r == 0); *y = r;", "*x = atomic_load(a);")
    more = one_more(whole, whole.spins[0])
    assert [it.index for it in more.operations] == list(range(5))
    for first in (0, 1):
        for last in (0, 1):
            read = {0: first, 1: last, 3: 7}
            ends = not any(evaluate(guard, read) for guard in more.goes_on)
            assert ends is (first == 0 and last == 1)
    assert evaluate(more.threads[0].registers["r"], {0: 0, 1: 1}) == 1
    assert more.operations[2].value == more.threads[0].registers["r"]
