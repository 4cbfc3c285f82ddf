"""Compiles a source program by a scheme: each operation becomes the code of its row (§5.4)."""

from __future__ import annotations

from dataclasses import replace

from rspverify.assembly import AssemblyProgram, Instruction, ThreadId
from rspverify.litmus.program import Kind, Operation, Program
from rspverify.scheme.scheme import Row, Scheme, Template, shape_of
from rspverify.source import InputError, Problem, Severity


def compile_program(program: Program, scheme: Scheme) -> AssemblyProgram:
    """The compiled program; each of its instructions names the operation that it comes from.

    Raises InputError, with one UNSUPPORTED problem per operation that the scheme cannot compile.
    """
    checked = [_unsupported(operation, scheme) for operation in program.operations]
    problems = [problem for problem in checked if problem is not None]
    if problems:
        raise InputError(problems)
    threads: list[ThreadId] = []
    code: list[tuple[Instruction, ...]] = []
    index = 0
    for thread in program.threads:
        place = ThreadId(thread.device, thread.workgroup, thread.index)
        block = [
            _instruction(template, operation, place)
            for operation in thread.operations
            for template in _row(operation, scheme).code
        ]
        threads.append(place)
        code.append(tuple(replace(each, index=index + i) for i, each in enumerate(block)))
        index += len(block)
    initial = {location.name: location.initial for location in program.locations}
    return AssemblyProgram(tuple(threads), tuple(code), initial)


def rows_used(program: Program, scheme: Scheme) -> tuple[Row, ...]:
    """The rows that match some operation of the program, in the order of the table."""
    return tuple(
        row for row in scheme.rows if any(row.matches(each) for each in program.operations)
    )


def _row(operation: Operation, scheme: Scheme) -> Row:
    row = scheme.row_for(operation)
    assert row is not None  # every operation was checked before
    return row


def _instruction(template: Template, operation: Operation, place: ThreadId) -> Instruction:
    """A template with the operation put in; its index is not known yet."""
    mnemonic = template.mnemonic
    return Instruction(
        index=-1,
        mnemonic=mnemonic,
        thread=place,
        operation=operation.index,
        guard=operation.guard,
        location=operation.location if "x" in mnemonic.operands else None,
        reach=template.reach,
        register=operation.index if mnemonic.reads else None,
        value=operation.value if mnemonic.writes else None,
    )


def _unsupported(operation: Operation, scheme: Scheme) -> Problem | None:
    """Why the scheme cannot compile an operation."""
    message = hint = None
    if scheme.row_for(operation) is None:
        message = (
            f"scheme {scheme.name} has no row for {shape_of(operation)} on {operation.location}"
        )
        rows = [str(row) for row in scheme.rows if row.kind is operation.kind]
        hint = f"its {operation.kind.value} rows: {'; '.join(rows) or 'none'}"
    elif operation.kind is Kind.RMW and operation.operator != "+":
        message = (
            f"scheme {scheme.name} must be given an rmw that adds, "
            f"not one by {operation.operator!r} on {operation.location}"
        )
    if message is None:
        return None
    return Problem(operation.span, message, hint, severity=Severity.UNSUPPORTED)
