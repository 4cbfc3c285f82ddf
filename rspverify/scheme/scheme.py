"""A compilation scheme: a table from source operations to assembly code (Tab. 3)."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

from msgspec import Struct

from rspverify.architecture import Architecture, Mnemonic
from rspverify.litmus.program import LOCAL, Operation, Order, Scope
from rspverify.records import replace
from rspverify.scheme.memory import (
    IN_BOTH,
    IN_GLOBAL,
    LOCAL_HINT,
    Memory,
    has_local,
    memory_words,
    misplaced,
    without_end,
)
from rspverify.scheme.orders import DEFAULT, Op, at_least, closer, op_of
from rspverify.source import InputError, Problem, Source, Span, require
from rspverify.wording import alternatives


class Template(Struct, frozen=True):
    """An instruction of a row's code: a mnemonic, with its reach if it takes one.

    Its register and location are always those of the source operation, so they need no mention.
    """

    mnemonic: Mnemonic
    reach: str | None
    span: Span

    @property
    def accesses(self) -> bool:
        """Whether it is an instruction that reads or writes a location for the program."""
        return self.mnemonic.reads or self.mnemonic.writes

    def __str__(self) -> str:
        """The paper's notation: `LD r x`, `INV_L1 WG`."""
        operands = (
            self.reach or "" if letter == "s" else letter for letter in self.mnemonic.operands
        )
        return self.mnemonic.written(operands)


UNUSED = "unused"
"""The word for an RMW whose result nothing looks at."""


class Shape(Struct, frozen=True):
    """All of an operation that a scheme looks at. order and scope are None if it is non-atomic.

    used: whether the result of an RMW is; true of all else.
    """

    kind: Op
    scope: Scope | None
    order: Order | None
    remote: bool
    memory: Memory = IN_GLOBAL
    used: bool = True

    def __str__(self) -> str:
        words = [self.kind.value, *memory_words([self.memory])]
        if self.scope is None or self.order is None:
            words.append("na")
        else:
            words.append(f"{self.scope.value},{'R' if self.remote else 'N'} ({self.order.value})")
        return " ".join([*words, *([] if self.used else [UNUSED])])


def shape_of(operation: Operation) -> Shape | None:
    """The shape of a source operation; None if a scheme can have no row for it.

    So it is with barriers, locks, unlocks, and the atomics of C11, which have no scopes. A
    compare-exchange has the weakest order that is as strong as both of its own.
    """
    kind, order = op_of(operation), operation.order
    if kind is None or (order is None) != (operation.scope is None):
        return None
    if order is not None and operation.failure is not None:
        order = at_least(order, operation.failure)
    used = operation.used or not kind.gives
    return Shape(kind, operation.scope, order, operation.remote, operation.regions, used)


EITHER = frozenset({False, True})


def _unlike(template: Template, mnemonic: Mnemonic) -> str | None:
    """What another machine must have, whose instruction of this name cannot take the place of one;
    None if it can."""
    own = template.mnemonic
    if mnemonic.operands != own.operands or template.reach not in (mnemonic.reaches or (None,)):
        return f"{template}, not {alternatives(mnemonic.spellings)}"
    if (mnemonic.reads, mnemonic.writes) != (own.reads, own.writes):
        return f"{template} that {_does(own)}, not one that {_does(mnemonic)}"
    return None


def _does(mnemonic: Mnemonic) -> str:
    deeds = [deed for deed in ("reads", "writes") if getattr(mnemonic, deed)]
    return " and ".join(deeds) or "accesses nothing"


class Row(Struct, frozen=True, dict=True):
    """One row: the operations that it matches, and the code that each of them becomes.

    scopes: None in it is non-atomic. orders, remotes: of the atomic operations that it matches,
    so both are empty where it matches no atomic one. number: its place in the table, from 1.
    code: exactly one of its instructions accesses memory, and as the operation does, but that ST
    may store again what has been written; of a fence none does.
    named: of its orders those that it names; it covers the others as weaker ones.
    memories: of the operations that it matches. results: of an RMW, whether they are used.
    """

    number: int
    kind: Op
    scopes: frozenset[Scope | None]
    orders: frozenset[Order]
    remotes: frozenset[bool]
    code: tuple[Template, ...]
    span: Span
    note: str | None = None
    named: frozenset[Order] = frozenset()
    memories: frozenset[Memory] = frozenset({IN_GLOBAL})
    results: frozenset[bool] = EITHER

    @cached_property
    def shapes(self) -> tuple[Shape, ...]:
        """Every shape of operation that it matches, in a fixed order."""
        atomic = tuple(
            (scope, order, remote)
            for scope in Scope
            for remote in (False, True)
            for order in Order
            if scope in self.scopes and order in self.orders and remote in self.remotes
        )
        plain: tuple[tuple[Scope | None, Order | None, bool], ...] = ((None, None, False),)
        results = sorted(self.results, reverse=True) if self.kind.gives else [True]
        return tuple(
            Shape(self.kind, *each, memory, used)
            for memory in sorted(self.memories, key=sorted)
            for used in results
            for each in (*(plain if None in self.scopes else ()), *atomic)
        )

    @property
    def adds(self) -> bool:
        """Whether its code does nothing but add, of all that an RMW may do."""
        return any(each.mnemonic.operator == "+" for each in self.code)

    def before(self, other: Row, shape: Shape) -> bool:
        """Whether it compiles a shape that both match: the order it names for it is the weaker."""
        return shape.order is not None and closer(shape.order, self.named, other.named)

    def __str__(self) -> str:
        """The left column of Tab. 3: `load DV,R`, or `load na, load WG,_` for either flag.

        Orders stand there as the row names them, unless it has those of every row by default.
        """
        flag = "_" if len(self.remotes) == 2 else "R" if True in self.remotes else "N"
        names = ["na"] if None in self.scopes else []
        names += [f"{scope.value},{flag}" for scope in Scope if scope in self.scopes]
        usual = self.orders == DEFAULT[self.kind]
        kind = " ".join([self.kind.value, *memory_words(self.memories)])
        return ", ".join(f"{kind} {name}{self._result}" for name in names) + (
            "" if usual else self._in_brackets
        )

    @property
    def _result(self) -> str:
        if len(self.results) == 2 or not self.kind.gives:
            return ""
        return " used" if True in self.results else f" {UNUSED}"

    @property
    def with_orders(self) -> str:
        """The same with its orders in any case."""
        usual = self.orders == DEFAULT[self.kind]
        return f"{self}{self._in_brackets if usual else ''}"

    @property
    def _in_brackets(self) -> str:
        orders = ", ".join(order.value for order in Order if order in self.named)
        return f" ({orders})" if orders else ""


class Scheme(Struct, frozen=True, dict=True):
    """A compilation scheme. For each operation there is one row at most that comes before others.

    machine: what its code is for. origin: where the table is taken from, in the author's words.
    """

    name: str
    machine: Architecture
    rows: tuple[Row, ...]
    source: Source
    origin: str | None = None
    note: str | None = None

    def on_machine(self, machine: Architecture) -> Scheme:
        """The same table for another machine.

        Raises InputError, with a problem for each instruction that the machine does not have, where
        it first stands; and where it does not say which memory is final.
        """
        name, instructions = machine.name, machine.instructions
        used = {each.mnemonic.name: each for row in reversed(self.rows) for each in row.code[::-1]}
        problems = without_end(machine)
        problems += [
            Problem(each.span, f"machine {name} must have {lacks}, and has not")
            for lacks, each in reversed(used.items())
            if lacks not in instructions
        ]
        unlike = {
            must: each
            for row in reversed(self.rows)
            for each in reversed(row.code)
            if (its := instructions.get(each.mnemonic.name)) is not None
            if (must := _unlike(each, its)) is not None
        }
        problems += [
            Problem(each.span, f"machine {name} must have {must}")
            for must, each in reversed(unlike.items())
        ]
        for row in self.rows:
            if any(LOCAL in it for it in row.memories) and not has_local(machine):
                message = f"machine {name} must have local memory for {row}, and has none"
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

    def with_code(self, number: int, code: tuple[Template, ...]) -> Scheme:
        """The same scheme but for the code of one row, given by its number. Raises InputError."""
        message = f"a row of {self.name} must be from 1 to {len(self.rows)}, not {number}"
        require(any(row.number == number for row in self.rows), message)
        rows = tuple(replace(row, code=code) if row.number == number else row for row in self.rows)
        return replace(self, rows=rows)

    @cached_property
    def table(self) -> Mapping[Shape, Row]:
        """The row of each shape of operation that has one.

        Of rows that match a shape, the one that names the weakest order for it. A compare-exchange
        without a row of its own has that of an RMW of its order. On a machine without local memory
        a fence of both memories is one of global memory alone.
        """
        found: dict[Shape, Row] = {}
        for row in self.rows:
            for shape in row.shapes:
                if shape not in found or row.before(found[shape], shape):
                    found[shape] = row
        for shape, row in list(found.items()):
            if shape.kind is Op.RMW:
                found.setdefault(replace(shape, kind=Op.CAS), row)
            if shape.kind is Op.FENCE and not has_local(self.machine):
                found.setdefault(replace(shape, memory=IN_BOTH), row)
        return found

    def row_for(self, operation: Operation) -> Row | None:
        """The row that compiles an operation, if there is one."""
        shape = shape_of(operation)
        return None if shape is None else self.table.get(shape)
