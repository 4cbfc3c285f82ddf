"""A compilation scheme: a table from source operations to assembly code (Tab. 3)."""

from __future__ import annotations

import os.path
import re
from collections.abc import Iterator, Mapping
from functools import cached_property
from itertools import count

from msgspec import Struct

from rspverify.architecture.architecture import Architecture, ForMachine, Mnemonic
from rspverify.assembly.program import ARRIVE, DEPART, AssemblyProgram, ThreadId
from rspverify.litmus.program import LOCAL, Kind, Operation, Order, Program, Scope
from rspverify.records import replace
from rspverify.scheme.compile import (
    beyond,
    instruction,
    spaces_of,
    spin_loop,
    without_subgroups,
)
from rspverify.scheme.memory import (
    IN_BOTH,
    IN_LOCAL,
    LOCAL_HINT,
    Memory,
    has_local,
    misplaced,
    without_end,
)
from rspverify.scheme.orders import Op
from rspverify.scheme.row import Row, Shape, Template, shape_of
from rspverify.scheme.rows import OfRows, Steps, first_rows
from rspverify.source import InputError, Problem, Severity, Source
from rspverify.wording import alternatives

_IMPLICIT = re.compile(r"\batomic_(?!\w*_explicit)\w+")
"""The name of a function that has no order among its arguments."""

_ALL_ORDERS = "proposed-full"
"""What to try where a scheme has rows for an operation, but not for its order."""

Ordering = tuple[Scope, Memory]
"""The scope in which a barrier orders memory, and which memory."""

ENTRY, EXIT = Order.RELEASE, Order.ACQUIRE
"""The orders of the two fences of a barrier (OpenCL 2.0 §3.3.6.2)."""

_ACCESS = {ENTRY: Op.STORE, EXIT: Op.LOAD}


class Scheme(OfRows, ForMachine, Struct, frozen=True, dict=True):
    """A compilation scheme. For each operation there is one row at most that comes before others.

    machine: what its code is judged by, unless another is named; it implies the instruction set
    that the code is of. origin: where the table is taken from, in the author's words.
    """

    name: str
    machine: Architecture
    rows: tuple[Row, ...]
    source: Source
    origin: str | None = None
    note: str | None = None

    @property
    def instructions(self) -> str:
        """The instruction set that its code is of."""
        return self.machine.executes

    def on_machine(self, machine: Architecture) -> Scheme:
        """The same table for another machine.

        Raises InputError, with a problem for each instruction that the machine does not have, where
        it first stands; and where it does not say which memory is final.
        """
        instructions, told = machine.instructions, dict[str, Problem]()
        for each in (it for row in self.rows for it in row.code):
            must = _unlike(each, instructions.get(each.mnemonic.name))
            if must is not None:
                message = f"machine {machine.name} must have {must}"
                told.setdefault(must, Problem(each.span, message))
        problems = [*without_end(machine), *told.values()]
        for row in self.rows:
            if any(LOCAL in it for it in row.memories) and not has_local(machine):
                message = f"machine {machine.name} must have local memory for {row}, and has none"
                problems.append(Problem(row.span, message, LOCAL_HINT))
        if problems:
            raise InputError(problems)

        def code(row: Row) -> tuple[Template, ...]:
            return tuple(replace(it, mnemonic=instructions[it.mnemonic.name]) for it in row.code)

        rows = tuple(replace(row, code=code(row)) for row in self.rows)
        for row in rows:
            placed = [(each.mnemonic, each.span) for each in row.code]
            problems += misplaced(placed, row.memories, machine)
        if problems:
            raise InputError(problems)
        return replace(self, machine=machine, rows=rows)

    def head(self, *, anywhere: bool) -> dict[str, str]:
        """What its file says of what it is for (rspverify/scheme/writer.py)."""
        folder = os.path.abspath(self.machine.path) if anywhere else ""
        return {"machine": self.machine.named(folder)}

    @property
    def steps(self) -> Steps:
        """What its instructions are one step away from."""
        from rspverify.scheme.steps import StepsOnMachine

        return StepsOnMachine(self)

    @cached_property
    def table(self) -> Mapping[Shape, Row]:
        """The row of each shape of operation that has one.

        Of rows that match a shape, the one that names the weakest order for it. A compare-exchange
        without a row of its own has that of an RMW of its order. On a machine without local memory
        a fence of both memories is one of global memory alone.
        """
        found = first_rows(self.rows)
        for shape, row in list(found.items()):
            if shape.kind is Op.RMW:
                found.setdefault(replace(shape, kind=Op.CAS), row)
            if shape.kind is Op.FENCE and not has_local(self.machine):
                found.setdefault(replace(shape, memory=IN_BOTH), row)
        return found

    def row_for(self, operation: Operation) -> Row | None:
        """The row that compiles an operation, if there is one."""
        shape = shape_of(operation)
        return None if shape is None else self.row_of(shape)

    def rows_of(self, operation: Operation) -> tuple[Row, ...]:
        """The rows that say what an operation becomes: its own, or those of a barrier's fences."""
        if operation.kind is not Kind.BARRIER:
            return super().rows_of(operation)
        fences = self.fences(ordering(operation))
        return () if isinstance(fences, Shape) else (*fences[0], *fences[1])

    def row_of(self, shape: Shape) -> Row | None:
        """The row that compiles operations of a shape, if there is one."""
        return self.table.get(shape)

    # ---- barriers --------------------------------------------------------------------------------

    def fences(self, what: Ordering) -> tuple[tuple[Row, ...], tuple[Row, ...]] | Shape:
        """The rows of the entry fence and of the exit fence of a barrier; the first of these fences
        for which there is none.

        A barrier of memory that the machine has not is a rendezvous alone.
        """
        scope, memory = what
        if not has_local(self.machine):
            memory -= IN_LOCAL
        if not memory:
            return (), ()
        fences = [Shape(Op.FENCE, scope, order, False, memory) for order in (ENTRY, EXIT)]
        entry, leave = map(self._fence, fences)
        if not entry or not leave:
            return fences[1] if entry else fences[0]
        return entry, leave

    def _fence(self, fence: Shape) -> tuple[Row, ...]:
        """The rows that say what a fence of a barrier becomes; none if nothing does.

        That is the row of a fence. Where there is none, and an access of this scope and order has
        the code of a plain one, in each of its memories, the order costs nothing, and the fence
        becomes nothing.
        """
        if (row := self.table.get(fence)) is not None:
            return (row,)
        assert fence.order is not None
        found: list[Row] = []
        for region in sorted(fence.memory):
            shape = replace(fence, kind=_ACCESS[fence.order], memory=frozenset({region}))
            access = self.table.get(shape)
            plain = self.table.get(replace(shape, scope=None, order=None))
            if access is None or plain is None or access.text != plain.text:
                return ()
            found += (access, plain)
        return tuple(found)

    # ---- compilation -----------------------------------------------------------------------------

    def key(self, program: Program) -> tuple[object, ...]:
        """The code of each operation."""
        return tuple((it.operation, str(it)) for it in self.compiled(program).instructions)

    def texts_of(self, shape: Shape) -> tuple[str, ...]:
        """The code of a shape; a word where there is no row, as a row may have no instruction."""
        row = self.table.get(shape)
        return ("no row",) if row is None else tuple(map(str, row.code))

    def compiled(self, program: Program) -> AssemblyProgram:
        """The compiled program; each of its instructions names the operation that it comes from.

        Raises InputError, with one UNSUPPORTED problem per operation that has no row.
        """
        checked = [_unsupported(operation, program, self) for operation in program.operations]
        checked += without_subgroups(program, self.machine)
        if problems := [problem for problem in checked if problem is not None]:
            raise InputError(problems)
        index = count()
        threads = tuple(ThreadId(it.device, it.workgroup, it.index) for it in program.threads)
        code = tuple(
            tuple(
                instruction(next(index), mnemonic, reach, operation, place)
                for operation in thread.operations
                for mnemonic, reach in self._code(operation)
            )
            for place, thread in zip(threads, program.threads, strict=True)
        )
        return AssemblyProgram(
            threads,
            code,
            {location.name: location.initial for location in program.locations},
            self.machine,
            tuple(cut.guard for cut in program.cuts),
            program.within,
            spaces_of(program, self.machine),
            tuple(spin_loop(spin, code[spin.thread]) for spin in program.spins),
        )

    def _code(self, operation: Operation) -> Iterator[tuple[Mnemonic, str | None]]:
        """The instructions of an operation, each with its reach; it was checked that there are
        rows."""
        if operation.kind is not Kind.BARRIER:
            row = self.row_for(operation)
            assert row is not None
            yield from ((it.mnemonic, it.reach) for it in row.code)
            return
        fences = self.fences(ordering(operation))
        assert not isinstance(fences, Shape)
        entry, leave = map(fence_code, fences)
        yield from ((it.mnemonic, it.reach) for it in entry)
        yield from ((ARRIVE, None), (DEPART, None))
        yield from ((it.mnemonic, it.reach) for it in leave)


def _unlike(template: Template, mnemonic: Mnemonic | None) -> str | None:
    """What another machine must have, whose instruction of this name cannot take the place of one;
    None if it can."""
    own = template.mnemonic
    if mnemonic is None:
        return f"{own.name}, and has not"
    if mnemonic.operands != own.operands or template.reach not in (mnemonic.reaches or (None,)):
        return f"{template}, not {alternatives(mnemonic.spellings)}"
    if (mnemonic.reads, mnemonic.writes) != (own.reads, own.writes):
        return f"{template} that {_does(own)}, not one that {_does(mnemonic)}"
    return None


def _does(mnemonic: Mnemonic) -> str:
    deeds = [deed for deed in ("reads", "writes") if getattr(mnemonic, deed)]
    return " and ".join(deeds) or "accesses nothing"


def ordering(barrier: Operation) -> Ordering:
    """What a barrier orders."""
    assert barrier.scope is not None
    return barrier.scope, barrier.regions


def fence_code(rows: tuple[Row, ...]) -> tuple[Template, ...]:
    """The code of a barrier's fence, by its rows; none where accesses say that it costs nothing."""
    return next((row.code for row in rows if row.kind is Op.FENCE), ())


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
    unscoped = operation.order is not None and operation.scope is None
    where = f" on {operation.location}" if operation.location else ""
    if reason is not None:
        message = f"{operation} is beyond every scheme: it {reason}"
    elif unscoped and all(each.scopes for each in scheme.rows):
        message = f"{operation} is beyond scheme {scheme.name}: it has no scope, and its rows have"
        hint = "a row with an order and without a scope is for such operations"
    elif _of_local(operation) and not has_local(machine):
        does = "accesses local memory" if operation.location else "orders local memory alone"
        message = f"{operation} {does}, and machine {machine.name} declares no place for it"
        hint = LOCAL_HINT
    elif operation.kind is Kind.BARRIER:
        fence = scheme.fences(ordering(operation))
        if isinstance(fence, Shape):
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
