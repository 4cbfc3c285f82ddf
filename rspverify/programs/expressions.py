"""Expressions over the registers of a thread, written and read as in C; `Read(k)` is `rk`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import assert_never

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
_SELECT, _PREFIX = 1, 20

_TOKEN = re.compile(
    r"\s*(?:(?P<name>[A-Za-z_][\w.]*)|(?P<number>\d+)"
    r"|(?P<sign>\|\||&&|==|!=|<=|>=|<<|>>|[-+*&|^<>!~?:;=(){}])|(?P<wrong>\S))"
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


@dataclass(frozen=True)
class Token:
    """A piece of a line. kind: name, number, sign, wrong, or end, which has no text."""

    kind: str
    text: str
    start: int


class Wrong(Exception):
    """A mistake after which a part of the line says nothing."""

    def __init__(self, token: Token, message: str) -> None:
        super().__init__(message)
        self.token, self.message = token, message


class Tokens:
    """The tokens of a part of a line, read from left to right."""

    def __init__(self, source: Source, start: int, end: int) -> None:
        self.source = source
        self._tokens = list(self._split(start, end))
        self._place = 0

    def _split(self, start: int, end: int) -> Iterator[Token]:
        while found := _TOKEN.match(self.source.text, start, end):
            kind = found.lastgroup
            assert kind is not None
            yield Token(kind, found[kind], found.start(kind))
            start = found.end()
        yield Token("end", "", end)

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

    def skip(self, *signs: str) -> bool:
        """Go on behind one of these signs if it comes next; whether it did."""
        found = self.next.kind == "sign" and self.next.text in signs
        if found:
            self.take()
        return found

    def need(self, sign: str, where: str) -> None:
        """Go on behind a sign that must come next. Raises Wrong."""
        if not self.skip(sign):
            raise self.wrong(f"{where} must be `{sign}`")

    def wrong(self, must: str) -> Wrong:
        """That something else must come next."""
        it = self.next
        return Wrong(it, f"{must}, not {f'`{it.text}`' if it.text else 'the end'}")

    def problem(self, token: Token, message: str) -> Problem:
        """What is said of a token."""
        text = self.source.text
        line = text.count("\n", 0, token.start) + 1
        column = token.start - (text.rfind("\n", 0, token.start) + 1) + 1
        width = max(1, len(token.text))
        return Problem(Span(self.source, line, column, line, column + width), message)

    def expression(self, least: int = 0) -> Expression:
        """The expression that comes next, of operators that bind so closely. Raises Wrong."""
        left = self._operand()
        while True:
            operator = self.next.text if self.next.kind == "sign" else ""
            if operator == "?" and least <= _SELECT:
                self.take()
                then = self.expression()
                self.need(":", "after the first choice of `?`")
                left = select(left, then, self.expression(_SELECT))
            elif _PRECEDENCE.get(operator, -1) >= max(least, _SELECT + 1):
                self.take()
                left = binary(operator, left, self.expression(_PRECEDENCE[operator] + 1))
            else:
                return left

    def _operand(self) -> Expression:
        token = self.next
        register = register_number(token.text)
        if register is not None:
            self.take()
            return Read(register)
        if token.kind == "number":
            self.take()
            if int(token.text) > 2**31:
                raise Wrong(token, f"a number must fit into 32 bits, not be `{token.text}`")
            return Constant(int(token.text))
        if self.skip("("):
            inner = self.expression()
            self.need(")", "after an expression in brackets")
            return inner
        if self.skip("-", "~", "!"):
            return unary(token.text, self.expression(_PREFIX))
        raise self.wrong("a value must be a number, a register such as r0, or made of these")
