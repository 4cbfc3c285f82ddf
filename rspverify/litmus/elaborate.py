"""Symbolic execution of a thread: its statements become guarded operations (§2.2).

A register becomes the expression that it holds; under an `if`, operations are guarded by the
condition, and afterwards registers are chosen by it. Loops are unrolled (loops.py), and functions
are executed where they are called (calls.py).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import assert_never

from rspverify.litmus import tree
from rspverify.litmus.calls import Calls, frame_of_function
from rspverify.litmus.declarations import objects_of
from rspverify.litmus.expressions import Evaluation
from rspverify.litmus.frames import Frame
from rspverify.litmus.functions import BARRIERS
from rspverify.litmus.loops import Loops
from rspverify.litmus.memory import Target, truth
from rspverify.litmus.names import Names
from rspverify.litmus.objects import declared
from rspverify.litmus.operations import FALSE, TRUE, UNKNOWN, Operations, ordinals
from rspverify.litmus.problems import quote
from rspverify.litmus.program import Cut, Fault, Spin, Thread
from rspverify.litmus.registers import Registers
from rspverify.litmus.results import Spoken, ignored
from rspverify.litmus.surroundings import Surroundings
from rspverify.source import Span
from rspverify.value import Constant, Expression, binary


class Execution:
    """One thread on its way through its statements.

    A statement is given the guard under which it is executed, and gives the guard under which what
    follows it is executed: the same, but for jumps out of an iteration of a loop, and `return`.
    first: the index of its first operation; initial: what registers hold before; items: what the
    functions for work-items give; spoken: its registers that the test speaks of.
    """

    def __init__(
        self,
        text: tree.ThreadText | tree.FunctionText,
        number: int,
        first: int,
        initial: Mapping[str, int],
        items: Mapping[str, int],
        around: Surroundings,
        spoken: Spoken = None,
    ) -> None:
        problems = around.problems
        self._text = text
        self._problems, self._language = problems, around.language
        self._registers = Registers({name: Constant(value) for name, value in initial.items()})
        for parameter in text.parameters if isinstance(text, tree.FunctionText) else ():
            self._registers[parameter.name.text] = UNKNOWN
        self._operations = Operations(number, first, problems)
        self._evaluation = Evaluation(
            around.language,
            _frame(text, initial, around, spoken),
            self._registers,
            self._operations,
            items,
            around.functions,
            self._inlined,
        )
        self._calls = Calls(around, self._evaluation, self.statement)
        self._loops = Loops(around.unroll, around.no_spins, self._evaluation, self.statement)

    def run(self, device: int = 0, workgroup: int = 0) -> Thread:
        """Execute the whole thread; its operations."""
        frame, text = self._frame, self._text
        frame.depth = self._registers.enter()
        after = self.statement(text.body, TRUE)
        ways = [*frame.returned, (after, self._registers.leave())]
        ways = [way for way in ways if way[0] != FALSE]
        self._registers.join(ways, lambda it: self._operations.bounded(text.span, it))
        found = tuple(self._operations.found)
        registers = {name: self._registers[name] for name in frame.names.registers}
        name, number = text.name.text, self._operations.thread
        return Thread(name, number, device, workgroup, found, registers)

    @property
    def cuts(self) -> list[Cut]:
        """Where the loops that were executed may go on."""
        return self._loops.cuts

    @property
    def spins(self) -> list[Spin]:
        """The loops that only spin."""
        return self._loops.spins

    @property
    def faults(self) -> list[Fault]:
        """What makes the program undefined."""
        return self._evaluation.memory.faults

    @property
    def _frame(self) -> Frame:
        return self._evaluation.frame

    def _inlined(self, call: tree.Call, guard: Expression, used: bool) -> Expression | None:
        return self._calls.call(call, guard, used, self._loops.depth)

    # ---- statements --------------------------------------------------------------------------

    def statement(self, statement: tree.Statement, guard: Expression) -> Expression:
        """Run a statement where the guard holds; the guard of what follows it."""
        self._loops.count()
        match statement:
            case tree.Block(_, statements):
                self._frame.blocks.append({})
                for each in statements:
                    guard = self.statement(each, guard)
                self._frame.blocks.pop()
            case tree.Evaluate():
                self._evaluate(statement, guard)
            case tree.Branch():
                return self._branch(statement, guard)
            case tree.Declaration():
                self._declare(statement, guard)
            case tree.Loop():
                self._frame.blocks.append({})
                guard = self._loops.run(statement, guard)
                self._frame.blocks.pop()
            case tree.Jump():
                return self._loops.jump(statement, guard)
            case tree.Return():
                return self._calls.returned(statement, guard)
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
                self._assign(target, value, guard, span)
            case tree.Update(_, tree.Name() as target, operator, value):
                register = self._frame.names.register(target)
                if register is not None:
                    before = self._registers[register]
                    with evaluation.unsequenced(span, target, value):
                        after = binary(operator, before, evaluation.value(value, guard))
                    self._hold(register, self._operations.bounded(span, after))
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
        self, target: tree.Expression, written: tree.Expression, guard: Expression, span: Span
    ) -> None:
        if isinstance(target, tree.Dereference | tree.Index):
            self._evaluation.store(target, written, guard, span)
            return
        value = self._evaluation.value(written, guard)
        if isinstance(target, tree.Name):
            register = self._frame.names.register(target)
            if register is not None:
                self._hold(register, value)
        else:
            message = "what is assigned must be a register or a location `*x`, not an expression"
            self._problems.error(target.span, message)

    def _hold(self, register: str, value: Expression) -> None:
        """Assign a value to a register, as a bool if it is one."""
        boolean = register in self._frame.booleans
        self._registers[register] = truth(value) if boolean else value

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
        frame = self._frame
        for each in declaration.declarators:
            name = each.name.text
            value = None if each.value is None else self._evaluation.value(each.value, guard)
            if each.pointer:
                self._problems.unsupported(each.span, "a pointer as a register is not supported")
            earlier = next((block[name] for block in frame.blocks if name in block), None)
            if earlier is not None:
                message = f"the register {quote(name)} must be declared once, not again"
                related = ((earlier, "it is declared here"),)
                self._problems.error(each.name.span, message, "choose another name", related)
            register = frame.names.register(each.name)
            if register is not None:
                frame.blocks[-1].setdefault(name, each.name.span)
                if what.boolean:
                    frame.booleans.add(register)
                self._hold(register, self._registers.initial(register) if value is None else value)

    def _labelled(self, labelled: tree.Labelled, guard: Expression) -> Expression:
        """Run a barrier under its label; other labels are for `goto`."""
        label, statement = labelled.label, labelled.statement
        first = self._frame.labels.setdefault(label.text, labelled)
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
        self._frame.blocks.append({})
        with self._loops.anywhere():
            for part in written.parts:
                if isinstance(part, tree.Statement):
                    self.statement(part, guard)
                else:
                    self._evaluation.value(part, guard)
        self._frame.blocks.pop()


def _frame(
    text: tree.ThreadText | tree.FunctionText,
    initial: Mapping[str, int],
    around: Surroundings,
    spoken: Spoken,
) -> Frame:
    """The text of a thread; or of a function that nothing calls, whose problems are looked for."""
    if isinstance(text, tree.FunctionText):
        pointers = objects_of(text.parameters, around.language, around.problems)
        return frame_of_function(text, pointers, "", around)
    targets: dict[str, Target | None] = {
        each.name.text: Target(around.objects[each.name.text])
        for each in text.parameters
        if each.name.text in around.objects
    }
    constants = {**around.constants, **(around.arguments if text.kernel else {})}
    title = text.kernel or text.name.text
    names = Names(title, text.body, targets, initial, around.objects, constants, around.problems)
    return Frame(title, names, ordinals(text.body, around.functions), ignored(text.body, spoken))
