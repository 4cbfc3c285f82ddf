"""Programs of C with one operation each, by which a compiler's table for a processor is read out.

What is written and what is expected are loaded from memory, so that a compiler knows nothing of
them, and what is read is looked at in the end, if it is at all.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from enum import Enum
from functools import cache

from rspverify.compilers.ir import pairs
from rspverify.litmus.program import Order, Program
from rspverify.litmus.reader import read_program
from rspverify.scheme.orders import POSSIBLE, Op, at_least
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
    """What stands around an operation: nothing; accesses of other locations before and behind it;
    nothing, where the compiler knows what is written and expected. That is not 0, with which LLVM
    makes a fence and a load of read-modify-writes for x86."""

    NOTHING = ""
    ACCESSES = " between other accesses"
    CONSTANTS = " with constants"


def shapes() -> Iterator[Shape]:
    """Every operation of C that has a row, in the order of rows."""
    for op in Op:
        if op in (Op.LOAD, Op.STORE):
            yield Shape(op, None, None, False)
        for order in (it for it in Order if it in POSSIBLE[op]):
            yield Shape(op, None, order, False)
            if op is Op.RMW:  # What a compare-exchange has read it puts where its call says.
                yield Shape(op, None, order, False, used=False)


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
        for success, failure in pairs(shape.order)
        if later or at_least(success, failure) is success
    ]


@cache
def program_of(shape: Shape, spelling: str, around: Around) -> Program:
    """The program with an operation."""
    lines = [*_loads(shape, around), _statement(shape, spelling, around)]
    if around is Around.ACCESSES:
        lines.insert(-1, "int r1 = atomic_load_explicit(c, memory_order_relaxed);")
        lines.insert(-1, "atomic_store_explicit(d, 1, memory_order_relaxed);")
        lines.append("int r2 = atomic_load_explicit(f, memory_order_relaxed);")
        lines.append("atomic_store_explicit(g, 1, memory_order_relaxed);")
    kind = "int" if shape.order is None and shape.kind is not Op.FENCE else "atomic_int"
    others = "".join(f", atomic_int* {it}" for it in "cdfg")
    head = f"P0 ({kind}* x, int* a, int* b{others})"
    body = "".join(f"  {line}\n" for line in lines)
    looked_at = "0:r" if "int r =" in body else "x"
    text = f"C operation\n{{ }}\n{head} {{\n{body}}}\nexists ({looked_at}=0)\n"
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
    match shape.kind:
        case Op.LOAD if shape.order is None:
            return "int r = *x;"
        case Op.LOAD:
            return f"int r = atomic_load_explicit(x, {order});"
        case Op.STORE if shape.order is None:
            return "*x = v;"
        case Op.STORE:
            return f"atomic_store_explicit(x, v, {order});"
        case Op.RMW:
            return f"{result}atomic_{OPERATORS[spelling]}_explicit(x, v, {order});"
        case Op.CAS:
            orders = ", ".join(f"memory_order_{it}" for it in spelling.split())
            return f"{result}atomic_compare_exchange_strong_explicit(x, &e, v, {orders});"
        case _:
            return f"atomic_thread_fence({order});"
