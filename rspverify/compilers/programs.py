"""The threads of a test as LLVM's IR: a function each, as clang makes them.

For AMD's processors a location is a pointer, and no two of them are the same (`noalias`). They are
arguments, of which a compiler knows nothing, and which each work-item has for itself. What is read
is named in the end, in labels: `.LP0.read3.v5` says that register v5 has what operation 3 of the
test has read.

For other processors all locations are in a block whose address is the argument: so no two are the
same, and others may access them meanwhile. Behind them is a place for what each operation has read,
to which that is written in the end.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import assert_never

from rspverify.compilers.ir import (
    AMDGPU,
    Backend,
    compare_exchange,
    shapes,
    spellings,
)
from rspverify.litmus.program import GLOBAL, LOCAL, Kind, Operation, Order, Program, Thread
from rspverify.records import replace
from rspverify.scheme.memory import IN_GLOBAL
from rspverify.scheme.orders import Op
from rspverify.scheme.row import Shape, shape_of
from rspverify.source import InputError, Problem, Severity
from rspverify.value import Binary, Constant, Expression, Read, Select, Unary, conjuncts

MAX_REGISTERS = 31
"""How many registers the arguments of a function may take; further ones would be in memory."""

APART = 16
"""So many bytes places in a block are from each other, so that none is accessed with another."""

_SIZES = {GLOBAL: 2, LOCAL: 1}
"""How many registers a pointer takes."""

_OPERATORS = {
    "+": "add",
    "-": "sub",
    "|": "or",
    "^": "xor",
    "&": "and",
    "min": "min",
    "max": "max",
    "exchange": "xchg",
}
"""What the operators of read-modify-writes are called in IR."""

_CALCULATED = {"+": "add", "-": "sub", "*": "mul", "&": "and", "|": "or", "^": "xor"}
_COMPARED = {"==": "eq", "!=": "ne", "<": "slt", "<=": "sle", ">": "sgt", ">=": "sge"}
_SHIFTED = {"<<": "shl", ">>": "ashr"}

_BARRIER = "llvm.amdgcn.s.barrier"
_NAMES = re.compile(r"%(r|x|new|old|both)\b")
"""What operations of one row call what they are of (ir.py)."""


def read_as(program: Program) -> Program:
    """The form of a test that is compiled: its loops are unrolled, as a compiler might do."""
    return program.unrolled or program if program.spins else program


def module(programs: Mapping[str, Program], *, has_local: bool, backend: Backend = AMDGPU) -> str:
    """A module with the threads of several tests, whose functions begin with their names.

    Raises InputError with all that no compiler can be given.
    """
    functions = [
        _Function(name, thread, program, has_local, backend).text()
        for name, program in programs.items()
        for thread in program.threads
    ]
    head = [f'target triple = "{backend.triple}"']
    head += [f"declare void @{_BARRIER}()"] * backend.parted
    return "\n".join((*head, *functions, backend.ends))


def pointers(thread: Thread, program: Program) -> Mapping[str, tuple[str, ...]]:
    """The registers in which a function has the pointer to each location that its thread accesses.

    Arguments are in vector registers, from v0 on (LLVM, AMDGPUUsage, «Calling Convention»).
    """
    regions = {it.name: it.region for it in program.locations}
    own = [it.location for it in thread.operations if it.location is not None]
    found: dict[str, tuple[str, ...]] = {}
    at = 0
    for name in dict.fromkeys(own):
        size = _SIZES[LOCAL if regions[name] == LOCAL else GLOBAL]
        found[name] = tuple(f"v{it}" for it in range(at, at + size))
        at += size
    if at > MAX_REGISTERS:
        message = f"{thread.name} must access fewer locations, as pointers to {len(found)} are more"
        message += f" than {MAX_REGISTERS} registers"
        raise InputError([_unsupported(thread.operations[0], message)])
    return found


def named(read: Operation, register: str) -> str:
    """The label that says in which register is what an operation has read."""
    return f"P{read.thread}.read{read.index}.{register}"


def watched(operation: Operation) -> bool:
    """Whether a label says where what an operation has read is."""
    return operation.reads and operation.used


def unwatched(program: Program) -> frozenset[int]:
    """The reads at whose results nothing looks."""
    return frozenset(it.index for it in program.operations if it.reads and not watched(it))


def shapes_of(it: Operation, *, has_local: bool) -> tuple[Shape, ...]:
    """The operation of rows that an operation is; of a barrier its two fences, if it orders memory;
    none of a mutex. has_local: whether there is local memory."""
    memory = it.regions if has_local else IN_GLOBAL
    shape = shape_of(it)
    if shape is not None:
        return (replace(shape, memory=memory),)
    if it.kind is not Kind.BARRIER or it.scope is None or not memory:
        return ()
    fences = (Order.RELEASE, Order.ACQUIRE)
    return tuple(Shape(Op.FENCE, it.scope, order, False, memory) for order in fences)


def _unsupported(operation: Operation, message: str) -> Problem:
    return Problem(operation.span, message, severity=Severity.UNSUPPORTED)


class _Function:
    def __init__(
        self, prefix: str, thread: Thread, program: Program, has_local: bool, backend: Backend
    ) -> None:
        self._prefix, self._thread, self._program = prefix, thread, program
        self._has_local, self._backend = has_local, backend
        every = (it.name for it in program.locations)
        self._pointers = list(pointers(thread, program) if backend.parted else every)
        self._lines: list[str] = []
        self._reads: dict[int, str] = {}
        self._number = 0
        self._block = "entry"
        self._open: list[tuple[Expression, str, str, dict[int, str]]] = []
        """The conditions that surround what comes next: each with the block that it is asked in,
        the one that follows, and what reads were called outside."""

    def text(self) -> str:
        """The definition of the function."""
        for each in self._thread.operations:
            self._surround([it for it in conjuncts(each.guard) if it != Constant(1)])
            self._operation(each)
        self._surround([])
        self._sink()
        name = f"{self._prefix}P{self._thread.index}"
        parameters = self._parameters()
        body = "\n".join([*self._lines, "  ret void"])
        return f"define void @{name}({parameters}) {{\nentry:\n{body}\n}}"

    def _parameters(self) -> str:
        """Pointers to locations; or one to the block that they are in."""
        regions = {it.name: it.region for it in self._program.locations}
        if self._backend.parted:
            spaces = self._backend.spaces
            kinds = (spaces[LOCAL if regions[it] == LOCAL else GLOBAL] for it in self._pointers)
            return ", ".join(f"{kind} noalias %x{at}" for at, kind in enumerate(kinds))
        places = [f"x{at}" for at in range(len(self._pointers))]
        places += [f"result{it.index}" for it in self._program.operations]
        self._lines[:0] = (
            f"  %{it} = getelementptr i32, ptr %block, i64 {at * APART // 4}"
            for at, it in enumerate(places)
        )
        return "ptr %block"

    def _new(self, start: str = "t") -> str:
        self._number += 1
        return f"%{start}{self._number}"

    def _say(self, line: str) -> None:
        self._lines.append(f"  {line}")

    def _begin(self, block: str) -> None:
        self._lines.append(f"{block}:")
        self._block = block

    # ---- what surrounds operations ---------------------------------------------------------------

    def _surround(self, conditions: list[Expression]) -> None:
        """Leave conditions that do not surround what comes next, and enter those that do."""
        common = 0
        for (condition, *_), wanted in zip(self._open, conditions, strict=False):
            if condition != wanted:
                break
            common += 1
        while len(self._open) > common:
            self._leave()
        for condition in conditions[common:]:
            holds = self._condition(condition)
            inside, after = self._new("if")[1:], self._new("end")[1:]
            self._say(f"br i1 {holds}, label %{inside}, label %{after}")
            self._open.append((condition, self._block, after, dict(self._reads)))
            self._begin(inside)

    def _leave(self) -> None:
        """What was read inside counts afterwards, where it was executed."""
        _, before, after, outside = self._open.pop()
        last, found = self._block, dict(self._reads)
        self._say(f"br label %{after}")
        self._begin(after)
        for index, name in found.items():
            if index not in outside:
                joined = self._new("r")
                self._say(f"{joined} = phi i32 [ {name}, %{last} ], [ poison, %{before} ]")
                self._reads[index] = joined

    # ---- operations ------------------------------------------------------------------------------

    def _operation(self, it: Operation) -> None:
        if it.kind is Kind.BARRIER:
            self._barrier(it)
            return
        (shape,) = shapes_of(it, has_local=self._has_local)
        if shape.kind is Op.CAS:
            assert it.order is not None and it.failure is not None
            text = compare_exchange(shape, it.order, it.failure, self._backend, weak=it.weak)
        else:
            operators = [_OPERATORS[it.operator or "+"]] if shape.kind is Op.RMW else []
            text = next(iter(spellings(shape, operators, self._backend).values()))
        names = {"r": self._new("r"), "both": self._new("both")}
        if it.location is not None:
            names["x"] = f"%x{self._pointers.index(it.location)}"
        written = it.operand if it.kind is Kind.RMW else it.value
        if written is not None:
            names["new"] = self._value(written)
        if it.success is not None:
            names["old"] = self._value(expected_of(it))
        for line in text.splitlines():
            self._say(_NAMES.sub(lambda match: names[match[1]], line).strip())
        if it.reads:
            self._reads[it.index] = names["r"]

    def _barrier(self, it: Operation) -> None:
        """A fence, the rendezvous, and a fence (OpenCL 2.0 §3.3.6.2), as clang's library has it."""
        fences = [spellings(each)["fence"] for each in shapes_of(it, has_local=self._has_local)]
        before, behind = fences or ("", "")
        for line in (before, f"call void @{_BARRIER}()", behind):
            if line:
                self._say(line)

    def _sink(self) -> None:
        kept = [it for it in self._thread.operations if watched(it)]
        if not self._backend.parted:
            for it in kept:
                self._say(f"store i32 {self._reads[it.index]}, ptr %result{it.index}")
            return
        if not kept:
            return
        labels = "\\0A".join(
            f".L{self._prefix}{named(it, f'${at}')}:" for at, it in enumerate(kept)
        )
        values = ", ".join(f"i32 {self._reads[it.index]}" for it in kept)
        inputs = ",".join("v" * len(kept))
        self._say(f'call void asm sideeffect "{labels}", "{inputs}"({values})')

    # ---- values ----------------------------------------------------------------------------------

    def _said(self, text: str) -> str:
        name = self._new()
        self._say(f"{name} = {text}")
        return name

    def _value(self, it: Expression) -> str:
        """What an expression is called, of 32 bits."""
        match it:
            case Constant(value):
                return str(value)
            case Read(index):
                return self._reads[index]
            case Unary("-", argument):
                return self._said(f"sub i32 0, {self._value(argument)}")
            case Unary("~", argument):
                return self._said(f"xor i32 {self._value(argument)}, -1")
            case Binary(name, left, right) if name in _CALCULATED:
                first, second = self._value(left), self._value(right)
                return self._said(f"{_CALCULATED[name]} i32 {first}, {second}")
            case Binary(name, left, right) if name in _SHIFTED:
                first = self._value(left)
                second = self._said(f"and i32 {self._value(right)}, 31")
                return self._said(f"{_SHIFTED[name]} i32 {first}, {second}")
            case Select(condition, then, otherwise):
                holds = self._condition(condition)
                first, second = self._value(then), self._value(otherwise)
                return self._said(f"select i1 {holds}, i32 {first}, i32 {second}")
            case Unary() | Binary():
                return self._said(f"zext i1 {self._condition(it)} to i32")
            case _:
                assert_never(it)

    def _condition(self, it: Expression) -> str:
        """What is called that an expression is not 0, of one bit."""
        match it:
            case Constant(value):
                return "true" if value else "false"
            case Unary("!", argument):
                return self._said(f"xor i1 {self._condition(argument)}, true")
            case Binary(name, left, right) if name in _COMPARED:
                first, second = self._value(left), self._value(right)
                return self._said(f"icmp {_COMPARED[name]} i32 {first}, {second}")
            case Binary("&&", left, right):
                first, second = self._condition(left), self._condition(right)
                return self._said(f"select i1 {first}, i1 {second}, i1 false")
            case Binary("||", left, right):
                first, second = self._condition(left), self._condition(right)
                return self._said(f"select i1 {first}, i1 true, i1 {second}")
            case Select(condition, then, otherwise):
                holds = self._condition(condition)
                first, second = self._condition(then), self._condition(otherwise)
                return self._said(f"select i1 {holds}, i1 {first}, i1 {second}")
            case Read() | Unary() | Binary():
                return self._said(f"icmp ne i32 {self._value(it)}, 0")
            case _:
                assert_never(it)


def expected_of(it: Operation) -> Expression:
    """What a compare-exchange expects. Raises InputError where it compares nothing."""
    match it.success:
        case Binary("==", Read(index), expected) if index == it.index:
            return expected
        case _:
            raise InputError([_unsupported(it, f"{it} must compare what it reads with a value")])


def shapes_in(programs: Iterable[Program], *, has_local: bool) -> list[Shape]:
    """The operations of IR that tests have, in a fixed order, barriers taken apart.

    In every order, and RMWs with and without a used result: a row is for those that have one code.
    """
    found = {
        (shape.kind, shape.scope, shape.memory)
        for each in programs
        for it in read_as(each).operations
        if not it.remote
        for shape in shapes_of(it, has_local=has_local)
    }
    return [it for it in shapes() if (it.kind, it.scope, it.memory) in found]
