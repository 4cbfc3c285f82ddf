"""Expressions over the registers of a thread, written and read as in C; `Read(k)` is `rk`."""

from __future__ import annotations

import re
from typing import assert_never

from rspverify.source import InputError, Problem, Source, sign_at
from rspverify.value import (
    Binary,
    Constant,
    Expression,
    Read,
    Select,
    Unary,
    binary,
    select,
    unary,
)

_PRECEDENCE = {
    operator: level
    for level, operators in enumerate(
        ("||", "&&", "|", "^", "&", "== !=", "< <= > >=", "<< >>", "+ -", "*"), 2
    )
    for operator in operators.split()
}
"""How closely infix operators bind, as in C; `?:` less closely than all."""
_SELECT, PREFIX = 1, 20

_TOKEN = re.compile(r"\s*(@[\d,-]+|[A-Za-z_][\w.]*|\d+|\|\||&&|[=!<>]=|<<|>>|\S)")
_REGISTER = re.compile(r"r(\d+)")


def spelled(expression: Expression, blank: str = " ") -> str:
    """An expression in C. blank: what stands around infix operators."""

    def inner(part: Expression) -> str:
        text = spelled(part, blank)
        return f"({text})" if isinstance(part, Binary | Select) else text

    match expression:
        case Constant(value):
            return str(value)
        case Read(index):
            return f"r{index}"
        case Unary(operator, argument):
            again = isinstance(argument, Unary)  # `--` is something else in C
            return f"{operator}({inner(argument)})" if again else operator + inner(argument)
        case Binary(operator, left, right):
            return blank.join((inner(left), operator, inner(right)))
        case Select(condition, then, otherwise):
            return blank.join((inner(condition), "?", inner(then), ":", inner(otherwise)))
        case _:
            assert_never(expression)


class Line:
    """A line that is read from left to right. Raises InputError at the first mistake."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._tokens = list(_TOKEN.finditer(source.text.rstrip()))
        self._brackets = 0

    @property
    def next(self) -> str:
        """What comes next; nothing at the end."""
        return self._tokens[0][1] if self._tokens else ""

    def take(self) -> str:
        """What comes next; go on behind it."""
        return self._tokens.pop(0)[1]

    def skip(self, *texts: str) -> bool:
        """Go on behind one of these if it comes next; whether it did."""
        return self.next in texts and bool(self.take())

    def need(self, holds: object, must: str) -> None:
        """Raises InputError unless something is so of what comes next."""
        if not holds:
            text = self._source.text
            at = self._tokens[0].start(1) if self._tokens else len(text) - 1
            message = f"{must}, not {self.next or 'the end'}"
            raise InputError([Problem(sign_at(self._source, max(0, at)), message)])

    def expression(self, least: int = 0) -> Expression:
        """The expression that comes next, of operators that bind so closely.

        Outside of brackets `||` ends it, as it does a thread.
        """
        left = self._operand()
        while True:
            operator = self.next
            level = _PRECEDENCE.get(operator, -1)
            if operator == "?" and least <= _SELECT:
                self.take()
                then = self.expression()
                self.need(self.skip(":"), "behind the first choice of `?` must be `:`")
                left = select(left, then, self.expression(_SELECT))
            elif level >= max(least, _SELECT + 1) and (operator != "||" or self._brackets):
                self.take()
                left = binary(operator, left, self.expression(level + 1))
            else:
                return left

    def _operand(self) -> Expression:
        if self.skip("("):
            self._brackets += 1
            inner = self.expression()
            self._brackets -= 1
            self.need(self.skip(")"), "behind an expression in brackets must be `)`")
            return inner
        if self.next in ("-", "~", "!"):
            return unary(self.take(), self.expression(PREFIX))
        register = _REGISTER.fullmatch(self.next)
        number = self.next.isdigit() and int(self.next) <= 2**31
        self.need(register or number, "a value must be a number of 32 bits, or a register as r0")
        text = self.take()
        return Read(int(register[1])) if register else Constant(int(text))
