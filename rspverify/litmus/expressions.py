"""Evaluation of expressions: their values, and the operations that they execute.

The operands of an operator other than `&&` and `||` are not sequenced with each other; their
operations stand from left to right in the program, which is one order they may have.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from itertools import permutations
from typing import assert_never

from rspverify.litmus import tree
from rspverify.litmus.frames import Frame
from rspverify.litmus.functions import BARRIERS, Access, access
from rspverify.litmus.literal import number
from rspverify.litmus.memory import Memory, Target
from rspverify.litmus.operations import FALSE, PLAIN_STORE, UNKNOWN, Operations, label_in
from rspverify.litmus.problems import quote
from rspverify.litmus.program import Kind
from rspverify.litmus.registers import Registers, Way
from rspverify.litmus.work_items import WORK_ITEM, work_item
from rspverify.records import replace
from rspverify.source import Span
from rspverify.value import Constant, binary, select, unary
from rspverify.value import Expression as Value

Inlined = Callable[[tree.Call, Value, bool], Value | None]
"""Executes a call of a function of the test where a guard holds; its value, and whether that is
used."""

Held = Mapping[str, Value]
"""Registers, and what was assigned to them."""

_INDETERMINATE = (
    "a call of a function beside other operations in one expression is not supported: either may"
    " come first"
)


_ASSIGNED = (
    "a register beside a compare-exchange that may change it in one expression is not supported:"
    " {} may be looked at before or after"
)
_BEFORE = "read into a register in a statement of its own"


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
        self.calls = self._exchanges = 0
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
                one, held = self._at_times(then, known.both(span, guard, chosen))
                other, instead = self._at_times(otherwise, known.unless(span, guard, chosen))
                self._join(span, [(chosen, held), (chosen, instead)])
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
            first, both = self.value(written.left, guard), written.operator == "&&"
            goes_on = known.both if both else known.unless
            second, held = self._at_times(written.right, goes_on(span, guard, first))
            self._join(span, [(first, held), (first, {})] if both else [(first, {}), (first, held)])
            return first, second
        with self.unsequenced(span, written.left, written.right) as part:
            with part():
                first = self.value(written.left, guard)
            with part():
                second = self.value(written.right, guard)
        return first, second

    def _at_times(self, written: tree.Expression, guard: Value) -> tuple[Value, Held]:
        """The value of what is not always evaluated, and what it assigns to registers."""
        self.registers.enter()
        return self.value(written, guard), self.registers.leave()

    def _join(self, span: Span, ways: Sequence[Way]) -> None:
        self.registers.join(ways, lambda it: self.operations.bounded(span, it))

    @contextmanager
    def unsequenced(
        self, span: Span, *written: tree.Expression
    ) -> Iterator[Callable[[], AbstractContextManager[None]]]:
        """What is evaluated within one part is not sequenced with what is within another."""
        found, calls, exchanges = self.operations.found, self.calls, self._exchanges
        first, busy = len(found), 0

        @contextmanager
        def part() -> Iterator[None]:
            nonlocal busy
            before = len(found)
            with self.operations.beside(first, span):
                yield
            busy += len(found) > before

        yield part
        for name in _apart(written) if self._exchanges > exchanges else ():
            self._problems.unsupported(name.span, _ASSIGNED.format(quote(name.text)), _BEFORE)
        if self.calls > calls and busy > 1:
            self._problems.unsupported(span, _INDETERMINATE, _BEFORE)

    def store(
        self,
        place: tree.Dereference | tree.Index,
        written: tree.Expression,
        guard: Value,
        span: Span,
    ) -> Value:
        """Execute the plain store `place = written`; the value of that."""
        with self.unsequenced(span, place, written) as part:
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
        operand = other = register = expected = None
        with self.unsequenced(call.span, *call.arguments) as part:
            with part():
                target = self.pointer(location, f"the first argument of {name}", how.kind, guard)
            if how.value is not None:
                with part():
                    operand = self.value(how.value, guard)
            match how.expected:
                case None:
                    pass
                case tree.Prefix(_, "&", tree.Name() as word) if not self.frame.names.points(word):
                    register = self._expected(word, name)
                case written:
                    with part():
                        what = f"the second argument of {name}"
                        other = self.pointer(written, what, Kind.LOAD, guard)
        if target is None or (how.expected is not None and other is None and register is None):
            return UNKNOWN
        if register is not None or (other is not None and self._language == "C"):
            how = replace(how, used=True)  # What was found is kept there.
        if how.expected is None:
            result = self.memory.access(how, target, guard, call.span, operand)
            return result if how.kind.reads else None
        # Compare and exchange. What is expected is in a register, or is read by a plain load; where
        # the exchange fails what was found is written there (C11 §7.17.7.4), but in OpenCL not to
        # a location, as in the herd of the RSP paper's authors. A register has it anyway.
        if register is not None:
            expected = self.registers[register]
        elif other is not None:
            expected = self.memory.load(other, guard, how.expected.span)
        found = self.memory.access(how, target, guard, call.span, operand, expected)
        if guard == FALSE or expected is None:
            return FALSE
        success = known.bounded(call.span, binary("==", found, expected))
        if register is not None:
            self.registers[register] = found
        elif other is not None and self._language == "C":
            failed = known.unless(call.span, guard, success)
            self.memory.access(PLAIN_STORE, other, failed, how.expected.span, found)
        return success

    def _expected(self, word: tree.Name, function: str) -> str | None:
        """The register that a compare-exchange expects the value of; None if none, noted."""
        self._exchanges += 1
        register = self.frame.names.register(word)
        if register is not None and register in self.frame.booleans:
            message = f"what {function} expects must be an int, and {quote(word.text)} is a bool"
            self._problems.error(word.span, message)
            return None
        return register


def _apart(written: Sequence[tree.Expression]) -> Iterator[tree.Name]:
    """The registers that one of several expressions may assign, where another looks at them."""
    for one, other in permutations(written, 2):
        assigned = {
            argument.argument.text
            for each in tree.walk(one)
            if isinstance(each, tree.Call)
            for argument in each.arguments
            if isinstance(argument, tree.Prefix)
            and argument.operator == "&"
            and isinstance(argument.argument, tree.Name)
        }
        if assigned:
            for each in tree.walk(other):
                if isinstance(each, tree.Name) and each.text in assigned:
                    yield each
