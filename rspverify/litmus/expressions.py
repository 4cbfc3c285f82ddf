"""Evaluation of expressions: their values, and the operations that they execute.

The operands of an operator other than `&&` and `||` are not sequenced with each other; their
operations stand from left to right in the program, which is one order they may have.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from typing import assert_never

from msgspec.structs import replace

from rspverify.litmus import tree
from rspverify.litmus.frames import Frame
from rspverify.litmus.functions import BARRIERS, Access, access
from rspverify.litmus.literal import number
from rspverify.litmus.memory import Memory, Target
from rspverify.litmus.operations import FALSE, PLAIN_STORE, UNKNOWN, Operations, label_in
from rspverify.litmus.program import Kind
from rspverify.litmus.registers import Registers
from rspverify.litmus.work_items import WORK_ITEM, work_item
from rspverify.source import Span
from rspverify.value import Constant, binary, select, unary
from rspverify.value import Expression as Value

Inlined = Callable[[tree.Call, Value, bool], Value | None]
"""Executes a call of a function of the test where a guard holds; its value, and whether that is
used."""

_INDETERMINATE = (
    "a call of a function beside other operations in one expression is not supported: either may"
    " come first"
)


class Evaluation:
    """Evaluates the expressions of one thread.

    frame: the text that is read, of the thread or of a function that it calls. iteration: that of
    each loop around. items: what the functions for work-items give in this thread. inlined: does
    the calls of `functions`, those that the test has, and counts them in `calls`.
    """

    def __init__(
        self,
        language: str,
        frame: Frame,
        registers: Registers,
        operations: Operations,
        items: Mapping[str, int],
        functions: Mapping[str, tree.FunctionText],
        inlined: Inlined,
    ) -> None:
        self.frame = frame
        self.iteration: list[int] = []
        self.calls = 0
        self.memory = Memory(operations)
        self.registers = registers
        self.operations, self._problems = operations, operations.problems
        self._language, self._items = language, items
        self._functions, self._inlined = functions, inlined

    def value(self, written: tree.Expression, guard: Value) -> Value:
        """The value of an expression, whose operations are executed where the guard holds."""
        known = self.operations
        match written:
            case tree.Integer():
                return Constant(number(written, self._problems))
            case tree.Name():
                constant = self.frame.names.constant(written)
                if constant is not None:
                    return Constant(constant)
                register = self.frame.names.register(written)
                return UNKNOWN if register is None else self.registers[register]
            case tree.Dereference(span) | tree.Index(span):
                target = self.target(written, "reads", Kind.LOAD, guard)
                return UNKNOWN if target is None else self.memory.load(target, guard, span)
            case tree.Prefix(span, "+", argument):
                return self.value(argument, guard)
            case tree.Prefix(span, "&", _):
                self._problems.unsupported(span, "an address (`&`) as a value is not supported")
                return UNKNOWN
            case tree.Prefix(span, operator, argument):
                return known.bounded(span, unary(operator, self.value(argument, guard)))
            case tree.Infix(span, _, operator, _):
                first, second = self._operands(written, guard)
                return known.bounded(span, binary(operator, first, second))
            case tree.Conditional(span, condition, then, otherwise):
                chosen = self.value(condition, guard)
                one = self.value(then, known.both(span, guard, chosen))
                other = self.value(otherwise, known.unless(span, guard, chosen))
                return known.bounded(span, select(chosen, one, other))
            case tree.Call(span, function, _):
                value = self.call(written, guard, used=True)
                if value is None:
                    message = f"{function.text} has no value: it must be a statement of its own"
                    self._problems.error(span, message)
                return value or UNKNOWN
            case tree.Assign(span, tree.Dereference() | tree.Index() as target, value):
                return self.store(target, value, guard, span)
            case tree.Assign() | tree.Update():
                return self._changed(written, guard)
            case tree.Unsupported():
                return self.unsupported(written, guard)
            case _:
                assert_never(written)

    def _operands(self, written: tree.Infix, guard: Value) -> tuple[Value, Value]:
        known, span = self.operations, written.span
        if written.operator in ("&&", "||"):
            first = self.value(written.left, guard)
            goes_on = known.both if written.operator == "&&" else known.unless
            return first, self.value(written.right, goes_on(span, guard, first))
        with self.unsequenced(span) as part:
            with part():
                first = self.value(written.left, guard)
            with part():
                second = self.value(written.right, guard)
        return first, second

    @contextmanager
    def unsequenced(self, span: Span) -> Iterator[Callable[[], AbstractContextManager[None]]]:
        """What is evaluated within one part is not sequenced with what is within another."""
        found, calls = self.operations.found, self.calls
        first, busy = len(found), 0

        @contextmanager
        def part() -> Iterator[None]:
            nonlocal busy
            before = len(found)
            with self.operations.beside(first, span):
                yield
            busy += len(found) > before

        yield part
        if self.calls > calls and busy > 1:
            hint = "read into a register in a statement of its own"
            self._problems.unsupported(span, _INDETERMINATE, hint)

    def store(
        self,
        place: tree.Dereference | tree.Index,
        written: tree.Expression,
        guard: Value,
        span: Span,
    ) -> Value:
        """Execute the plain store `place = written`; the value of that."""
        with self.unsequenced(span) as part:
            with part():
                value = self.value(written, guard)
            with part():
                target = self.target(place, "writes", Kind.STORE, guard)
        if target is not None:
            self.memory.access(PLAIN_STORE, target, guard, span, value)
        return value

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

    # ---- addresses ---------------------------------------------------------------------------

    def target(
        self, place: tree.Dereference | tree.Index, does: str, kind: Kind, guard: Value
    ) -> Target | None:
        """What `*e` or `a[i]` stands for; None if nothing, which is noted. does: reads, writes."""
        if isinstance(place, tree.Dereference):
            return self.pointer(place.argument, f"what `*` {does}", kind, guard)
        return self._element(place, f"what `[]` {does}", kind, guard)

    def pointer(
        self, written: tree.Expression, what: str, kind: Kind | None, guard: Value
    ) -> Target | None:
        """What an expression points to, a name or `&a[i]`; None if nothing, which is noted.

        what: what it is in messages. kind: as of `Names.pointer`.
        """
        match written:
            case tree.Prefix(_, "&", tree.Index() as element):
                return self._element(element, what, kind, guard)
            case _:
                return self.frame.names.pointer(written, what, kind)

    def _element(
        self, written: tree.Index, what: str, kind: Kind | None, guard: Value
    ) -> Target | None:
        array = self.pointer(written.array, what, kind, guard)
        index = self.value(written.index, guard)
        return None if array is None else array + index

    # ---- calls -------------------------------------------------------------------------------

    def call(
        self, call: tree.Call, guard: Value, label: str | None = None, *, used: bool = False
    ) -> Value | None:
        """The value of a call; None if it has none. label: of a barrier that has one."""
        name = call.function.text
        if name in self._functions:
            return self._inlined(call, guard, used)
        if name in WORK_ITEM and self._language == "OpenCL":
            return Constant(work_item(call, self._items, self._problems))
        how = access(call, self._language, self._problems)
        if how is None:
            for argument in call.arguments:
                if isinstance(argument, tree.Call):
                    self.value(argument, guard)
            return UNKNOWN
        if how.location is None:
            if name in BARRIERS:
                path = self.frame.path + (label or self.frame.ordinals[id(call)])
                label = label_in(path, self.iteration)
            self.operations.add(how, None, guard, call.span, label=label)
            return None
        return self._access(call, how, how.location, guard)

    def _access(
        self, call: tree.Call, how: Access, location: tree.Expression, guard: Value
    ) -> Value | None:
        name, known = call.function.text, self.operations
        if how.kind is Kind.RMW and id(call) in self.frame.ignored:
            how = replace(how, used=False)
        operand = other = None
        with self.unsequenced(call.span) as part:
            with part():
                target = self.pointer(location, f"the first argument of {name}", how.kind, guard)
            if how.value is not None:
                with part():
                    operand = self.value(how.value, guard)
            if how.expected is not None:
                with part():
                    what = f"the second argument of {name}"
                    other = self.pointer(how.expected, what, Kind.LOAD, guard)
        if target is None or (how.expected is not None and other is None):
            return UNKNOWN
        if other is None or how.expected is None:
            result = self.memory.access(how, target, guard, call.span, operand)
            return result if how.kind.reads else None
        # Compare and exchange. What is expected is read by a plain load; where the exchange fails,
        # in C11 a plain store writes what was found there (C11 §7.17.7.4), in OpenCL nothing does,
        # as in the herd of the RSP paper's authors.
        expected = self.memory.load(other, guard, how.expected.span)
        found = self.memory.access(how, target, guard, call.span, operand, expected)
        if guard == FALSE:
            return FALSE
        success = known.bounded(call.span, binary("==", found, expected))
        if self._language == "C":
            failed = known.unless(call.span, guard, success)
            self.memory.access(PLAIN_STORE, other, failed, how.expected.span, found)
        return success
