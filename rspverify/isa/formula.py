"""Calculations as the description of an instruction set writes them: `a + b`, `n if old == e`."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any

from msgspec import Struct

from rspverify.value import Constant, binary, select, unary

_BINARY: Mapping[type[ast.AST], str] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.BitAnd: "&",
    ast.BitOr: "|",
    ast.BitXor: "^",
    ast.LShift: "<<",
    ast.RShift: ">>",
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.And: "&&",
    ast.Or: "||",
}
_UNARY: Mapping[type[ast.AST], str] = {ast.USub: "-", ast.Invert: "~", ast.Not: "!"}

_WORDS = {
    "add_": "+",
    "sub_": "-",
    "and_": "&",
    "or_": "|",
    "xor_": "^",
    "eq_": "==",
    "ne_": "!=",
    "lg_": "!=",
    "lt_": "<",
    "le_": "<=",
    "gt_": ">",
    "ge_": ">=",
}
"""Operators by the words that mnemonics have for them, in capitals or not."""

Function = Callable[..., Any]


class Operators(Struct, frozen=True):
    """What operators make of values: of numbers, or of whatever else a dialect calculates with."""

    unary: Callable[[str, Any], Any] = unary
    binary: Callable[[str, Any, Any], Any] = binary
    select: Callable[[Any, Any, Any], Any] = select


NUMBERS = Operators()


class Formula(Struct, frozen=True, eq=False, dict=True):
    """An expression over the operands of an instruction, and over `old`, what it has read.

    condition: of one that is written where a condition holds, as `n if old == e`, that.
    """

    text: str
    tree: ast.expr
    condition: Formula | None = None

    def value(
        self,
        operand: Callable[[str], Any],
        functions: Mapping[str, Function],
        operators: Operators = NUMBERS,
    ) -> Any:
        """The expression, for what its operands are."""

        def of(it: ast.expr) -> Any:
            match it:
                case ast.Constant(value=int() as number):
                    return Constant(number)
                case ast.Name(id=name):
                    return operand(name)
                case ast.Subscript():
                    return operand(ast.unparse(it))
                case ast.UnaryOp(op=sign, operand=argument):
                    return operators.unary(_UNARY[type(sign)], of(argument))
                case (
                    ast.BinOp(left=left, op=sign, right=right)
                    | ast.Compare(left=left, ops=[sign], comparators=[right])
                    | ast.BoolOp(op=sign, values=[left, right])
                ):
                    return operators.binary(_BINARY[type(sign)], of(left), of(right))
                case ast.IfExp(test=test, body=then, orelse=otherwise):
                    return operators.select(of(test), of(then), of(otherwise))
                case ast.Call(func=ast.Name(id=name), args=arguments):
                    if (word := name.lower()) in _WORDS:
                        return operators.binary(_WORDS[word], *map(of, arguments))
                    return functions[name](*map(of, arguments))
                case _:
                    raise ValueError(f"a calculation must be an expression, not {self.text}")

        return of(self.tree)

    @cached_property
    def deciding(self) -> frozenset[str]:
        """The operands that only decide which of others it is, or whether it is written."""
        tests = [it.test for it in ast.walk(self.tree) if isinstance(it, ast.IfExp)]
        names = {it.id for test in tests for it in ast.walk(test) if isinstance(it, ast.Name)}
        own = frozenset(names) | (self.condition.needs if self.condition else frozenset())
        return own - self._taken(self.tree)

    def _taken(self, it: ast.AST) -> frozenset[str]:
        """The names that stand in a formula beside what decides in it."""
        if isinstance(it, ast.Name):
            return frozenset({it.id})
        parts = [it.body, it.orelse] if isinstance(it, ast.IfExp) else ast.iter_child_nodes(it)
        return frozenset[str]().union(*map(self._taken, parts))

    @cached_property
    def choice(self) -> tuple[Formula, frozenset[str], frozenset[str]] | None:
        """If a condition decides between two expressions, that, and the names in each of them."""
        it = self.tree
        if not isinstance(it, ast.IfExp):
            return None
        test = Formula(ast.unparse(it.test), it.test)
        return test, self._taken(it.body), self._taken(it.orelse)

    @cached_property
    def needs(self) -> frozenset[str]:
        """The operands that it looks at, and those that its condition does."""
        return self.names | (self.condition.needs if self.condition else frozenset())

    @cached_property
    def names(self) -> frozenset[str]:
        """The operands that it looks at."""
        functions = {it.func for it in ast.walk(self.tree) if isinstance(it, ast.Call)}
        names = (it for it in ast.walk(self.tree) if isinstance(it, ast.Name))
        return frozenset(it.id for it in names if it not in functions)


def formula(text: str) -> Formula:
    """An expression; `v if c` is written only where c holds. Raises ValueError."""
    value, there, condition = text.partition(" if ")
    try:
        if there and " else " not in condition:
            tree = ast.parse(value.strip(), mode="eval").body
            return Formula(text, tree, formula(condition.strip()))
        return Formula(text, ast.parse(text.strip(), mode="eval").body)
    except SyntaxError:
        raise ValueError(f"a calculation must be an expression, not {text}") from None
