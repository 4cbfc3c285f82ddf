"""Expressions over the registers of a thread, written and read as in C; `Read(k)` is `rk`."""

from __future__ import annotations

import re
from typing import assert_never

from msgspec import Struct

from rspverify.source import Problem, Source, Span
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

_TOKEN = re.compile(
    r"\s*(?:(?P<name>[A-Za-z_][\w.]*)|(?P<number>\d+)|(?P<grouping>@[\d,-]+)"
    r"|(?P<sign>\|\||&&|==|!=|<=|>=|<<|>>|[-+*&|^<>!~?:;=(){}])|(?P<wrong>\S)|(?P<end>$))"
)
_REGISTER = re.compile(r"r(\d+)")


def register_number(name: str) -> int | None:
    """The number of the register of a name, None if it is none."""
    found = _REGISTER.fullmatch(name)
    return int(found[1]) if found else None


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


class Token(Struct, frozen=True):
    """A piece of a line. kind: name, number, grouping, sign, wrong, or end, which has no text."""

    kind: str
    text: str
    start: int


class Wrong(Exception):
    """A mistake, after which a part of the line says nothing."""


class Tokens:
    """The tokens of a line, read from left to right, and the mistakes that were met."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._tokens = [
            Token(it.lastgroup or "", it[it.lastgroup or 0], it.start(it.lastgroup or 0))
            for it in _TOKEN.finditer(source.text)
        ]
        self._place = self._brackets = 0
        self.problems: list[Problem] = []

    @property
    def next(self) -> Token:
        """What comes next."""
        return self._tokens[self._place]

    @property
    def after(self) -> Token:
        """What comes after the next."""
        return self._tokens[min(self._place + 1, len(self._tokens) - 1)]

    def take(self) -> Token:
        """What comes next; go on behind it."""
        token = self.next
        self._place = min(self._place + 1, len(self._tokens) - 1)
        return token

    def skip(self, *texts: str) -> bool:
        """Go on behind one of these if it comes next; whether it did."""
        return self.next.text in texts and bool(self.take())

    def need(self, sign: str, where: str) -> None:
        """Go on behind a sign that must come next. Raises Wrong."""
        if not self.skip(sign):
            raise self.wrong(f"{where} must be `{sign}`")

    def wrong(self, must: str) -> Wrong:
        """That something else must come next."""
        text = self.next.text
        return self.note(self.next, f"{must}, not {f'`{text}`' if text else 'the end'}")

    def note(self, token: Token, message: str) -> Wrong:
        """Keep what is wrong with a token."""
        before = self._source.text[: token.start]
        line, column = before.count("\n") + 1, token.start - before.rfind("\n")
        end = column + max(1, len(token.text))
        self.problems.append(Problem(Span(self._source, line, column, line, end), message))
        return Wrong(message)

    def expression(self, least: int = 0) -> Expression:
        """The expression that comes next, of operators that bind so closely. Raises Wrong.

        Outside of brackets `||` ends it, as it does a thread.
        """
        left = self._operand()
        while True:
            operator = self.next.text
            level = _PRECEDENCE.get(operator, -1)
            if operator == "?" and least <= _SELECT:
                self.take()
                then = self.expression()
                self.need(":", "after the first choice of `?`")
                left = select(left, then, self.expression(_SELECT))
            elif level >= max(least, _SELECT + 1) and (operator != "||" or self._brackets):
                self.take()
                left = binary(operator, left, self.expression(level + 1))
            else:
                return left

    def _operand(self) -> Expression:
        token = self.next
        register = register_number(token.text)
        if self.skip("("):
            self._brackets += 1
            inner = self.expression()
            self._brackets -= 1
            self.need(")", "after an expression in brackets")
            return inner
        if self.skip("-", "~", "!"):
            return unary(token.text, self.expression(PREFIX))
        if token.kind != "number" and register is None:
            raise self.wrong("a value must be a number, a register such as r0, or made of these")
        self.take()
        if register is not None:
            return Read(register)
        if int(token.text) > 2**31:
            raise self.note(token, f"a number must fit into 32 bits, not be `{token.text}`")
        return Constant(int(token.text))
