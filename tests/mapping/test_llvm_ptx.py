"""The table llvm-22-ptx is what LLVM emits."""

from __future__ import annotations

import re

import pytest

from rspverify.litmus.program import Order, Scope
from rspverify.mapping.items import filled
from rspverify.mapping.reader import read_table
from rspverify.mapping.targets import TARGETS
from rspverify.scheme.orders import Op
from rspverify.scheme.row import Shape
from rspverify.source import read_source

llvm = pytest.importorskip("llvmlite.binding", reason="llvmlite emits the code")
if llvm.llvm_version_info[0] != 22:
    pytest.skip("the table is of LLVM 22", allow_module_level=True)

TRIPLE = "nvptx64-nvidia-cuda"
SCOPES = {Scope.WG: 'syncscope("block")', Scope.DV: 'syncscope("device")', Scope.ALL: ""}
ORDERS = {it: it.value for it in Order if it is not Order.CONSUME}
ORDERS[Order.RELAXED] = "monotonic"
ON_FAILURE = {"release": "monotonic", "acq_rel": "acquire"}
POINTER = "ptr addrspace(1) %p"
IR = {
    Op.LOAD: f"%r = load atomic i32, {POINTER} {{scope}} {{order}}, align 4",
    Op.STORE: f"store atomic i32 %v, {POINTER} {{scope}} {{order}}, align 4",
    Op.RMW: f"%r = atomicrmw add {POINTER}, i32 %v {{scope}} {{order}}",
    Op.CAS: f"%r = cmpxchg {POINTER}, i32 %e, i32 %v {{scope}} {{order}} {{failure}}",
    Op.FENCE: "fence {scope} {order}",
}
CASES = [
    *((Op.LOAD, it) for it in (Order.RELAXED, Order.ACQUIRE, Order.SEQ_CST)),
    *((Op.STORE, it) for it in (Order.RELAXED, Order.RELEASE, Order.SEQ_CST)),
    *((op, it) for op in (Op.RMW, Op.CAS) for it in ORDERS),
    *((Op.FENCE, it) for it in ORDERS if it is not Order.RELAXED),
]


def emitted(op: Op, order: Order, scope: Scope) -> list[str]:
    """The mnemonics of an operation's code, without state spaces and types."""
    word = ORDERS[order]
    failure = ON_FAILURE.get(word, word)
    body = IR[op].format(scope=SCOPES[scope], order=word, failure=failure)
    head = f'target triple = "{TRIPLE}"\ndefine void @f({POINTER}, i32 %v, i32 %e) {{'
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    machine = llvm.Target.from_triple(TRIPLE).create_target_machine(
        cpu="sm_90", features="+ptx86", opt=1
    )
    text = machine.emit_assembly(llvm.parse_assembly(f"{head}\n{body}\nret void\n}}"))
    found = re.findall(r"^\s*((?:ld|st|atom|fence)\.[\w.]+)", text, re.MULTILINE)
    plain = (re.sub(r"\.global|\.[bu]32", "", it) for it in found if ".param" not in it)
    return [it.replace("atom.add", "atom.relaxed.gpu.add") for it in plain]


@pytest.mark.parametrize("scope", SCOPES)
@pytest.mark.parametrize(("op", "order"), CASES)
def test_a_row_is_what_is_emitted(op: Op, order: Order, scope: Scope) -> None:
    """An atom without order and scope is relaxed, and of the gpu (PTX ISA, «atom»)."""
    row = read_table(read_source("schemes/gpus/llvm-22-ptx.yaml")).row_of(
        Shape(op, scope, order, False)
    )
    assert row is not None
    words = {"{SCOPE}": TARGETS["ptx"].scopes[scope], "{OP}": "add"}
    assert [filled(it, words).split()[0] for it in row.text] == emitted(op, order, scope)
