"""The program that a test is, without the way through its text."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import count
from typing import assert_never

from rspverify.litmus.operations import FALSE, TRUE, written
from rspverify.litmus.program import Kind, Operation, Order, Program, Thread
from rspverify.programs.litmus_test import Access, Branch, LitmusTest, blocks
from rspverify.programs.writer import UNREAD
from rspverify.source import Source, Span
from rspverify.value import (
    Binary,
    Constant,
    Expression,
    Read,
    Select,
    Unary,
    binary,
    conjunction,
    select,
    unary,
)


def program_of(test: LitmusTest, title: str, source: Source | None = None) -> Program:
    """The program that the text of a test reads as, but for where operations stand.

    source: what it is said to be read from; an empty text otherwise, as the text takes longer to
    make and to read than most programs to decide.
    """
    source = source or Source(title, "")
    span = Span(source, 1, 1, 1, 1)
    threads = []
    first = 0
    for number, thread in enumerate(test.threads):
        run = _Run(number, first, span)
        run.all(blocks(thread.accesses), TRUE)
        first += len(run.operations)
        device, workgroup = thread.place
        threads.append(
            Thread(
                f"P{number}", number, device, workgroup, tuple(run.operations), run.named_registers
            )
        )
    return Program(title, source, test.locations, tuple(threads))


class _Run:
    """A thread from its beginning: the operations so far, and what registers hold."""

    def __init__(self, thread: int, first: int, span: Span) -> None:
        self.operations: list[Operation] = []
        self._thread, self._index, self._span = thread, count(first), span
        self._registers: dict[int, Expression] = {}

    @property
    def named_registers(self) -> dict[str, Expression]:
        """What registers hold, by their names."""
        return {f"r{number}": value for number, value in self._registers.items()}

    def all(self, items: Iterable[Access | Branch], guard: Expression) -> None:
        """Run what is executed where a guard holds."""
        for item in items:
            if isinstance(item, Branch):
                self._branch(item, guard)
                continue
            read = self._access(item, guard)
            if item.register is not None:
                self._registers[item.register] = read

    def _branch(self, branch: Branch, guard: Expression) -> None:
        condition = self._value(branch.condition)
        always = isinstance(condition, Constant) and condition.value
        before = self._registers
        self._registers = dict(before)
        self.all(branch.body, guard if always else conjunction(guard, condition))
        self._registers = {
            number: value
            if before.get(number) is value
            else select(condition, value, before.get(number, UNREAD))
            for number, value in self._registers.items()
        }

    def _access(self, access: Access, guard: Expression) -> Expression:
        """Add the operations of an access; what its register keeps."""
        value = None if access.value is None else self._value(access.value)
        expected = None
        if access.expected is not None:
            look = Access(Kind.LOAD, access.expected)
            expected = self._add(look, guard, None, None)
        read = self._add(access, guard, value, expected)
        if guard == FALSE or expected is None:
            return read
        return binary("==", read, expected)

    def _add(
        self,
        access: Access,
        guard: Expression,
        operand: Expression | None,
        expected: Expression | None,
    ) -> Expression:
        if guard == FALSE:
            return FALSE
        index = next(self._index)
        read = Read(index)
        rmw = access.kind is Kind.RMW and operand is not None
        self.operations.append(
            Operation(
                index,
                self._thread,
                access.kind,
                access.location,
                access.order,
                access.scope,
                access.remote,
                guard,
                written(access.operator, read, operand) if rmw and operand else operand,
                self._span,
                access.operator,
                operand if rmw else None,
                None if expected is None else binary("==", read, expected),
                None if expected is None else Order.RELAXED,
                frozenset({"global"}) if access.kind is Kind.FENCE else frozenset(),
            )
        )
        return read

    def _value(self, expression: Expression) -> Expression:
        """An expression over registers as one over values read."""
        match expression:
            case Constant():
                return expression
            case Read(register):
                return self._registers[register]
            case Unary(name, argument):
                return unary(name, self._value(argument))
            case Binary(name, left, right):
                return binary(name, self._value(left), self._value(right))
            case Select(condition, then, otherwise):
                return select(self._value(condition), self._value(then), self._value(otherwise))
            case _:
                assert_never(expression)
