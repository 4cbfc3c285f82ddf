"""Operations of OpenCL as IR: each once, with the scopes that clang gives them."""

import pytest

from rspverify.compilers.ir import Surroundings, module, shapes, spellings
from rspverify.litmus.program import Order, Scope
from rspverify.scheme.memory import IN_BOTH, IN_GLOBAL, IN_LOCAL, Memory
from rspverify.scheme.orders import POSSIBLE, Op
from rspverify.scheme.row import Shape


def only(op: Op, scope: Scope | None, order: Order | None) -> str:
    return next(iter(spellings(Shape(op, scope, order, False)).values()))


def test_every_operation_is_there_once() -> None:
    every = list(shapes())
    assert len(set(every)) == len(every)
    for op in Op:
        assert {it.order for it in every if it.kind is op and it.scope} == POSSIBLE[op]
    assert {it.memory for it in every if it.kind is not Op.FENCE} == {IN_GLOBAL, IN_LOCAL}


@pytest.mark.parametrize(
    ("scope", "order", "named"),
    [
        (Scope.WI, Order.ACQUIRE, 'syncscope("singlethread-one-as") acquire'),
        (Scope.SG, Order.ACQUIRE, 'syncscope("wavefront-one-as") acquire'),
        (Scope.WG, Order.RELAXED, 'syncscope("workgroup-one-as") monotonic'),
        (Scope.DV, Order.SEQ_CST, 'syncscope("agent") seq_cst'),
        (Scope.ALL, Order.ACQUIRE, 'syncscope("one-as") acquire'),
        (Scope.ALL, Order.SEQ_CST, "%x  seq_cst"),
    ],
)
def test_scopes(scope: Scope, order: Order, named: str) -> None:
    assert named in only(Op.LOAD, scope, order)


def test_fences_name_their_memory_and_not_by_their_scope() -> None:
    def fence(memory: Memory) -> str:
        return spellings(Shape(Op.FENCE, Scope.WG, Order.RELEASE, False, memory))["fence"]

    both = 'fence syncscope("workgroup") release'
    assert fence(IN_BOTH) == both
    assert fence(IN_GLOBAL) == f"{both}, !mmra !1"
    assert fence(IN_LOCAL) == f"{both}, !mmra !2"
    text = module({}, Surroundings())
    assert "!1 = !{!3, !4}" in text and '!3 = !{!"amdgpu-synchronize-as", !"global"}' in text
    assert "!2 = !{!5, !6}" in text and '!5 = !{!"amdgpu-synchronize-as", !"local"}' in text


def test_a_compare_exchange_stands_for_all_orders_that_count_as_one() -> None:
    def pairs(order: Order) -> list[str]:
        return list(spellings(Shape(Op.CAS, Scope.DV, order, False)))

    assert {pair.split()[0] for pair in pairs(Order.SEQ_CST)} == {"seq_cst"}
    assert pairs(Order.RELEASE) == ["release monotonic"]
    assert pairs(Order.ACQ_REL) == ["acq_rel monotonic", "acq_rel acquire", "release acquire"]
    assert len({pair for order in POSSIBLE[Op.CAS] for pair in pairs(order)}) == 11


def test_an_rmw_stands_for_all_operators() -> None:
    found = spellings(Shape(Op.RMW, Scope.DV, Order.RELAXED, False))
    assert len(found) == 10
    assert all(f"atomicrmw {operator} ptr" in text for operator, text in found.items())
    assert all("!amdgpu.no.remote.memory" in text for text in found.values())


def test_an_operation_that_no_fence_is_for_is_nothing() -> None:
    assert only(Op.FENCE, Scope.DV, Order.RELAXED) == ""
    assert only(Op.LOAD, None, None) == "%r = load i32, ptr addrspace(1) %x, align 4"
