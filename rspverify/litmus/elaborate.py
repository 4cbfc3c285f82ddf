"""Symbolic execution of a thread: its statements become guarded operations (§2.2).

A register becomes the expression that it holds; under an `if`, operations are guarded by the
condition, and afterwards registers are chosen by it. Loops are unrolled (loops.py).
"""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import assert_never

from rspverify.litmus import tree
from rspverify.litmus.declarations import declared
from rspverify.litmus.expressions import Evaluation
from rspverify.litmus.functions import BARRIERS
from rspverify.litmus.loops import Loops
from rspverify.litmus.names import Names
from rspverify.litmus.operations import FALSE, PLAIN_STORE, TRUE, Operations
from rspverify.litmus.problems import Problems, quote
from rspverify.litmus.program import Cut, Kind, Location, Spin, Thread
from rspverify.litmus.registers import Registers
from rspverify.source import Span
from rspverify.value import Constant, Expression, binary


@dataclass(frozen=True)
class Surroundings:
    """What a thread is read in: the language, the locations, and the bound of its loops.

    no_spins: the loops that are not to be read as spins, None: all of them.
    """

    language: str
    locations: Mapping[str, Location]
    unroll: int
    no_spins: AbstractSet[Span] | None
    problems: Problems


class Execution:
    """One thread on its way through its statements.

    A statement is given the guard under which it is executed, and gives the guard under which what
    follows it is executed: the same, but for jumps out of an iteration of a loop. first: the index
    of its first operation; initial: what registers hold before.
    """

    def __init__(
        self,
        thread: tree.ThreadText,
        number: int,
        first: int,
        initial: Mapping[str, int],
        around: Surroundings,
    ) -> None:
        problems = around.problems
        self._thread = thread
        self._problems, self._language = problems, around.language
        self._names = Names(thread, initial, around.locations, problems)
        self._registers = Registers({name: Constant(value) for name, value in initial.items()})
        self._operations = Operations(number, first, problems)
        self._evaluation = Evaluation(
            thread, around.language, self._names, self._registers, self._operations
        )
        self._loops = Loops(around.unroll, around.no_spins, self._evaluation, self.statement)
        # The innermost block comes last: where it declares a register.
        self._blocks: list[dict[str, Span]] = []
        self._labels: dict[str, tree.Labelled] = {}

    def run(self, device: int = 0, workgroup: int = 0) -> Thread:
        """Execute the whole thread, whose last statement may be `return;`; its operations."""
        statements = self._thread.body.statements
        last = statements[-1] if statements else None
        if isinstance(last, tree.Return) and last.value is None:
            statements = statements[:-1]
        self.statement(tree.Block(self._thread.body.span, statements), TRUE)
        found = tuple(self._operations.found)
        registers = {name: self._registers[name] for name in self._names.registers}
        name, number = self._thread.name.text, self._operations.thread
        return Thread(name, number, device, workgroup, found, registers)

    @property
    def cuts(self) -> list[Cut]:
        """Where the loops that were executed may go on."""
        return self._loops.cuts

    @property
    def spins(self) -> list[Spin]:
        """The loops that only spin."""
        return self._loops.spins

    # ---- statements --------------------------------------------------------------------------

    def statement(self, statement: tree.Statement, guard: Expression) -> Expression:
        """Run a statement where the guard holds; the guard of what follows it."""
        self._loops.count()
        match statement:
            case tree.Block(_, statements):
                self._blocks.append({})
                for each in statements:
                    guard = self.statement(each, guard)
                self._blocks.pop()
            case tree.Evaluate():
                self._evaluate(statement, guard)
            case tree.Branch():
                return self._branch(statement, guard)
            case tree.Declaration():
                self._declare(statement, guard)
            case tree.Loop():
                self._blocks.append({})
                self._loops.run(statement, guard)
                self._blocks.pop()
            case tree.Jump():
                return self._loops.jump(statement, guard)
            case tree.Return(span, value):
                hint = "`return;` may be the last statement of a thread"
                self._problems.unsupported(span, "return is not supported here", hint)
                if value is not None:
                    self._evaluation.value(value, guard)
            case tree.Labelled():
                return self._labelled(statement, guard)
            case tree.Unsupported():
                self._unsupported(statement, guard)
            case _:
                assert_never(statement)
        return guard

    def _evaluate(self, statement: tree.Evaluate, guard: Expression) -> None:
        """Evaluate an expression for its effects."""
        evaluation, span, expression = self._evaluation, statement.span, statement.expression
        match expression:
            case tree.Assign(_, target, value):
                self._assign(target, evaluation.value(value, guard), guard, span)
            case tree.Update(_, tree.Name() as target, operator, value):
                if self._names.register(target):
                    before = self._registers[target.text]
                    after = binary(operator, before, evaluation.value(value, guard))
                    self._registers[target.text] = self._operations.bounded(span, after)
            case tree.Update(span, _, operator, _):
                hint = f"read into a register first: r = *x; *x = r {operator} ..."
                message = "an update of what is not a register is not supported"
                self._problems.unsupported(span, message, hint)
            case tree.Call():
                evaluation.call(expression, guard)
            case _:
                evaluation.value(expression, guard)

    def _branch(self, branch: tree.Branch, guard: Expression) -> Expression:
        span, operations = branch.condition.span, self._operations
        condition = self._evaluation.value(branch.condition, guard)
        guards = [operations.both(span, guard, condition), FALSE]
        self._registers.enter()
        ends = [self.statement(branch.then, guards[0])]
        ways = [(condition, self._registers.leave())]
        guards[1] = operations.unless(span, guard, condition)
        self._registers.enter()
        otherwise = branch.otherwise or tree.Block(branch.span, ())
        ends.append(self.statement(otherwise, guards[1]))
        ways.append((condition, self._registers.leave()))
        if ends == guards:  # No way has left the iteration, and so all that came here goes on.
            after = guard
        elif FALSE in ends:
            ways = [way for way, end in zip(ways, ends, strict=True) if end != FALSE]
            after = ends[0] if ends[1] == FALSE else ends[1]
        else:
            after = operations.bounded(branch.span, binary("||", *ends))
        if ways:
            self._registers.join(ways, lambda it: operations.bounded(branch.span, it))
        return after

    def _assign(
        self, target: tree.Expression, value: Expression, guard: Expression, span: Span
    ) -> None:
        if isinstance(target, tree.Dereference):
            location = self._names.location(target.argument, "what `*` writes", Kind.STORE)
            if location is not None:
                self._operations.add(PLAIN_STORE, location, guard, span, value)
        elif isinstance(target, tree.Name):
            if self._names.register(target):
                self._registers[target.text] = value
        else:
            message = "what is assigned must be a register or a location `*x`, not an expression"
            self._problems.error(target.span, message)

    def _declare(self, declaration: tree.Declaration, guard: Expression) -> None:
        what = declared(declaration.specifiers, declaration.span, self._language, self._problems)
        if what.atomic or what.mutex:
            message = f"a register must be int, not {'mutex' if what.mutex else 'atomic_int'}"
            hint = "make a location a parameter of the thread"
            self._problems.error(declaration.span, message, hint)
        elif what.region is not None:
            hint = "make it a parameter of the thread"
            message = f"{what.region} memory that is declared in a thread is not supported"
            self._problems.unsupported(declaration.span, message, hint)
        for each in declaration.declarators:
            name = each.name.text
            value = self._registers.initial(name)
            if each.value is not None:
                value = self._evaluation.value(each.value, guard)
            if each.pointer:
                self._problems.unsupported(each.span, "a pointer as a register is not supported")
            earlier = next((block[name] for block in self._blocks if name in block), None)
            if earlier is not None:
                message = f"the register {quote(name)} must be declared once, not again"
                related = ((earlier, "it is declared here"),)
                self._problems.error(each.name.span, message, "choose another name", related)
            if self._names.register(each.name):
                self._blocks[-1].setdefault(name, each.name.span)
                self._registers[name] = value

    def _labelled(self, labelled: tree.Labelled, guard: Expression) -> Expression:
        """Run a barrier under its label; other labels are for `goto`."""
        label, statement = labelled.label, labelled.statement
        first = self._labels.setdefault(label.text, labelled)
        if first is not labelled:
            message = f"the label {quote(label.text)} must stand once in its thread, not twice"
            self._problems.error(label.span, message, None, ((first.label.span, "it is here"),))
        match statement:
            case tree.Evaluate(_, tree.Call(_, function, _) as call) if function.text in BARRIERS:
                self._evaluation.call(call, guard, label.text)
                return guard
        self._problems.unsupported(label.span, "a label before what is no barrier is not supported")
        return self.statement(statement, guard)

    def _unsupported(self, written: tree.Unsupported, guard: Expression) -> None:
        """Note a statement that is not supported, and look at its parts."""
        message = f"{written.construct} is not supported"
        self._problems.unsupported(written.span, message, written.hint)
        self._blocks.append({})
        with self._loops.anywhere():
            for part in written.parts:
                if isinstance(part, tree.Statement):
                    self.statement(part, guard)
                else:
                    self._evaluation.value(part, guard)
        self._blocks.pop()
