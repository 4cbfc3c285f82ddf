"""Compiles a source program by a scheme: each operation becomes the code of its row (§5.4)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import count
from typing import assert_never

from rspverify.architecture import Architecture, Mnemonic
from rspverify.assembly import ARRIVE, DEPART, AssemblyProgram, Instruction, SpinLoop, ThreadId
from rspverify.litmus.program import Kind, Operation, Program, Scope, Spin, one_subgroup
from rspverify.records import replace
from rspverify.scheme.barriers import ENTRY, barrier_code, barrier_rows, missing, ordering
from rspverify.scheme.memory import IN_LOCAL, LOCAL_HINT, has_local
from rspverify.scheme.scheme import Row, Scheme, Shape, shape_of
from rspverify.source import InputError, Problem, Severity
from rspverify.value import Expression, Read, select

_IMPLICIT = re.compile(r"\batomic_(?!\w*_explicit)\w+")
"""The name of a function that has no order among its arguments."""

_ALL_ORDERS = "proposed-full"
"""What to try where a scheme has rows for an operation, but not for its order."""

_AS_XF = " (write it out with atomics, as litmus-barrier/compiled/xf-2x2.litmus does)"


def compile_program(program: Program, scheme: Scheme) -> AssemblyProgram:
    """The compiled program; each of its instructions names the operation that it comes from.

    Raises InputError, with one UNSUPPORTED problem per operation that the scheme cannot compile.
    """
    checked = [_unsupported(operation, program, scheme) for operation in program.operations]
    checked += without_subgroups(program, scheme.machine)
    if problems := [problem for problem in checked if problem is not None]:
        raise InputError(problems)
    index = count()
    threads = tuple(ThreadId(each.device, each.workgroup, each.index) for each in program.threads)
    code = tuple(
        tuple(
            _instruction(next(index), mnemonic, reach, operation, place)
            for operation in thread.operations
            for mnemonic, reach in _code(operation, scheme)
        )
        for place, thread in zip(threads, program.threads, strict=True)
    )
    initial = {location.name: location.initial for location in program.locations}
    cuts = tuple(cut.guard for cut in program.cuts)
    spins = tuple(_loop(spin, code[spin.thread]) for spin in program.spins)
    within = program.within
    spaces = spaces_of(program, scheme.machine)
    return AssemblyProgram(threads, code, initial, scheme.machine, cuts, within, spaces, spins)


def without_subgroups(program: Program, machine: Architecture) -> Iterator[Problem]:
    """A problem if threads share a sub-group: a thread of a machine is one work-item."""
    for number, thread in enumerate(program.threads):
        others = [it.name for it in program.threads[:number] if one_subgroup(it, thread)]
        if others and thread.operations:
            message = f"{thread.name} is in one sub-group with {others[0]}, and machine"
            message += f" {machine.name} has no place for sub-groups"
            yield Problem(thread.operations[0].span, message, severity=Severity.UNSUPPORTED)


def spaces_of(program: Program, machine: Architecture) -> dict[str, str]:
    """The kind of memory of each location that is not in the machine's first."""
    if not has_local(machine):
        return {}
    return {it.name: it.region for it in program.locations if it.region != machine.spaces[0]}


def _loop(spin: Spin, code: tuple[Instruction, ...]) -> SpinLoop:
    first, end = (sum(it.operation < bound for it in code) for bound in (spin.first, spin.end))
    return SpinLoop(spin.thread, spin.guard, first, end)


def rows_used(program: Program, scheme: Scheme) -> tuple[Row, ...]:
    """The rows that compile some operation of the program, in the order of the table."""
    used = [row for each in program.operations for row in rows_of(each, scheme)]
    return tuple(row for row in scheme.rows if any(row is each for each in used))


def rows_of(operation: Operation, scheme: Scheme) -> tuple[Row, ...]:
    """The rows that say what an operation becomes: its own, or those of a barrier's fences."""
    if operation.kind is Kind.BARRIER:
        return barrier_rows(operation, scheme)
    row = scheme.row_for(operation)
    return () if row is None else (row,)


def beyond(operation: Operation, program: Program) -> str | None:
    """Why no scheme can compile an operation, in words that follow its name; None if one may.

    A location in local memory is one of the test. OpenCL would give each work-group its own, so
    that it must belong to one.
    """
    match operation.kind:
        case Kind.LOCK | Kind.UNLOCK:
            return "needs a mutex, and the machine has none"
        case Kind.BARRIER if operation.meets is not Scope.WG:
            return f"is a barrier of a device, and machines have those of work-groups alone{_AS_XF}"
        case Kind.LOAD | Kind.STORE | Kind.RMW | Kind.FENCE | Kind.BARRIER:
            pass
        case _:
            assert_never(operation.kind)
    if operation.location is not None and operation.regions == IN_LOCAL:
        places = {
            (thread.device, thread.workgroup)
            for thread in program.threads
            if any(it.location == operation.location for it in thread.operations)
        }
        if len(places) > 1:
            return "accesses local memory that another work-group does, too, and each has its own"
    if operation.order is not None and operation.scope is None:
        return "has no scope, and the rows of schemes are for scopes"
    return None


def _code(operation: Operation, scheme: Scheme) -> Iterator[tuple[Mnemonic, str | None]]:
    """The instructions of an operation, each with its reach; it was checked that there are rows."""
    if operation.kind is not Kind.BARRIER:
        row = scheme.row_for(operation)
        assert row is not None
        yield from ((it.mnemonic, it.reach) for it in row.code)
        return
    fences = barrier_code(ordering(operation), scheme)
    assert fences is not None
    entry, leave = fences
    yield from ((it.mnemonic, it.reach) for it in entry)
    yield from ((ARRIVE, None), (DEPART, None))
    yield from ((it.mnemonic, it.reach) for it in leave)


def _instruction(
    index: int, mnemonic: Mnemonic, reach: str | None, operation: Operation, place: ThreadId
) -> Instruction:
    """An instruction of a row with the operation put in."""
    return Instruction(
        index=index,
        mnemonic=mnemonic,
        thread=place,
        operation=operation.index,
        guard=operation.guard,
        location=operation.location if "x" in mnemonic.operands else None,
        reach=reach,
        register=operation.index if mnemonic.reads else None,
        value=written_by(operation) if mnemonic.writes else None,
        success=operation.success if mnemonic.writes else None,
        label=operation.label if mnemonic is ARRIVE or mnemonic is DEPART else None,
    )


def written_by(operation: Operation) -> Expression | None:
    """What the machine writes: a compare-exchange that fails writes back what it has read."""
    if operation.success is None or operation.value is None:
        return operation.value
    return select(operation.success, operation.value, Read(operation.index))


def _of_local(operation: Operation) -> bool:
    """Whether it is an access of local memory, or a fence of it alone."""
    return operation.kind is not Kind.BARRIER and operation.regions == IN_LOCAL


def _rows_there_are(operation: Operation, shape: Shape, scheme: Scheme) -> str:
    """What a scheme has instead of a row for an operation, and what can be done about it."""
    rows = [row for row in scheme.rows if row.kind is shape.kind]
    hint = f"its {shape.kind.value} rows: {'; '.join(row.with_orders for row in rows) or 'none'}"
    if not any(shape.scope in row.scopes and shape.remote in row.remotes for row in rows):
        return hint
    if called := _IMPLICIT.search(operation.span.text):
        hint = f"{called[0]} is seq_cst, {called[0]}_explicit names another order; {hint}"
    return f"{hint}; the scheme {_ALL_ORDERS} has rows for all orders"


def _unsupported(operation: Operation, program: Program, scheme: Scheme) -> Problem | None:
    """Why the scheme cannot compile an operation."""
    message = hint = None
    machine = scheme.machine
    reason = beyond(operation, program)
    row = scheme.row_for(operation)
    where = f" on {operation.location}" if operation.location else ""
    if reason is not None:
        message = f"{operation} is beyond every scheme: it {reason}"
    elif _of_local(operation) and not has_local(machine):
        does = "accesses local memory" if operation.location else "orders local memory alone"
        message = f"{operation} {does}, and machine {machine.name} declares no place for it"
        hint = LOCAL_HINT
    elif operation.kind is Kind.BARRIER:
        fence = missing(ordering(operation), scheme)
        if fence is not None:
            half = "begins" if fence.order is ENTRY else "ends"
            message = f"scheme {scheme.name} has no row for {fence}, with which {operation} {half}"
            hint = _rows_there_are(operation, fence, scheme)
    elif row is None:
        shape = shape_of(operation)
        if shape is not None and replace(shape, used=True) not in scheme.table:
            shape = replace(shape, used=True)
        message = f"scheme {scheme.name} has no row for {shape}{where}"
        hint = _rows_there_are(operation, shape, scheme) if shape is not None else None
    elif row.adds and operation.operator != "+":
        message = (
            f"scheme {scheme.name} must be given an rmw that adds, "
            f"not one by {operation.operator!r}{where}"
        )
        hint = f"row {row.number}, {row}, can only add; RMW_L1 and RMW_L2 do every operation"
    if message is None:
        return None
    return Problem(operation.span, message, hint, severity=Severity.UNSUPPORTED)
