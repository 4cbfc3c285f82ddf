"""Symbolic execution of a thread: its statements become guarded operations (§2.2).

A register becomes the expression that it holds; under an `if`, operations are guarded by the
condition, and afterwards registers are chosen by it. Loops are unrolled (loops.py), and functions
are executed where they are called (calls.py).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import assert_never

from rspverify.litmus import tree
from rspverify.litmus.calls import frame_of_function
from rspverify.litmus.frames import Frame, Registers, Spoken, Surroundings
from rspverify.litmus.functions import BARRIERS
from rspverify.litmus.loops import Loops
from rspverify.litmus.objects import Object, declared
from rspverify.litmus.operations import FALSE, TRUE, UNKNOWN, Target, truth
from rspverify.litmus.problems import quote
from rspverify.litmus.program import Thread
from rspverify.value import Constant, Expression, binary


class Execution(Loops):
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
        registers = Registers({name: Constant(value) for name, value in initial.items()})
        for parameter in text.parameters if isinstance(text, tree.FunctionText) else ():
            registers[parameter.name.text] = UNKNOWN
        frame = _frame(text, initial, around, spoken)
        super().__init__(around, number, first, frame, registers, items)
        self._text = text

    def run(self, device: int, workgroup: int, subgroup: int | None = None) -> Thread:
        """Execute the whole thread; its operations."""
        frame, text = self.frame, self._text
        frame.depth = self.registers.enter()
        after = self.statement(text.body, TRUE)
        ways = [*frame.returned, (after, self.registers.leave())]
        self.join(text.span, [way for way in ways if way[0] != FALSE])
        registers = {name: self.registers[name] for name in frame.registers}
        name, found = text.name.text, tuple(self.found)
        return Thread(name, self.thread, device, workgroup, found, registers, subgroup)

    def statement(self, statement: tree.Statement, guard: Expression) -> Expression:
        self.count()
        frame = self.frame
        match statement:
            case tree.Block(_, statements):
                frame.blocks.append({})
                for each in statements:
                    guard = self.statement(each, guard)
                frame.blocks.pop()
            case tree.Evaluate():
                self._evaluate(statement, guard)
            case tree.Branch():
                return self._branch(statement, guard)
            case tree.Declaration():
                self._declare(statement, guard)
            case tree.Loop():
                frame.blocks.append({})
                guard = self.loop(statement, guard)
                frame.blocks.pop()
            case tree.Jump():
                return self.jump(statement, guard)
            case tree.Return():
                return self.returned(statement, guard)
            case tree.Labelled():
                return self._labelled(statement, guard)
            case tree.Unsupported():
                self.unsupported(statement)
                frame.blocks.append({})
                with self.anywhere():
                    for part in statement.parts:
                        if isinstance(part, tree.Statement):
                            self.statement(part, guard)
                        else:
                            self.value(part, guard)
                frame.blocks.pop()
            case _:
                assert_never(statement)
        return guard

    def _evaluate(self, statement: tree.Evaluate, guard: Expression) -> None:
        """Evaluate an expression for its effects."""
        span = statement.span
        match statement.expression:
            case tree.Assign(_, tree.Dereference() | tree.Index() as place, written):
                self.store(place, written, guard, span)
            case tree.Assign(_, target, written):
                value = self.value(written, guard)
                if isinstance(target, tree.Name):
                    self._hold(self.frame.register(target), value)
                else:
                    message = "what is assigned must be a register or a location `*x`, not an"
                    self.problems.error(target.span, f"{message} expression")
            case tree.Update(_, tree.Name() as target, operator, value):
                register = self.frame.register(target)
                if register is not None:
                    before = self.registers[register]
                    with self.unsequenced(span, target, value):
                        after = binary(operator, before, self.value(value, guard))
                    self._hold(register, self.bounded(span, after))
            case tree.Update(place, _, operator, _):
                hint = f"read into a register first: r = *x; *x = r {operator} ..."
                message = "an update of what is not a register is not supported"
                self.problems.unsupported(place, message, hint)
            case tree.Call() as call:
                self.call(call, guard)
            case other:
                self.value(other, guard)

    def _branch(self, branch: tree.Branch, guard: Expression) -> Expression:
        span = branch.condition.span
        condition = self.value(branch.condition, guard)
        otherwise = branch.otherwise or tree.Block(branch.span, ())
        then = self.both(span, guard, condition)
        self.registers.enter()
        ends = [self.statement(branch.then, then)]
        ways = [(condition, self.registers.leave())]
        other = self.unless(span, guard, condition)
        self.registers.enter()
        ends.append(self.statement(otherwise, other))
        ways.append((condition, self.registers.leave()))
        if ends == [then, other]:  # No way has left the iteration: all that came here goes on.
            after = guard
        elif FALSE in ends:
            ways = [way for way, end in zip(ways, ends, strict=True) if end != FALSE]
            after = ends[0] if ends[1] == FALSE else ends[1]
        else:
            after = self.bounded(branch.span, binary("||", *ends))
        if ways:
            self.join(branch.span, ways)
        return after

    def _hold(self, register: str | None, value: Expression) -> None:
        """Assign a value to a register, as a bool if it is one."""
        if register is not None:
            boolean = register in self.frame.booleans
            self.registers[register] = truth(value) if boolean else value

    def _declare(self, declaration: tree.Declaration, guard: Expression) -> None:
        span, language = declaration.span, self.around.language
        what = declared(declaration.specifiers, span, language, self.problems)
        if what.atomic or what.mutex:
            message = f"a register must be int, not {'mutex' if what.mutex else 'atomic_int'}"
            self.problems.error(span, message, "make a location a parameter of the thread")
        elif what.region is not None:
            message = f"{what.region} memory that is declared in a thread is not supported"
            self.problems.unsupported(span, message, "make it a parameter of the thread")
        frame = self.frame
        for each in declaration.declarators:
            name = each.name.text
            value = None if each.value is None else self.value(each.value, guard)
            if each.pointer:
                self.problems.unsupported(each.span, "a pointer as a register is not supported")
            earlier = next((block[name] for block in frame.blocks if name in block), None)
            if earlier is not None:
                message = f"the register {quote(name)} must be declared once, not again"
                related = ((earlier, "it is declared here"),)
                self.problems.error(each.name.span, message, "choose another name", related)
            register = frame.register(each.name)
            if register is not None:
                frame.blocks[-1].setdefault(name, each.name.span)
                if what.boolean:
                    frame.booleans.add(register)
                self._hold(register, self.registers.initial(register) if value is None else value)

    def _labelled(self, labelled: tree.Labelled, guard: Expression) -> Expression:
        """Run a barrier under its label; other labels are for `goto`."""
        label, statement = labelled.label, labelled.statement
        first = self.frame.labels.setdefault(label.text, labelled)
        if first is not labelled:
            message = f"the label {quote(label.text)} must stand once in its thread, not twice"
            self.problems.error(label.span, message, None, ((first.label.span, "it is here"),))
        match statement:
            case tree.Evaluate(_, tree.Call(_, function, _) as call) if function.text in BARRIERS:
                self.call(call, guard, label.text)
                return guard
        self.problems.unsupported(label.span, "a label before what is no barrier is not supported")
        return self.statement(statement, guard)


def _frame(
    text: tree.ThreadText | tree.FunctionText,
    initial: Mapping[str, int],
    around: Surroundings,
    spoken: Spoken,
) -> Frame:
    """The text of a thread; or of a function that nothing calls, whose problems are looked for: its
    pointers point to arrays of one element."""
    pointers: dict[str, Target | None] = {}
    if isinstance(text, tree.FunctionText):
        for it in text.parameters:
            if it.pointer:
                what = declared(it.specifiers, it.span, around.language, around.problems)
                pointers[it.name.text] = Target(Object(it.name.text, what, True))
        return frame_of_function(text, pointers, around)
    objects, title = around.known.objects, text.kernel or text.name.text
    names = (each.name.text for each in text.parameters)
    pointers |= {name: Target(objects[name]) for name in names if name in objects}
    constants = {**around.known.constants, **(around.known.arguments if text.kernel else {})}
    return Frame(title, text.body, pointers, initial, around, constants, spoken)
