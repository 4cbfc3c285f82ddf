"""Symbolic execution of a thread: its statements become guarded operations (SEMANTICS §1).

A register becomes the expression that it holds; under an `if`, operations are guarded by the
condition, and afterwards registers are chosen by it. Evaluation is from left to right.
"""

from __future__ import annotations

from collections.abc import Mapping

from rspverify.litmus.declarations import declared
from rspverify.litmus.functions import access
from rspverify.litmus.growth import TOO_LARGE, Growth
from rspverify.litmus.literal import number
from rspverify.litmus.problems import Problems, quote
from rspverify.litmus.program import Kind, Location, Operation, Order, Scope
from rspverify.litmus.tree import (
    Assign,
    Block,
    Branch,
    Call,
    Conditional,
    Declaration,
    Declarator,
    Dereference,
    Evaluate,
    Infix,
    Integer,
    Name,
    Prefix,
    Statement,
    ThreadText,
    Unsupported,
    walk,
)
from rspverify.litmus.tree import Expression as Written
from rspverify.source import Span
from rspverify.value import (
    Binary,
    Constant,
    Expression,
    Read,
    binary,
    conjunction,
    select,
    unary,
)

_TRUE, _ZERO = Constant(1), Constant(0)

_UNKNOWN = Read(-1)
"""The value of what has a problem; it never reaches a Program, and no guard over it is constant."""


def run(
    thread: ThreadText,
    number: int,
    first: int,
    locations: Mapping[str, Location],
    problems: Problems,
) -> tuple[tuple[Operation, ...], dict[str, Expression]]:
    """The operations of a thread, indexed from `first`, and what its registers hold at its end."""
    execution = _Execution(thread, number, first, locations, problems)
    execution.statement(thread.body, _TRUE)
    registers = {name: execution.value_of(name) for name in execution.registers}
    return tuple(execution.operations), registers


class _Execution:
    """One thread on its way through its statements."""

    def __init__(
        self,
        thread: ThreadText,
        index: int,
        first: int,
        locations: Mapping[str, Location],
        problems: Problems,
    ) -> None:
        self.operations: list[Operation] = []
        self._thread = thread.name.text
        self._index, self._first = index, first
        self._locations = locations
        self._parameters = dict.fromkeys(each.name.text for each in thread.parameters)
        self.registers = [each for each in _assigned(thread) if each not in self._parameters]
        self._names = set(self.registers)
        # The innermost branch comes last: what it assigns, on top of what held before it.
        self._values: list[dict[str, Expression]] = [{}]
        # The innermost block comes last: where it declares a register.
        self._blocks: list[dict[str, Span]] = []
        self._problems = problems
        self._growth, self._too_large = Growth(), False

    # ---- registers ---------------------------------------------------------------------------

    def value_of(self, register: str) -> Expression:
        """What a register holds now; 0 before it is assigned."""
        for values in reversed(self._values):
            if register in values:
                return values[register]
        return _ZERO

    def _bounded(self, span: Span, expression: Expression) -> Expression:
        """The expression, unless it is too large to work with."""
        if self._growth.within(expression):
            return expression
        if not self._too_large:
            self._too_large = True
            hint = "registers are replaced by what they hold: `r = r + r` doubles the expression"
            self._problems.unsupported(span, TOO_LARGE, hint)
        return _UNKNOWN

    def _register(self, name: Name) -> bool:
        """Whether a word names a register of the thread; if not, that is noted."""
        if name.text in self._parameters:
            message = f"{quote(name.text)} must be a register here, not a location"
            self._problems.error(name.span, message, f"write `*{name.text}` to access the location")
            return False
        if name.text in self._names:
            return True
        if name.text in self._locations:
            message = f"{quote(name.text)} must be a register here, not a location"
            advice = f"add it to the parameters of {self._thread}, and write `*{name.text}`"
            self._problems.error(name.span, message, advice)
            return False
        message = f"the register {quote(name.text)} must be declared or assigned in {self._thread}"
        hint = self._problems.suggestion(name.text, self.registers)
        self._problems.error(name.span, message, hint)
        return False

    def _location(self, argument: Written, what: str) -> str | None:
        """The location that an argument names; if it names none, that is noted."""
        if not isinstance(argument, Name):
            message = f"{what} must be the name of a location, not an expression"
            self._problems.error(argument.span, message)
            return None
        name = argument.text
        if name in self._parameters:
            return name
        shown = quote(name)
        if name in self._names:
            message = f"{what} must be a location, not the register {shown}"
            self._problems.error(argument.span, message)
        elif name in self._locations:
            message = f"the location {shown} must be a parameter of {self._thread} to be used there"
            kind = "atomic_int" if self._locations[name].atomic else "int"
            advice = f"add `global {kind}* {name}` to its parameters"
            self._problems.error(argument.span, message, advice)
        else:
            message = f"the location {shown} must be declared as a parameter of {self._thread}"
            hint = self._problems.suggestion(name, self._parameters)
            self._problems.error(argument.span, message, hint)
        return None

    # ---- statements --------------------------------------------------------------------------

    def statement(self, statement: Statement | Written, guard: Expression) -> None:
        """Run a statement, or an expression for its effects, where the guard holds."""
        match statement:
            case Block(_, statements):
                self._blocks.append({})
                for each in statements:
                    self.statement(each, guard)
                self._blocks.pop()
            case Evaluate(span, Assign(_, target, value)):
                self._assign(target, self.value(value, guard), guard, span)
            case Evaluate(_, Call() as call):
                self._call(call, guard)
            case Evaluate(_, expression):
                self.value(expression, guard)
            case Branch():
                self._branch(statement, guard)
            case Declaration():
                self._declare(statement, guard)
            case Unsupported():
                self._unsupported(statement, guard)
            case _:
                self.value(statement, guard)

    def _branch(self, branch: Branch, guard: Expression) -> None:
        condition = self.value(branch.condition, guard)
        self._values.append({})
        self.statement(branch.then, self._both(branch.condition.span, guard, condition))
        then = self._values.pop()
        self._values.append({})
        if branch.otherwise is not None:
            negation = self._bounded(branch.condition.span, unary("!", condition))
            self.statement(branch.otherwise, self._both(branch.condition.span, guard, negation))
        otherwise = self._values.pop()
        for name in {**then, **otherwise}:
            before = self.value_of(name)
            merged = select(condition, then.get(name, before), otherwise.get(name, before))
            self._values[-1][name] = self._bounded(branch.span, merged)

    def _both(self, span: Span, guard: Expression, condition: Expression) -> Expression:
        return self._bounded(span, conjunction(guard, condition))

    def _assign(self, target: Written, value: Expression, guard: Expression, span: Span) -> None:
        if isinstance(target, Dereference):
            location = self._location(target.argument, "what `*` writes")
            if location is not None:
                self._operate(Kind.STORE, location, guard, span, value=value)
        elif isinstance(target, Name):
            if self._register(target):
                self._values[-1][target.text] = value
        else:
            message = "what is assigned must be a register or a location `*x`, not an expression"
            self._problems.error(target.span, message)

    def _declare(self, declaration: Declaration, guard: Expression) -> None:
        what = declared(declaration.specifiers, declaration.span, self._problems)
        if what.atomic:
            message = "a register must be int, not atomic_int"
            hint = "make a location a parameter of the thread"
            self._problems.error(declaration.span, message, hint)
        for each in declaration.declarators:
            value = self.value(each.value, guard) if each.value is not None else _ZERO
            if each.pointer:
                self._problems.unsupported(each.span, "a pointer as a register is not supported")
            name = each.name.text
            earlier = next((block[name] for block in self._blocks if name in block), None)
            if earlier is not None:
                message = f"the register {quote(name)} must be declared once, not again"
                related = ((earlier, "it is declared here"),)
                self._problems.error(each.name.span, message, "choose another name", related)
            if self._register(each.name):
                self._blocks[-1].setdefault(name, each.name.span)
                self._values[-1][name] = value

    # ---- expressions -------------------------------------------------------------------------

    def value(self, written: Written, guard: Expression) -> Expression:
        """The value of an expression, whose operations are executed where the guard holds."""
        match written:
            case Integer():
                return Constant(number(written, self._problems))
            case Name(_, name):
                return self.value_of(name) if self._register(written) else _UNKNOWN
            case Dereference(span, argument):
                location = self._location(argument, "what `*` reads")
                if location is None:
                    return _UNKNOWN
                return self._operate(Kind.LOAD, location, guard, span)
            case Prefix(span, "+", argument):
                return self.value(argument, guard)
            case Prefix(span, "&", _):
                self._problems.unsupported(span, "an address (`&`) as a value is not supported")
                return _UNKNOWN
            case Prefix(span, operator, argument):
                return self._bounded(span, unary(operator, self.value(argument, guard)))
            case Infix(span, operator, left, right):
                first = self.value(left, guard)
                if operator == "&&":
                    guard = self._both(span, guard, first)
                elif operator == "||":
                    guard = self._both(span, guard, unary("!", first))
                return self._bounded(span, binary(operator, first, self.value(right, guard)))
            case Conditional(span, condition, then, otherwise):
                chosen = self.value(condition, guard)
                one = self.value(then, self._both(span, guard, chosen))
                negation = self._bounded(span, unary("!", chosen))
                other = self.value(otherwise, self._both(span, guard, negation))
                return self._bounded(span, select(chosen, one, other))
            case Call(span, function, _):
                value = self._call(written, guard)
                if value is None:
                    message = f"{function.text} has no value: it must be a statement of its own"
                    self._problems.error(span, message)
                return value or _UNKNOWN
            case Assign(span, _, value):
                message = "an assignment must be a statement of its own, not part of an expression"
                self._problems.error(span, message, "write `==` to compare")
                return self.value(value, guard)
            case Unsupported():
                self._unsupported(written, guard)
                return _UNKNOWN

    def _unsupported(self, written: Unsupported, guard: Expression) -> None:
        message = f"{written.construct} is not supported"
        self._problems.unsupported(written.span, message, written.hint)
        self._blocks.append({})
        for part in written.parts:
            self.statement(part, guard)
        self._blocks.pop()

    def _call(self, call: Call, guard: Expression) -> Expression | None:
        """The value of a call; None if it has none."""
        known = access(call, self._problems)
        if known is None:
            for argument in call.arguments:
                if isinstance(argument, Call):
                    self.value(argument, guard)
            return _UNKNOWN
        location = self._location(known.location, f"the first argument of {call.function.text}")
        value = self.value(known.value, guard) if known.value is not None else None
        if location is None:
            return _UNKNOWN
        how = (known.order, known.scope, known.remote)
        result = self._operate(known.kind, location, guard, call.span, *how, value=value)
        return None if known.kind is Kind.STORE else result

    def _operate(
        self,
        kind: Kind,
        location: str,
        guard: Expression,
        span: Span,
        order: Order | None = None,
        scope: Scope | None = None,
        remote: bool = False,
        value: Expression | None = None,
    ) -> Expression:
        """Add an operation, unless its guard is never true; what it reads."""
        if guard == _ZERO:
            return _ZERO
        index = self._first + len(self.operations)
        operator, operand = None, None
        if kind is Kind.RMW and value is not None:
            operator, operand = "+", value
            value = self._bounded(span, Binary("+", Read(index), operand))
        self.operations.append(
            Operation(
                index,
                self._index,
                kind,
                location,
                order,
                scope,
                remote,
                guard,
                value,
                span,
                operator,
                operand,
            )
        )
        return Read(index)


def _assigned(thread: ThreadText) -> list[str]:
    """The registers that a thread declares or assigns, in the order of the text."""
    found: dict[str, None] = {}
    for node in walk(thread.body):
        match node:
            case Declarator(_, _, Name(_, name), _) | Assign(_, Name(_, name), _):
                found.setdefault(name)
    return list(found)
