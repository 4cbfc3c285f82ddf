"""Evaluation of expressions: their values, and the operations that they execute.

The operands of an operator other than `&&` and `||` are not sequenced with each other; their
operations stand from left to right in the program, which is one order they may have.
"""

from __future__ import annotations

from typing import assert_never

from rspverify.litmus import tree
from rspverify.litmus.functions import BARRIERS, Access, access
from rspverify.litmus.literal import number
from rspverify.litmus.names import Names
from rspverify.litmus.operations import (
    FALSE,
    PLAIN_LOAD,
    PLAIN_STORE,
    UNKNOWN,
    Operations,
    label_in,
    ordinals,
)
from rspverify.litmus.program import Kind
from rspverify.litmus.registers import Registers
from rspverify.value import Constant, binary, select, unary
from rspverify.value import Expression as Value


class Evaluation:
    """Evaluates the expressions of one thread; `iteration` is that of each loop around them."""

    def __init__(
        self,
        thread: tree.ThreadText,
        language: str,
        names: Names,
        registers: Registers,
        operations: Operations,
    ) -> None:
        self.iteration: list[int] = []
        self._ordinals = ordinals(thread.body)
        self._language = language
        self._names, self.registers = names, registers
        self.operations, self._problems = operations, operations.problems

    def value(self, written: tree.Expression, guard: Value) -> Value:
        """The value of an expression, whose operations are executed where the guard holds."""
        known = self.operations
        match written:
            case tree.Integer():
                return Constant(number(written, self._problems))
            case tree.Name(_, name):
                return self.registers[name] if self._names.register(written) else UNKNOWN
            case tree.Dereference(span, argument):
                location = self._names.location(argument, "what `*` reads", Kind.LOAD)
                if location is None:
                    return UNKNOWN
                return known.add(PLAIN_LOAD, location, guard, span)
            case tree.Prefix(span, "+", argument):
                return self.value(argument, guard)
            case tree.Prefix(span, "&", _):
                self._problems.unsupported(span, "an address (`&`) as a value is not supported")
                return UNKNOWN
            case tree.Prefix(span, operator, argument):
                return known.bounded(span, unary(operator, self.value(argument, guard)))
            case tree.Infix(span, left, operator, right):
                before = len(known.found)
                first = self.value(left, guard)
                if operator == "&&":
                    second = self.value(right, known.both(span, guard, first))
                elif operator == "||":
                    second = self.value(right, known.unless(span, guard, first))
                else:
                    with known.beside(before, span):
                        second = self.value(right, guard)
                return known.bounded(span, binary(operator, first, second))
            case tree.Conditional(span, condition, then, otherwise):
                chosen = self.value(condition, guard)
                one = self.value(then, known.both(span, guard, chosen))
                other = self.value(otherwise, known.unless(span, guard, chosen))
                return known.bounded(span, select(chosen, one, other))
            case tree.Call(span, function, _):
                value = self.call(written, guard)
                if value is None:
                    message = f"{function.text} has no value: it must be a statement of its own"
                    self._problems.error(span, message)
                return value or UNKNOWN
            case tree.Assign(span, tree.Dereference(_, argument), value):
                stored = self.value(value, guard)
                location = self._names.location(argument, "what `*` writes", Kind.STORE)
                if location is not None:
                    known.add(PLAIN_STORE, location, guard, span, stored)
                return stored
            case tree.Assign() | tree.Update():
                return self._changed(written, guard)
            case tree.Unsupported():
                return self.unsupported(written, guard)
            case _:
                assert_never(written)

    def _changed(self, written: tree.Assign | tree.Update, guard: Value) -> Value:
        """The value of a change of a register inside an expression, which is not supported."""
        what, hint = "an assignment", "write `==` to compare"
        if isinstance(written, tree.Update):
            operator = written.operator
            what, hint = f"`{operator}{operator if written.step else '='}`", "make it a statement"
        message = f"{what} inside an expression is not supported"
        self._problems.unsupported(written.span, message, hint)
        return self.value(written.value, guard)

    def unsupported(self, written: tree.Unsupported, guard: Value) -> Value:
        """Note an expression that is not supported, and look at its parts."""
        message = f"{written.construct} is not supported"
        self._problems.unsupported(written.span, message, written.hint)
        for part in written.parts:
            if isinstance(part, tree.Expression):
                self.value(part, guard)
        return UNKNOWN

    # ---- calls -------------------------------------------------------------------------------

    def call(self, call: tree.Call, guard: Value, label: str | None = None) -> Value | None:
        """The value of a call; None if it has none. label: of a barrier that has one."""
        how = access(call, self._language, self._problems)
        if how is None:
            for argument in call.arguments:
                if isinstance(argument, tree.Call):
                    self.value(argument, guard)
            return UNKNOWN
        if how.location is None:
            if call.function.text in BARRIERS:
                label = label_in(label or self._ordinals[id(call)], self.iteration)
            self.operations.add(how, None, guard, call.span, label=label)
            return None
        what = f"the first argument of {call.function.text}"
        location = self._names.location(how.location, what, how.kind)
        operand = self.value(how.value, guard) if how.value is not None else None
        if how.expected is not None:
            return self._compare_exchange(call, how, location, operand, guard)
        if location is None:
            return UNKNOWN
        result = self.operations.add(how, location, guard, call.span, operand)
        return result if how.kind.reads else None

    def _compare_exchange(
        self,
        call: tree.Call,
        how: Access,
        location: str | None,
        desired: Value | None,
        guard: Value,
    ) -> Value:
        """Read what is expected, then compare and exchange; 1 where that succeeds, otherwise 0.

        What is expected is read by a plain load. In C11 a plain store writes what was found there
        where the exchange fails (C11 §7.17.7.4), in OpenCL nothing does, as in the herd of the RSP
        paper's authors.
        """
        assert how.expected is not None and desired is not None
        what = f"the second argument of {call.function.text}"
        other = self._names.location(how.expected, what, Kind.LOAD)
        if location is None or other is None:
            return UNKNOWN
        known, span = self.operations, call.span
        expected = known.add(PLAIN_LOAD, other, guard, how.expected.span)
        found = known.add(how, location, guard, span, desired, expected)
        if guard == FALSE:
            return FALSE
        success = known.bounded(span, binary("==", found, expected))
        if self._language == "C":
            failed = known.unless(span, guard, success)
            known.add(PLAIN_STORE, other, failed, how.expected.span, found)
        return success
