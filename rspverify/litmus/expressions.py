"""Evaluation of expressions: their values, and the operations that they execute.

The operands of an operator other than `&&` and `||` are not sequenced with each other; their
operations stand from left to right in the program, which is one order they may have.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from itertools import permutations
from typing import assert_never

from rspverify.litmus import tree
from rspverify.litmus.frames import Frame, Registers, Round, Surroundings, Way
from rspverify.litmus.functions import BARRIERS, Access, access
from rspverify.litmus.kernels import WORK_ITEM, work_item
from rspverify.litmus.literal import number
from rspverify.litmus.operations import FALSE, PLAIN_LOAD, PLAIN_STORE, UNKNOWN, Operations, Target
from rspverify.litmus.problems import quote
from rspverify.litmus.program import Kind
from rspverify.records import replace
from rspverify.source import Span
from rspverify.value import Constant, binary, select, unary
from rspverify.value import Expression as Value

_INDETERMINATE = (
    "a call of a function beside other operations in one expression is not supported: either may"
    " come first"
)
_ASSIGNED = (
    "a register beside a compare-exchange that may change it in one expression is not supported:"
    " {} may be looked at before or after"
)
_BEFORE = "read into a register in a statement of its own"


class Evaluation(Operations, ABC):
    """Evaluates the expressions of one thread.

    frame: the text that is read, of the thread or of a function that it calls. registers: what they
    hold. items: what the functions for work-items give in this thread. calls: how many calls of
    functions of the test there were. iteration: that of each loop around; rounds: those loops, and
    what is not supported in which jumps may stand.
    """

    def __init__(
        self,
        around: Surroundings,
        thread: int,
        first: int,
        frame: Frame,
        registers: Registers,
        items: Mapping[str, int],
    ) -> None:
        super().__init__(thread, first, around.problems)
        self.around, self.frame, self.registers, self.items = around, frame, registers, items
        self.calls = self._exchanges = 0
        self.iteration: list[int] = []
        self.rounds: list[Round] = []

    @abstractmethod
    def statement(self, statement: tree.Statement, guard: Value) -> Value:
        """Run a statement where the guard holds; the guard of what follows it."""

    @abstractmethod
    def inlined(self, call: tree.Call, guard: Value, used: bool) -> Value | None:
        """Execute a call of a function of the test where the guard holds; its value, None if it has
        none. used: whether the value is."""

    def value(self, written: tree.Expression, guard: Value) -> Value:
        """The value of an expression, whose operations are executed where the guard holds."""
        match written:
            case tree.Integer():
                return Constant(number(written, self.problems))
            case tree.Name():
                constant = self.frame.constant(written)
                if constant is not None:
                    return Constant(constant)
                register = self.frame.register(written)
                return UNKNOWN if register is None else self.registers[register]
            case tree.Dereference(span) | tree.Index(span):
                target = self.target(written, "reads", Kind.LOAD, guard)
                return UNKNOWN if target is None else self.access(PLAIN_LOAD, target, guard, span)
            case tree.Prefix(span, "+", argument):
                return self.value(argument, guard)
            case tree.Prefix(span, "&", _):
                self.problems.unsupported(span, "an address (`&`) as a value is not supported")
                return UNKNOWN
            case tree.Prefix(span, operator, argument):
                return self.bounded(span, unary(operator, self.value(argument, guard)))
            case tree.Infix(span, _, operator, _):
                return self.bounded(span, binary(operator, *self._operands(written, guard)))
            case tree.Conditional(span, condition, then, otherwise):
                chosen = self.value(condition, guard)
                one, held = self._at_times(then, self.both(span, guard, chosen))
                other, instead = self._at_times(otherwise, self.unless(span, guard, chosen))
                self.join(span, [(chosen, held), (chosen, instead)])
                return self.bounded(span, select(chosen, one, other))
            case tree.Call(span, function, _):
                value = self.call(written, guard, used=True)
                if value is None:
                    message = f"{function.text} has no value: it must be a statement of its own"
                    self.problems.error(span, message)
                return value or UNKNOWN
            case tree.Assign(span, tree.Dereference() | tree.Index() as target, value):
                return self.store(target, value, guard, span)
            case tree.Assign() | tree.Update():
                return self._changed(written, guard)
            case tree.Unsupported():
                self.unsupported(written)
                for part in written.parts:
                    if isinstance(part, tree.Expression):
                        self.value(part, guard)
                return UNKNOWN
            case _:
                assert_never(written)

    def _operands(self, written: tree.Infix, guard: Value) -> tuple[Value, Value]:
        span, sign = written.span, written.operator
        if sign in ("&&", "||"):
            first = self.value(written.left, guard)
            goes_on = self.both if sign == "&&" else self.unless
            second, held = self._at_times(written.right, goes_on(span, guard, first))
            ways: list[Way] = [(first, held), (first, {})]
            self.join(span, ways if sign == "&&" else ways[::-1])
            return first, second
        with self.unsequenced(span, written.left, written.right) as part:
            with part():
                first = self.value(written.left, guard)
            with part():
                second = self.value(written.right, guard)
        return first, second

    def _at_times(
        self, written: tree.Expression, guard: Value
    ) -> tuple[Value, Mapping[str, Value]]:
        """The value of what is not always evaluated, and what it assigns to registers."""
        self.registers.enter()
        return self.value(written, guard), self.registers.leave()

    def join(self, span: Span, ways: Sequence[Way]) -> None:
        """Let registers hold what they have where ways meet."""
        self.registers.join(ways, lambda it: self.bounded(span, it))

    @contextmanager
    def unsequenced(
        self, span: Span, *written: tree.Expression
    ) -> Iterator[Callable[[], AbstractContextManager[None]]]:
        """What is evaluated within one part is not sequenced with what is within another."""
        first, calls, exchanges = self.next, self.calls, self._exchanges
        busy = 0

        @contextmanager
        def part() -> Iterator[None]:
            nonlocal busy
            before = self.next
            with self.beside(first, span):
                yield
            busy += self.next > before

        yield part
        for name in _apart(written) if self._exchanges > exchanges else ():
            self.problems.unsupported(name.span, _ASSIGNED.format(quote(name.text)), _BEFORE)
        if self.calls > calls and busy > 1:
            self.problems.unsupported(span, _INDETERMINATE, _BEFORE)

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
            self.access(PLAIN_STORE, target, guard, span, value)
        return value

    def _changed(self, written: tree.Assign | tree.Update, guard: Value) -> Value:
        """The value of a change of a register inside an expression, which is not supported."""
        what, hint = "an assignment", "write `==` to compare"
        if isinstance(written, tree.Update):
            operator = written.operator
            what, hint = f"`{operator}{operator if written.step else '='}`", "make it a statement"
        message = f"{what} inside an expression is not supported"
        self.problems.unsupported(written.span, message, hint)
        return self.value(written.value, guard)

    def unsupported(self, written: tree.Unsupported) -> None:
        """Note an expression or a statement that is not supported."""
        message = f"{written.construct} is not supported"
        self.problems.unsupported(written.span, message, written.hint)

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

        what: what it is in messages. kind: as of `Frame.pointer`.
        """
        match written:
            case tree.Prefix(_, "&", tree.Index() as element):
                return self._element(element, what, kind, guard)
            case _:
                return self.frame.pointer(written, what, kind)

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
        name, language = call.function.text, self.around.language
        if name in self.around.functions:
            return self.inlined(call, guard, used)
        if name in WORK_ITEM and language == "OpenCL":
            return Constant(work_item(call, self.items, self.problems))
        how = access(call, language, self.problems)
        if how is None:
            self.arguments(call, guard)
            return UNKNOWN
        if how.location is not None:
            return self._access(call, how, how.location, guard)
        if name in BARRIERS:
            label = self.frame.path + (label or self.frame.ordinals[id(call)])
            if self.iteration:  # `B1[2]` is that of the second iteration.
                label += f"[{','.join(map(str, self.iteration))}]"
        self.add(how, None, guard, call.span, label=label)
        return None

    def arguments(self, call: tree.Call, guard: Value) -> None:
        """Look at the calls among the arguments of one that has a mistake."""
        for argument in call.arguments:
            if isinstance(argument, tree.Call):
                self.value(argument, guard)

    def _access(
        self, call: tree.Call, how: Access, location: tree.Expression, guard: Value
    ) -> Value | None:
        name = call.function.text
        if how.kind is Kind.RMW and id(call) in self.frame.ignored:
            how = replace(how, used=False)
        operand = other = register = None
        with self.unsequenced(call.span, *call.arguments) as part:
            with part():
                target = self.pointer(location, f"the first argument of {name}", how.kind, guard)
            if how.value is not None:
                with part():
                    operand = self.value(how.value, guard)
            match how.expected:
                case None:
                    pass
                case tree.Prefix(_, "&", tree.Name() as word) if not self.frame.points(word):
                    register = self._expected(word, name)
                case written:
                    with part():
                        what = f"the second argument of {name}"
                        other = self.pointer(written, what, Kind.LOAD, guard)
        if target is None or (how.expected is not None and other is None and register is None):
            return UNKNOWN
        if how.expected is None:
            result = self.access(how, target, guard, call.span, operand)
            return result if how.kind.reads else None
        # Compare and exchange. What is expected is in a register, or is read by a plain load; where
        # the exchange fails what was found is written there (C11 §7.17.7.4), but in OpenCL not to
        # a location, as in the herd of the RSP paper's authors. A register has it anyway.
        span, kept = how.expected.span, register is not None or self.around.language == "C"
        how = replace(how, used=how.used or kept)
        if register is not None:
            expected = self.registers[register]
        else:
            assert other is not None
            expected = self.access(PLAIN_LOAD, other, guard, span)
        found = self.access(how, target, guard, call.span, operand, expected)
        if guard == FALSE:
            return FALSE
        success = self.bounded(call.span, binary("==", found, expected))
        if register is not None:
            self.registers[register] = found
        elif other is not None and kept:
            failed = self.unless(call.span, guard, success)
            self.access(PLAIN_STORE, other, failed, span, found)
        return success

    def _expected(self, word: tree.Name, function: str) -> str | None:
        """The register that a compare-exchange expects the value of; None if none, noted."""
        self._exchanges += 1
        register = self.frame.register(word)
        if register is not None and register in self.frame.booleans:
            message = f"what {function} expects must be an int, and {quote(word.text)} is a bool"
            self.problems.error(word.span, message)
            return None
        return register


def _apart(written: Sequence[tree.Expression]) -> Iterator[tree.Name]:
    """The registers that one of several expressions may assign, where another looks at them."""
    for one, other in permutations(written, 2):
        calls = (each for each in tree.walk(one) if isinstance(each, tree.Call))
        assigned = set()
        for argument in (it for call in calls for it in call.arguments):
            match argument:
                case tree.Prefix(_, "&", tree.Name(_, name)):
                    assigned.add(name)
        for each in tree.walk(other) if assigned else ():
            if isinstance(each, tree.Name) and each.text in assigned:
                yield each
