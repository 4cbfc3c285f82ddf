"""Programs of C and OpenCL with one operation each, by which a compiler's table is read out.

What is written and what is expected are loaded from memory, so that a compiler knows nothing of
them, and what is read is looked at in the end, if it is at all.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from enum import Enum
from functools import cache

from rspverify.compilers import ir
from rspverify.litmus.functions import SCOPES
from rspverify.litmus.program import Order, Program, Scope
from rspverify.litmus.reader import read_program
from rspverify.scheme.memory import IN_GLOBAL
from rspverify.scheme.orders import Op, at_least
from rspverify.scheme.row import Shape
from rspverify.source import Source

OPERATORS: Mapping[str, str] = {
    "add": "fetch_add",
    "sub": "fetch_sub",
    "xchg": "exchange",
    "and": "fetch_and",
    "or": "fetch_or",
    "xor": "fetch_xor",
}
"""What an RMW of C may do, by LLVM's names. The first stands for all."""

NEW, OLD, RESULT = "v", "e", "r"
"""What rows call what is written, what is expected, and what is read."""

PLACES: Mapping[str, str] = {"a": NEW, "b": OLD}
"""The locations from which these are loaded. The operation is of the first location, x."""


class Around(Enum):
    """What stands around an operation: nothing; accesses of other locations before and behind it,
    or read-modify-writes; nothing, where the compiler knows what is written and expected. That is
    not 0, with which LLVM makes a fence and a load of read-modify-writes for x86."""

    NOTHING = ""
    ACCESSES = " between other accesses"
    RMWS = " between read-modify-writes"
    CONSTANTS = " with constants"


_OTHERS: Mapping[Around, Sequence[str]] = {
    Around.ACCESSES: (
        "int r1 = atomic_load_explicit(c, memory_order_relaxed);",
        "atomic_store_explicit(d, 1, memory_order_relaxed);",
        "int r2 = atomic_load_explicit(f, memory_order_relaxed);",
        "atomic_store_explicit(g, 1, memory_order_relaxed);",
    ),
    Around.RMWS: (
        "int r1 = atomic_fetch_add_explicit(c, 1, memory_order_relaxed);",
        "int r2 = atomic_fetch_add_explicit(f, 1, memory_order_relaxed);",
    ),
}
"""Half of them stand before the operation, and half behind it."""


def surroundings(known: Collection[Shape]) -> list[Around]:
    """All that is to stand around operations: read-modify-writes where relaxed loads and stores
    cannot be read. known: the operations that can."""
    plain = (Shape(it, None, Order.RELAXED, False) for it in (Op.LOAD, Op.STORE))
    without = Around.RMWS if all(it in known for it in plain) else Around.ACCESSES
    return [it for it in Around if it is not without]


def shapes(scopes: Iterable[Scope | None] = (None,)) -> Iterator[Shape]:
    """Every operation of C that has a row, in the order of rows; of OpenCL, with some scopes.

    What a compare-exchange has read it puts where its call says, so that it is always used.
    """
    return ir.shapes(scopes, (IN_GLOBAL,), (Op.RMW,))


def spellings(shape: Shape, operators: Sequence[str], *, later: bool = True) -> list[str]:
    """The operations that have one row, the first of which stands for all: of an RMW its operators,
    of a compare-exchange the pairs of orders that count as its order; `` of others.

    later: whether a failure may be stronger than its success, as since C17.
    """
    if shape.kind is Op.RMW:
        return [*operators]
    if shape.kind is not Op.CAS:
        return [""]
    return [
        f"{success.value} {failure.value}"
        for success, failure in ir.pairs(shape.order)
        if later or at_least(success, failure) is success
    ]


@cache
def program_of(shape: Shape, spelling: str, around: Around) -> Program:
    """The program with an operation."""
    others = _OTHERS.get(around, ())
    before, behind = others[: len(others) // 2], others[len(others) // 2 :]
    lines = [*_loads(shape, around), *before, _statement(shape, spelling, around), *behind]
    kind = "int" if shape.order is None and shape.kind is not Op.FENCE else "atomic_int"
    places = [f"{kind}* x", "int* a", "int* b", *(f"atomic_int* {it}" for it in "cdfg")]
    language, memory = ("OpenCL", "global ") if shape.scope else ("C", "")
    head = f"P0 ({', '.join(f'{memory}{it}' for it in places)})"
    body = "".join(f"  {line}\n" for line in lines)
    looked_at = "0:r" if "int r =" in body else "x"
    text = f"{language} operation\n{{ }}\n{head} {{\n{body}}}\nexists ({looked_at}=0)\n"
    return read_program(Source(f"{shape} {spelling}".strip(), text))


def _loads(shape: Shape, around: Around) -> Iterator[str]:
    known = around is Around.CONSTANTS
    if shape.kind in (Op.STORE, Op.RMW, Op.CAS):
        yield f"int v = {5 if known else '*a'};"
    if shape.kind is Op.CAS:
        yield f"int e = {2 if known else '*b'};"


def _statement(shape: Shape, spelling: str, around: Around) -> str:
    """The statement of an operation, whose result is r."""
    result = "int r = " if shape.used else ""
    order = f"memory_order_{shape.order.value}" if shape.order else ""
    scope = "".join(f", {name}" for name, it in SCOPES.items() if it is shape.scope)
    match shape.kind:
        case Op.LOAD if shape.order is None:
            return "int r = *x;"
        case Op.LOAD:
            return f"int r = atomic_load_explicit(x, {order}{scope});"
        case Op.STORE if shape.order is None:
            return "*x = v;"
        case Op.STORE:
            return f"atomic_store_explicit(x, v, {order}{scope});"
        case Op.RMW:
            return f"{result}atomic_{OPERATORS[spelling]}_explicit(x, v, {order}{scope});"
        case Op.CAS:
            orders = ", ".join(f"memory_order_{it}" for it in spelling.split())
            return f"{result}atomic_compare_exchange_strong_explicit(x, &e, v, {orders}{scope});"
        case _ if shape.scope:
            return f"atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, {order}{scope});"
        case _:
            return f"atomic_thread_fence({order});"
