"""Operations of OpenCL and C as LLVM's IR, as clang writes them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import product
from typing import assert_never

from msgspec import Struct

from rspverify.compilers.processors import TRIPLE
from rspverify.litmus.program import GLOBAL, LOCAL, Order, Scope
from rspverify.scheme.memory import IN_BOTH, IN_GLOBAL, IN_LOCAL, Memory
from rspverify.scheme.orders import POSSIBLE, Op, at_least
from rspverify.scheme.row import Shape

SYNC_SCOPES: Mapping[Scope, str] = {
    Scope.WI: "singlethread",
    Scope.SG: "wavefront",
    Scope.WG: "workgroup",
    Scope.DV: "agent",
    Scope.ALL: "",
}
"""What LLVM calls them for AMD's processors."""

_ORDERS: Mapping[Order, str] = {
    Order.RELAXED: "monotonic",
    Order.CONSUME: "acquire",  # As all compilers have it.
    Order.ACQUIRE: "acquire",
    Order.RELEASE: "release",
    Order.ACQ_REL: "acq_rel",
    Order.SEQ_CST: "seq_cst",
}
OPERATORS = ("add", "sub", "xchg", "and", "or", "xor", "umax", "umin", "max", "min")
"""What an RMW may do, by LLVM's names. The first stands for all."""

_ON_DEVICE = "!amdgpu.no.fine.grained.memory !0, !amdgpu.no.remote.memory !0"
"""What clang says of every RMW in global memory, unless it is told otherwise."""
METADATA = """\
!0 = !{}
!1 = !{!3, !4}
!2 = !{!5, !6}
!3 = !{!"amdgpu-synchronize-as", !"global"}
!4 = !{!"amdgpu-as", !"global"}
!5 = !{!"amdgpu-synchronize-as", !"local"}
!6 = !{!"amdgpu-as", !"local"}
"""
"""A fence of one memory has LLVM's word for that, and the one that it was until LLVM 21.

To a compiler that knows neither it is a fence of both.
"""
_FENCED = {IN_GLOBAL: ", !mmra !1", IN_LOCAL: ", !mmra !2", IN_BOTH: ""}
"""What restricts a fence to a memory."""


class Backend(Struct, frozen=True):
    """What IR says for a back end of LLVM.

    spaces: the kinds of pointers, by memory. scopes: what those of OpenCL are called, none where
    operations have none. parted: whether atomics are for one memory.
    known: what is said of every RMW in global memory; ends: what stands at
    the end of a module.
    """

    triple: str
    spaces: Mapping[str, str]
    scopes: Mapping[Scope, str] = {}
    parted: bool = False
    known: str = ""
    ends: str = ""


AMDGPU = Backend(
    TRIPLE,
    {GLOBAL: "ptr addrspace(1)", LOCAL: "ptr addrspace(3)"},
    SYNC_SCOPES,
    parted=True,
    known=f", {_ON_DEVICE}",
    ends=METADATA,
)


def shapes(
    scopes: Iterable[Scope | None] = SYNC_SCOPES,
    memories: Collection[Memory] = tuple(_FENCED),
    thrown: Collection[Op] = (Op.RMW, Op.CAS),
) -> Iterator[Shape]:
    """Every operation that has a row, in the order of rows. memories: that there are; a fence is of
    any, an access of one. thrown: what has a row of its own where nothing looks at its result."""
    for op, memory in product(Op, memories):
        if op is not Op.FENCE and len(memory) > 1:
            continue
        for used in (True, False) if op in thrown else (True,):
            if op in (Op.LOAD, Op.STORE):
                yield Shape(op, None, None, False, memory)
            for scope, order in product(scopes, Order):
                if order in POSSIBLE[op]:
                    yield Shape(op, scope, order, False, memory, used)


def spellings(
    shape: Shape, operators: Sequence[str] = OPERATORS, backend: Backend = AMDGPU
) -> Mapping[str, str]:
    """The operations of IR that have one row, the first of which stands for all.

    Of an RMW one for each of some operators; of a compare-exchange one for each two orders whose
    join is the row's. What they read is %r.
    """
    scope = _sync_scope(shape, backend)
    order = _ORDERS[shape.order] if shape.order else ""
    at = f"{_pointer(shape, backend)} %x"
    known = backend.known if GLOBAL in shape.memory else ""
    atomic, ordered = ("atomic ", f" {scope} {order}") if shape.order else ("", "")
    match shape.kind:
        case Op.LOAD:
            return {"load": f"%r = load {atomic}i32, {at}{ordered}, align 4"}
        case Op.STORE:
            return {"store": f"store {atomic}i32 %new, {at}{ordered}, align 4"}
        case Op.RMW:
            return {
                it: f"%r = atomicrmw {it} {at}, i32 %new {scope} {order}{known}" for it in operators
            }
        case Op.CAS:
            return {
                f"{_ORDERS[one]} {_ORDERS[other]}": compare_exchange(shape, one, other, backend)
                for one, other in pairs(shape.order)
            }
        case Op.FENCE if shape.order is Order.RELAXED:
            return {"no fence": ""}
        case Op.FENCE:
            which = _FENCED[shape.memory] if backend.parted else ""
            return {"fence": f"fence {scope} {order}{which}"}
        case _:
            assert_never(shape.kind)


def compare_exchange(
    shape: Shape, success: Order, failure: Order, backend: Backend, *, weak: bool = False
) -> str:
    """The text of a compare-exchange with any two orders; shape: of what they are together."""
    known = backend.known if GLOBAL in shape.memory else ""
    name = "cmpxchg weak" if weak else "cmpxchg"
    at, scope = f"{_pointer(shape, backend)} %x", _sync_scope(shape, backend)
    orders = f"{_ORDERS[success]} {_ORDERS[failure]}{known}"
    result = "%r = extractvalue {i32, i1} %both, 0"
    return f"%both = {name} {at}, i32 %old, i32 %new {scope} {orders}\n  {result}"


def pairs(order: Order | None) -> list[tuple[Order, Order]]:
    """The orders of success and failure that count as one order together; its own one first.

    A failure is seq_cst only with its success (OpenCL C 3.0, §6.15.12.7.4: no stronger than it);
    clang takes the scope of both from the order of success.
    """
    both = [
        (success, failure)
        for success, failure in product(_ORDERS, _ORDERS)
        if success in POSSIBLE[Op.CAS] and failure in POSSIBLE[Op.LOAD]
        if at_least(success, failure) is order
        and (success is Order.SEQ_CST or failure is not Order.SEQ_CST)
    ]
    both.sort(key=lambda pair: pair[0] is not order)
    return both


def _pointer(shape: Shape, backend: Backend) -> str:
    """The kind of pointer to the memory of an operation."""
    return backend.spaces[GLOBAL if GLOBAL in shape.memory else LOCAL]


def _sync_scope(shape: Shape, backend: Backend) -> str:
    """The scope as clang names it.

    OpenCL's atomics are ordered with those of the same memory alone, but for seq_cst ones; fences
    say which memories they are for in another way.
    """
    name = backend.scopes.get(shape.scope, "") if shape.scope is not None else ""
    if backend.parted and shape.kind is not Op.FENCE and shape.order is not Order.SEQ_CST:
        name = f"{name}-one-as" if name else "one-as"
    return f'syncscope("{name}")' if name else ""


class Surroundings(Struct, frozen=True):
    """What stands around an operation in the function that has it.

    busy: before it, a load and a store of each memory begin, and have not completed when it does;
    what is loaded is used after it. marked: labels stand where it begins and ends. kernel: the
    function is a kernel, whose arguments are in memory, and not one that is called.
    """

    busy: bool = True
    marked: bool = True
    kernel: bool = False


def begin(number: int) -> str:
    """The label where the operation of a function begins."""
    return f".Lbegin{number}"


def end(number: int) -> str:
    """The label where it ends."""
    return f".Lend{number}"


def module(operations: Mapping[int, tuple[Shape, str]], around: Surroundings) -> str:
    """A module that has a function for each operation of IR, by numbers."""
    functions = (_function(at, *each, around) for at, each in operations.items())
    return "\n".join((f'target triple = "{TRIPLE}"', *functions, METADATA))


_POINTERS = {"load": GLOBAL, "store": GLOBAL, "lload": LOCAL, "lstore": LOCAL}
_EARLIER = 'syncscope("wavefront") monotonic, align 4'
"""Of operations that stand around: atomic, so that they stay, and with no wait of their own."""


def _function(number: int, shape: Shape, operation: str, around: Surroundings) -> str:
    """Registers that stand around are used after the operation, so that none is written anew."""
    kinds = {
        "x": _pointer(shape, AMDGPU),
        "new": "i32",
        "old": "i32",
    }
    kinds |= {name: AMDGPU.spaces[it] for name, it in _POINTERS.items()}
    lines: list[str] = []
    if around.kernel:
        lines += [
            f'%{it} = call {kind} asm "", "=v,0"({kind} %{it}.in)' for it, kind in kinds.items()
        ]
    values = [f"{kind} %{name}" for name, kind in kinds.items()]
    if around.busy:
        lines += [
            f"%g = load atomic i32, ptr addrspace(1) %load {_EARLIER}",
            f"store atomic i32 %old, ptr addrspace(1) %store {_EARLIER}",
            f"%l = load atomic i32, ptr addrspace(3) %lload {_EARLIER}",
            f"store atomic i32 %old, ptr addrspace(3) %lstore {_EARLIER}",
        ]
        values += ["i32 %g", "i32 %l"]
    if "%r =" in operation and shape.used:
        values.append("i32 %r")
    lines += [_label(begin(number))] * around.marked
    lines += [operation] * bool(operation)
    lines += [_label(end(number))] * around.marked
    lines.append(
        f'call void asm sideeffect "", "{",".join("v" * len(values))}"({", ".join(values)})'
    )
    suffix = ".in" if around.kernel else ""
    parameters = ", ".join(f"{kind} %{name}{suffix}" for name, kind in kinds.items())
    convention = "amdgpu_kernel void" if around.kernel else "void"
    body = "\n".join(f"  {line}" for line in [*lines, "ret void"])
    return f"define {convention} @f{number}({parameters}) {{\n{body}\n}}"


def _label(name: str) -> str:
    return f'call void asm sideeffect "{name}:", ""()'
