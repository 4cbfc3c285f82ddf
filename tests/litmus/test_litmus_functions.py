"""What each function that a test can call does: operations, orders, scopes, values."""

from __future__ import annotations

from itertools import product

import pytest

from rspverify.litmus.program import Kind, Operation, Order, Program, Scope
from rspverify.litmus.reader import read_program
from rspverify.source import Source
from rspverify.value import Constant, Read, evaluate

PARAMETERS = "global int* x, global atomic_int* a, local atomic_int* b, global int* zero"


def program(body: str) -> Program:
    text = f"OPENCL t\n{{}}\nP0@wg 0, dev 0 ({PARAMETERS}) {{\n{body}\n}}"
    return read_program(Source("t.litmus", text))


def only(body: str) -> Operation:
    (operation,) = program(body).operations
    return operation


# ---- forms ---------------------------------------------------------------------------------------

AFTER = {
    "exchange": ("exchange", lambda old, new: new),
    "fetch_add": ("+", int.__add__),
    "fetch_sub": ("-", int.__sub__),
    "fetch_or": ("|", int.__or__),
    "fetch_xor": ("^", int.__xor__),
    "fetch_and": ("&", int.__and__),
    "fetch_min": ("min", min),
    "fetch_max": ("max", max),
}
"""Of each read-modify-write its operator, and what is there after it."""

FORMS = {
    "load": (Kind.LOAD, "a"),
    "store": (Kind.STORE, "a, 1"),
    **dict.fromkeys(AFTER, (Kind.RMW, "a, 1")),
}


@pytest.mark.parametrize("remote", ["", "_remote"])
@pytest.mark.parametrize("name", FORMS)
def test_forms(name: str, remote: str) -> None:
    """OpenCL C 2.0 §6.13.11: the short forms are seq_cst, and the scope may be left out."""
    kind, arguments = FORMS[name]
    for function, more, order, scope in (
        ("", "", Order.SEQ_CST, Scope.DV),
        ("_explicit", ", memory_order_relaxed", Order.RELAXED, Scope.DV),
        ("_explicit", ", memory_order_relaxed, memory_scope_work_item", Order.RELAXED, Scope.WI),
        ("_explicit", ", memory_order_seq_cst, memory_scope_work_group", Order.SEQ_CST, Scope.WG),
    ):
        found = only(f"atomic_{name}{function}{remote}({arguments}{more});")
        assert (found.kind, found.location, found.order, found.scope) == (kind, "a", order, scope)
        assert found.remote == bool(remote)
        assert found.atomic


@pytest.mark.parametrize("name", AFTER)
def test_what_a_read_modify_write_writes(name: str) -> None:
    operator, after = AFTER[name]
    whole = program(f"int r = atomic_{name}(a, *x);")
    load, rmw = whole.operations
    assert (rmw.operator, rmw.operand, whole.threads[0].registers["r"]) == (
        operator,
        Read(load.index),
        Read(rmw.index),
    )
    assert rmw.value is not None
    for old, new in product((-3, 0, 5), repeat=2):
        assert evaluate(rmw.value, {load.index: new, rmw.index: old}) == after(old, new)


# ---- compare-exchange ----------------------------------------------------------------------------

CAS = "atomic_compare_exchange_strong_explicit"


def test_a_compare_exchange_reads_what_it_expects_by_a_plain_load_of_its_own() -> None:
    whole = program(
        f"int r = {CAS}_remote(a, zero, 2, memory_order_acq_rel, memory_order_relaxed,"
        " memory_scope_work_group);"
    )
    expected, rmw = whole.operations
    assert (expected.kind, expected.location, expected.order) == (Kind.LOAD, "zero", None)
    assert (rmw.kind, rmw.location, rmw.operator) == (Kind.RMW, "a", "compare_exchange")
    assert (rmw.order, rmw.failure, rmw.scope) == (Order.ACQ_REL, Order.RELAXED, Scope.WG)
    assert rmw.remote and rmw.value == rmw.operand == Constant(2)
    assert rmw.success is not None
    result = whole.threads[0].registers["r"]
    for wanted, there in product((0, 1), repeat=2):
        read = {expected.index: wanted, rmw.index: there}
        assert evaluate(rmw.success, read) == evaluate(result, read) == int(wanted == there)
    assert (rmw.failed.kind, rmw.failed.order) == (Kind.LOAD, Order.RELAXED)


def test_that_a_weak_compare_exchange_never_fails_by_chance_is_said() -> None:
    assert program("atomic_compare_exchange_weak(a, zero, 1);").within == {"spurious failures": 0}
    assert program("atomic_compare_exchange_strong(a, zero, 1);").within == {}


@pytest.mark.parametrize("where", ["", "if (*x) ", "int t = *x && ", "int t = *x ? 0 : "])
def test_what_is_expected_may_be_in_a_register_which_gets_what_was_found(where: str) -> None:
    """Where it succeeds that is what it held. What is not executed assigns nothing."""
    whole = program(f"int e = 3; {where}atomic_compare_exchange_strong(a, &e, 1); int r = e;")
    rmw = whole.operations[-1]
    assert (rmw.kind, rmw.location) == (Kind.RMW, "a") and rmw.success is not None
    for there, there_of_x in product((3, 4), (0, 1)):
        read = {0: there_of_x, rmw.index: there}
        assert evaluate(rmw.success, read) == (there == 3)
        executed = evaluate(rmw.guard, read)
        for name in ("e", "r"):
            held = evaluate(whole.threads[0].registers[name], read)
            assert held == (there if executed else 3)


def test_the_next_one_expects_what_the_last_one_found() -> None:
    first, second = program(
        "int e; int r = atomic_compare_exchange_strong(a, &e, 1)"
        " || atomic_compare_exchange_strong(a, &e, 2);"
    ).operations
    assert second.success is not None
    for one, two in product((0, 1), repeat=2):
        read = {first.index: one, second.index: two}
        assert evaluate(second.success, read) == (one == two)
        assert evaluate(second.guard, read) == (one != 0)


# ---- fences and barriers -------------------------------------------------------------------------


def test_who_meets_at_a_barrier() -> None:
    text = "P{0}@wg {1}, dev {2} (global int* x) {{ {3}(CLK_GLOBAL_MEM_FENCE); }}\n"
    places = ((0, 0, 0), (1, 0, 0), (2, 1, 0), (3, 0, 1))
    for name, number in (("barrier", 2), ("inter_workgroup_barrier", 3)):
        threads = "".join(text.format(*place, name) for place in places)
        found = read_program(Source("t", f"OpenCL t\n{{ [x]=0; }}\n{threads}exists (x=0)"))
        for thread in found.threads[:number]:
            party = found.party(thread.operations[0])
            assert [each.index for each in party] == list(range(number))
        assert [each.index for each in found.party(found.operations[3])] == [3]
