"""The program that a test is, without the way through its text."""

from __future__ import annotations

from collections.abc import Iterable
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
    threads: list[Thread] = []
    first = 0
    for number, thread in enumerate(test.threads):
        run = _Run(number, first, Span(source, 1, 1, 1, 1))
        run.all(blocks(thread.accesses), TRUE)
        operations = tuple(run.operations)
        threads.append(Thread(f"P{number}", number, *thread.place, operations, run.registers))
        first += len(operations)
    return Program(title, source, test.locations, tuple(threads))


class _Run:
    """A thread from its beginning: the operations so far, and what registers hold."""

    def __init__(self, thread: int, first: int, span: Span) -> None:
        self.operations: list[Operation] = []
        self.registers: dict[str, Expression] = {}
        self._thread, self._first, self._span = thread, first, span

    def all(self, items: Iterable[Access | Branch], guard: Expression) -> None:
        """Run what is executed where a guard holds."""
        for item in items:
            match item:
                case Access(register=register):
                    read = self._access(item, guard)
                    if register is not None:
                        self.registers[f"r{register}"] = read
                case Branch(condition, body):
                    self._branch(self._value(condition), body, guard)
                case _:
                    assert_never(item)

    def _branch(
        self, condition: Expression, body: Iterable[Access | Branch], guard: Expression
    ) -> None:
        before = dict(self.registers)
        always = isinstance(condition, Constant) and condition.value
        self.all(body, guard if always else conjunction(guard, condition))
        for name, value in self.registers.items():
            held = before.get(name, UNREAD)
            if held is not value:
                self.registers[name] = select(condition, value, held)

    def _access(self, access: Access, guard: Expression) -> Expression:
        """Add the operations of an access; what its register keeps."""
        operand = None if access.value is None else self._value(access.value)
        if access.expected is None:
            return self._add(access, guard, operand)
        expected = self._add(Access(Kind.LOAD, access.expected), guard, None)
        found = self._add(access, guard, operand, expected)
        return FALSE if guard == FALSE else binary("==", found, expected)

    def _add(
        self,
        it: Access,
        guard: Expression,
        operand: Expression | None,
        expected: Expression | None = None,
    ) -> Expression:
        """Add an operation, unless it is never executed; what it reads."""
        if guard == FALSE:
            return FALSE
        index = self._first + len(self.operations)
        read, value, success = Read(index), operand, None
        if it.kind is Kind.RMW and operand is not None:
            value = written(it.operator, read, operand)
        if expected is not None:
            success = binary("==", read, expected)
        self.operations.append(
            Operation(
                index=index,
                thread=self._thread,
                kind=it.kind,
                location=it.location,
                order=it.order,
                scope=it.scope,
                remote=it.remote,
                guard=guard,
                value=value,
                span=self._span,
                operator=it.operator,
                operand=operand if it.kind is Kind.RMW else None,
                success=success,
                failure=None if success is None else Order.RELAXED,
                regions=frozenset({"global"} if it.kind is Kind.FENCE else ()),
            )
        )
        return read

    def _value(self, expression: Expression) -> Expression:
        """An expression over registers as one over values read."""
        match expression:
            case Constant():
                return expression
            case Read(register):
                return self.registers[f"r{register}"]
            case Unary(name, argument):
                return unary(name, self._value(argument))
            case Binary(name, left, right):
                return binary(name, self._value(left), self._value(right))
            case Select(condition, then, otherwise):
                return select(self._value(condition), self._value(then), self._value(otherwise))
            case _:
                assert_never(expression)
