"""The program that a test is, without the way through its text."""

from __future__ import annotations

from collections.abc import Iterable
from typing import assert_never

from rspverify.litmus import functions
from rspverify.litmus.operations import FALSE, TRUE, Operations
from rspverify.litmus.problems import Problems
from rspverify.litmus.program import GLOBAL, Kind, Program, Thread
from rspverify.litmus.reader import read_program
from rspverify.programs.assembly import assembly_text, in_assembly
from rspverify.programs.litmus_test import Access, Branch, LitmusTest, blocks
from rspverify.programs.writer import UNREAD
from rspverify.source import Source, Span
from rspverify.value import Constant, Expression, binary, conjunction, select, substituted


def program_of(test: LitmusTest, title: str) -> Program:
    """The program that the text of a test reads as, but for where operations stand.

    It is said to be read from an empty text: its own takes longer to make and to read than most
    programs to decide.
    """
    if in_assembly(test):
        text = assembly_text(test, title or "test")
        return read_program(Source(title, text), assembly=True)
    source = Source(title, "")
    threads: list[Thread] = []
    first = 0
    for number, thread in enumerate(test.threads):
        run = _Run(test, Operations(number, first, Problems()), Span(source, 1, 1, 1, 1))
        run.all(blocks(thread.accesses), TRUE)
        operations = tuple(run.operations.found)
        threads.append(Thread(f"P{number}", number, *thread.place, operations, run.registers))
        first += len(operations)
    return Program(title, source, test.locations, tuple(threads))


def call_of(it: Access, fenced: frozenset[str]) -> functions.Access:
    """The call by which a text says an access. fenced: the memories that fences of it order."""
    return functions.Access(
        it.kind,
        it.order,
        it.scope,
        it.remote,
        operator=it.operator,
        failure=None if it.expected is None else it.failure,
        weak=it.weak,
        regions=it.fenced(fenced) if it.kind is Kind.FENCE else frozenset({GLOBAL}),
        used=it.register is not None
        or it.kind is not Kind.RMW
        or isinstance(it.expected, Constant),  # A register has what was found.
    )


class _Run:
    """A thread from its beginning: the operations so far, and what registers hold."""

    def __init__(self, test: LitmusTest, operations: Operations, span: Span) -> None:
        self.operations = operations
        self._fenced = test.fenced
        self._regions = {x.name: x.region for x in test.locations}
        self.registers: dict[str, Expression] = {}
        self._span = span

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
        expected: Expression | None = None
        if isinstance(access.expected, Constant):
            expected = access.expected
        elif access.expected is not None:
            expected = self._add(Access(Kind.LOAD, access.expected), guard)
        found = self._add(access, guard, operand, expected)
        if expected is None or guard == FALSE:
            return found
        return binary("==", found, expected)

    def _add(
        self,
        it: Access,
        guard: Expression,
        operand: Expression | None = None,
        expected: Expression | None = None,
    ) -> Expression:
        """Add an operation, unless it is never executed; what it reads."""
        call = call_of(it, self._fenced)
        region = self._regions.get(it.location or "", GLOBAL)
        place = (it.location, guard, self._span)
        return self.operations.add(call, *place, operand, expected, region=region)

    def _value(self, expression: Expression) -> Expression:
        """An expression over registers as one over values read."""
        return substituted(expression, lambda register: self.registers[f"r{register}"])
