"""A thread of C or OpenCL run with concrete values: what reading it symbolically is held to."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping

from rspverify.litmus import tree

_OPERATORS: Mapping[str, Callable[[int, int], int]] = {
    "+": operator.add,
    "-": operator.sub,
    "&": operator.and_,
    "<": operator.lt,
    "<=": operator.le,
    "==": operator.eq,
    "!=": operator.ne,
}


class _Left(Exception):
    """A jump out of an iteration or a function. word: `break`, `continue` or `return`."""

    def __init__(self, word: str, value: int = 0) -> None:
        self.word, self.value = word, value


class Running:
    """A run. load: gives the next value that is read; store: is told each that is written.

    registers: what those hold that were set; each call has its own.
    """

    def __init__(
        self, test: tree.Test, load: Callable[[], int], store: Callable[[int], None]
    ) -> None:
        self._functions = {it.name.text: it for it in test.functions}
        self._load, self._store = load, store
        self.registers: dict[str, int] = {}
        self._run(test.threads[0].body)

    def _run(self, body: tree.Block) -> int:
        try:
            self._statement(body)
        except _Left as left:
            return left.value
        return 0

    def _statement(self, it: tree.Statement | None) -> None:
        match it:
            case tree.Block(_, statements):
                for each in statements:
                    self._statement(each)
            case tree.Evaluate(_, expression):
                self._value(expression)
            case tree.Declaration(_, _, declarators):
                for each in declarators:
                    self._set(each.name, 0 if each.value is None else self._value(each.value))
            case tree.Branch(_, condition, then, otherwise):
                self._statement(then if self._value(condition) else otherwise)
            case tree.Loop():
                self._loop(it)
            case tree.Jump(_, word):
                raise _Left(word)
            case tree.Return(_, value):
                raise _Left("return", 0 if value is None else self._value(value))

    def _loop(self, it: tree.Loop) -> None:
        for each in it.start:
            self._statement(each)
        tested = it.tested_first
        while not tested or it.condition is None or self._value(it.condition):
            tested = True
            try:
                self._statement(it.body)
            except _Left as left:
                if left.word == "return":
                    raise
                if left.word == "break":
                    return
            for each in it.steps:
                self._statement(each)

    def _value(self, it: tree.Expression) -> int:
        match it:
            case tree.Integer(_, text):
                return int(text)
            case tree.Name(_, name):
                return self.registers.get(name, 0)
            case tree.Dereference() | tree.Index():
                return self._load()
            case tree.Prefix(_, "!", argument):
                return int(not self._value(argument))
            case tree.Prefix(_, "-", argument):
                return -self._value(argument)
            case tree.Infix(_, left, "&&", right):
                return int(bool(self._value(left) and self._value(right)))
            case tree.Infix(_, left, "||", right):
                return int(bool(self._value(left) or self._value(right)))
            case tree.Infix(_, left, sign, right):
                return int(_OPERATORS[sign](self._value(left), self._value(right)))
            case tree.Assign(_, tree.Name() as target, value):
                return self._set(target, self._value(value))
            case tree.Assign(_, _, value):
                self._store(self._value(value))
                return 0
            case tree.Update(_, tree.Name() as target, sign, value):
                return self._set(target, _OPERATORS[sign](self._value(target), self._value(value)))
            case tree.Call(_, function, arguments):
                return self._call(self._functions[function.text], arguments)
        raise AssertionError(f"{it} is not run")

    def _set(self, register: tree.Name, value: int) -> int:
        self.registers[register.text] = value
        return value

    def _call(self, function: tree.FunctionText, arguments: tuple[tree.Expression, ...]) -> int:
        given = zip(function.parameters, arguments, strict=True)
        own = {it.name.text: self._value(value) for it, value in given if not it.pointer}
        outer, self.registers = self.registers, own
        value = self._run(function.body)
        self.registers = outer
        return value
