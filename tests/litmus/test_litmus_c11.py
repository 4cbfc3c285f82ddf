"""Tests of C11: no scopes and no places, consume, thread fences, mutexes."""

from __future__ import annotations

import pytest

from rspverify.litmus.program import Kind, Location, Order, Program
from rspverify.litmus.reader import read_program, title_of
from rspverify.source import Source
from rspverify.value import Constant, Read, Unary, evaluate


def program(body: str, parameters: str = "atomic_int* a, int* x, int* zero") -> Program:
    return read_program(Source("t.litmus", f"C t\n{{}}\n\nP0 ({parameters}) {{\n{body}\n}}"))


def test_a_test_of_c11() -> None:
    text = """C MP+rel+con
"PodWWNaRel RfeRelCon"
Prefetch=0:x=F
{ [x]=0; y=0; int z = 1; atomic_int w = 2; }
P0 (atomic_int* y, volatile int* x) {
  *x = 1;
  atomic_store_explicit(y, 1, memory_order_release);
}
P1 (atomic_int* y, volatile int* x) {
  int r0 = atomic_load_explicit(y, memory_order_consume);
  if (r0 == 1) { int r1 = *x; }
}
locations [1:r0; x;]
exists (1:r0=1 /\\ 1:r1=0)"""
    whole = read_program(Source("t", text))
    assert (whole.title, whole.language) == ("MP+rel+con", "C")
    assert [(each.device, each.workgroup) for each in whole.threads] == [(0, 0), (0, 0)]
    assert [(each.name, each.atomic, each.initial) for each in whole.locations] == [
        ("y", True, 0),
        ("x", False, 0),
        ("z", False, 1),
        ("w", True, 2),
    ]
    assert {each.region for each in whole.locations} == {"global"}
    assert {each.scope for each in whole.operations} == {None}
    assert [each.order for each in whole.operations] == [None, Order.RELEASE, Order.CONSUME, None]
    assert [str(each) for each in whole.operations] == [
        "store na x",
        "store release y",
        "load consume y",
        "load na x",
    ]


def test_titles_of_both_languages() -> None:
    assert title_of(Source("t", "C MP+na\n{}")) == "MP+na"
    assert title_of(Source("t", "OpenCL MP\n")) == "MP"
    assert title_of(Source("t", "CPP11 MP\n")) is None
    assert read_program(Source("t", "OpenCL t\n{}\nP0@wg 0, dev 0 () {}")).language == "OpenCL"


@pytest.mark.parametrize(
    ("call", "kind", "order"),
    [
        ("atomic_load(a)", Kind.LOAD, Order.SEQ_CST),
        ("atomic_store(a, 1)", Kind.STORE, Order.SEQ_CST),
        ("atomic_exchange(a, 1)", Kind.RMW, Order.SEQ_CST),
        ("atomic_fetch_sub_explicit(a, 1, memory_order_acq_rel)", Kind.RMW, Order.ACQ_REL),
        ("atomic_fetch_and_explicit(a, 1, memory_order_consume)", Kind.RMW, Order.CONSUME),
        ("atomic_init(a, 1)", Kind.STORE, None),
        ("atomic_thread_fence(memory_order_acquire)", Kind.FENCE, Order.ACQUIRE),
    ],
)
def test_operations_have_an_order_and_no_scope(call: str, kind: Kind, order: Order | None) -> None:
    (found,) = program(f"{call};").operations
    assert (found.kind, found.order, found.scope) == (kind, order, None)
    assert found.regions == frozenset({"global"})


def test_a_compare_exchange_that_fails_writes_what_it_found() -> None:
    """C11 §7.17.7.4; herd's test C16 has this outcome."""
    whole = program("int r = atomic_compare_exchange_strong(a, zero, 2);")
    expected, rmw, back = whole.operations
    assert (expected.location, rmw.location, back.location) == ("zero", "a", "zero")
    assert (back.kind, back.order, back.value) == (Kind.STORE, None, Read(rmw.index))
    assert rmw.success is not None and back.guard == Unary("!", rmw.success)
    for wanted in (0, 1):
        read = {expected.index: wanted, rmw.index: 1}
        assert evaluate(whole.threads[0].registers["r"], read) == wanted
        assert evaluate(back.guard, read) == 1 - wanted


def test_a_location_is_atomic_if_a_thread_declares_it_so() -> None:
    for first, second in (("atomic_int", "volatile int"), ("int", "_Atomic int")):
        text = f"C t\n{{ int y = 3; }}\nP0 ({first}* y) {{ *y = 1; }}\nP1 ({second}* y) {{}}"
        whole = read_program(Source("t", text))
        (location,) = whole.locations
        assert (location.atomic, location.initial) == (True, 3)
        assert not whole.operations[0].atomic


@pytest.mark.parametrize("declared", ["mutex", "mtx_t", "mutex_t"])
@pytest.mark.parametrize("prefix", ["", "mtx_"])
def test_mutexes(declared: str, prefix: str) -> None:
    whole = program(f"{prefix}lock(m); *x = 1; {prefix}unlock(m);", f"{declared}* m, int* x")
    assert whole.locations[0] == Location("m", False, "global", 0, whole.locations[0].span, True)
    lock, store, unlock = whole.operations
    assert (lock.kind, lock.location, lock.order, lock.scope) == (Kind.LOCK, "m", None, None)
    assert (unlock.kind, unlock.location) == (Kind.UNLOCK, "m")
    assert store.value == Constant(1)
    assert not (lock.reads or lock.writes or lock.atomic)


def test_a_location_may_be_called_mutex() -> None:
    whole = program("lock(mutex); unlock(mutex); *x = 2;", "mutex* mutex, int* x")
    assert whole.locations[0].mutex
    assert program("*mutex = 1; int r = *mutex;", "int* mutex").locations[0].name == "mutex"
