"""The threads of a test as C, a function each, for compilers that take no IR of LLVM.

Locations and results are as in IR (programs.py); accesses are GCC's built-in atomics.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import assert_never

from rspverify.compilers.programs import APART, expected_of, watched
from rspverify.litmus.program import Kind, Operation, Order, Program, Thread
from rspverify.source import InputError, Problem, Severity
from rspverify.value import Binary, Constant, Expression, Read, Select, Unary, conjuncts

_ORDERS: Mapping[Order, str] = {
    Order.RELAXED: "__ATOMIC_RELAXED",
    Order.CONSUME: "__ATOMIC_CONSUME",
    Order.ACQUIRE: "__ATOMIC_ACQUIRE",
    Order.RELEASE: "__ATOMIC_RELEASE",
    Order.ACQ_REL: "__ATOMIC_ACQ_REL",
    Order.SEQ_CST: "__ATOMIC_SEQ_CST",
}
_OPERATORS = {
    "+": "__atomic_fetch_add",
    "-": "__atomic_fetch_sub",
    "|": "__atomic_fetch_or",
    "^": "__atomic_fetch_xor",
    "&": "__atomic_fetch_and",
    "exchange": "__atomic_exchange_n",
}


def c_source(programs: Mapping[str, Program]) -> str:
    """The threads of several tests, whose functions begin with their names.

    Raises InputError with what C has no word for.
    """
    functions = [
        _function(name, thread, program, number)
        for number, (name, program) in enumerate(programs.items())
        for thread in program.threads
    ]
    return "\n".join(functions)


def _function(prefix: str, thread: Thread, program: Program, number: int) -> str:
    name = f"f{number}_{thread.index}"
    kept = [it for it in thread.operations if it.reads]
    places = {it.name: at * APART for at, it in enumerate(program.locations)}
    lines = [f"int r{it.index};" for it in kept]
    open_: list[Expression] = []
    for it in thread.operations:
        wanted = [each for each in conjuncts(it.guard) if each != Constant(1)]
        common = 0
        while common < min(len(open_), len(wanted)) and open_[common] == wanted[common]:
            common += 1
        lines += ["}"] * (len(open_) - common)
        lines += [f"if ({_text(each)}) {{" for each in wanted[common:]]
        open_ = wanted
        lines.append(_operation(it, places))
    lines += ["}"] * len(open_)
    first = len(places)
    lines += [
        f"*(int *)(block + {(first + it.index) * APART}) = r{it.index};"
        for it in kept
        if watched(it)
    ]
    body = "\n".join(f"  {line}" for line in lines)
    head = f'void {name}(char *block) __asm__("{prefix}P{thread.index}");'
    return f"{head}\nvoid {name}(char *block) {{\n{body}\n}}"


def _operation(it: Operation, places: Mapping[str, int]) -> str:
    """The statement of an operation."""
    order = _ORDERS[it.order] if it.order is not None else None
    at = f"(int *)(block + {places[it.location]})" if it.location is not None else ""
    result = f"r{it.index} = "
    match it.kind:
        case Kind.FENCE:
            return f"__atomic_thread_fence({order});"
        case Kind.LOAD:
            value = f"*{at}" if order is None else f"__atomic_load_n({at}, {order})"
            return f"{result}{value};"
        case Kind.STORE:
            assert it.value is not None
            value = _text(it.value)
            if order is None:
                return f"*{at} = {value};"
            return f"__atomic_store_n({at}, {value}, {order});"
        case _:
            pass
    if it.success is not None:
        assert it.operand is not None and it.failure is not None
        expected = _text(expected_of(it))
        orders = f"{order}, {_ORDERS[it.failure]}"
        operands = f"{at}, &e, {_text(it.operand)}, {int(it.weak)}, {orders}"
        exchange = f"__atomic_compare_exchange_n({operands});"
        return f"{{ int e = {expected}; {exchange} {result}e; }}"
    operator = it.operator or "+"
    if operator not in _OPERATORS or it.operand is None:
        message = f"{it} is beyond C: it has no atomic {operator}"
        raise InputError([Problem(it.span, message, severity=Severity.UNSUPPORTED)])
    return f"{result}{_OPERATORS[operator]}({at}, {_text(it.operand)}, {order});"


def _text(it: Expression) -> str:
    """An expression of 32 bits, in brackets."""
    match it:
        case Constant(value):
            return str(value) if value > -(1 << 31) else "(-2147483647 - 1)"
        case Read(index):
            return f"r{index}"
        case Unary(name, argument):
            return f"({name}{_text(argument)})"
        case Binary("<<", left, right):
            return f"((int)((unsigned){_text(left)} << ({_text(right)} & 31)))"
        case Binary(">>", left, right):
            return f"({_text(left)} >> ({_text(right)} & 31))"
        case Binary(name, left, right):
            return f"({_text(left)} {name} {_text(right)})"
        case Select(condition, then, otherwise):
            return f"({_text(condition)} ? {_text(then)} : {_text(otherwise)})"
        case _:
            assert_never(it)
