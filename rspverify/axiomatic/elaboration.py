"""From the syntax of .cat expressions to relational ones: names, sorts, functions expanded.

A name may stand for a set and for a relation (`rmw`, `0`), so that an expression may denote both;
what it is used for decides. A function is expanded where it is applied, with the meaning that its
free names had where it was defined.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import assert_never

from rspverify.axiomatic.scope import (
    Built,
    Cell,
    Function,
    Meaning,
    Primitive,
    Scope,
    nothing,
)
from rspverify.axiomatic.syntax import Application, Binding, Local, Named, Node, Operator, Refused
from rspverify.relation.expression import (
    Complement,
    Composition,
    Difference,
    Domain,
    Expression,
    Identity,
    Intersection,
    Inverse,
    KindError,
    Optionally,
    Plus,
    Product,
    Range,
    Sort,
    Star,
    Union,
)
from rspverify.source import Problem, Severity, Span

MAX_DEPTH = 150
"""Operators on top of each other; chains such as `a | b | c` count each."""
MAX_SIZE = 10_000
"""Operators and names of one expression, its functions expanded."""
MAX_STEPS = 200_000
"""Operators and names that all functions of a model may expand to."""

UNNAMED = "_"
"""All events; as a parameter, one that is not used."""

_UNARY: Mapping[str, Callable[[Expression], Expression]] = {
    "complement": Complement,
    "inverse": Inverse,
    "plus": Plus,
    "star": Star,
    "optionally": Optionally,
    "identity": Identity,
    "domain": Domain,
    "range": Range,
}
_BINARY: Mapping[str, Callable[[Expression, Expression], Expression]] = {
    "union": Union,
    "difference": Difference,
    "intersection": Intersection,
    "composition": Composition,
    "product": Product,
}
_SAME_SORT = ("union", "difference", "intersection", "complement")
_OF_SETS = ("product", "identity", "square")
_EMPTY = {"zero": Sort.RELATION, "braces": Sort.SET}


@dataclass(frozen=True)
class _Call:
    """A function that is being expanded, and where it is applied."""

    span: Span
    function: str


Calls = tuple[_Call, ...]


class Elaborator:
    """Gives expressions their meaning, and gathers the problems with them.

    restricting: the base relations that may be applied to a relation, which is intersection.
    trying: whether its problems are not for users, so that names stay as they are.
    """

    def __init__(self, restricting: Mapping[str, Cell], *, trying: bool = False) -> None:
        self.problems: list[Problem] = []
        self.restricting = restricting
        self._trying = trying
        self._steps = 0

    def expression(self, node: Node, scope: Scope) -> Meaning | None:
        """The meaning of an expression, None after a problem."""
        value = self.value(node, scope)
        if isinstance(value, Function | Primitive):
            self._problem(node.span, f"{value.name} is a function and must be applied", ())
            return None
        return value

    def value(self, node: Node, scope: Scope) -> Meaning | Function | Primitive | None:
        """The same where it may be the name of a function, too."""
        if node.depth > MAX_DEPTH:
            self.too_deep(node.span)
            return None
        return self._value(node, scope, ())

    def function(self, binding: Binding, scope: Scope) -> Function | None:
        """The function that a binding defines; None after a problem."""
        assert binding.parameters is not None
        before = len(self.problems)
        if binding.body.depth > MAX_DEPTH:
            self.too_deep(binding.body.span)
            return None
        named = [each for each in binding.parameters if each != UNNAMED]
        twice = {each for each in named if named.count(each) > 1}
        if twice:
            names = ", ".join(sorted(twice))
            self._problem(binding.span, f"parameters must be different, {names} is not", ())
        captured = Scope()
        self._capture(binding.body, scope, frozenset(named), captured)
        if len(self.problems) > before:
            return None
        return Function(binding.name, binding.parameters, binding.body, captured)

    def too_deep(self, span: Span) -> None:
        """Say that an expression is too deep."""
        message = f"an expression must be at most {MAX_DEPTH} operators deep"
        self._problem(span, message, (), "name parts of it with let")

    def _capture(self, node: Node, scope: Scope, bound: frozenset[str], found: Scope) -> None:
        """Keep what the free names of a function stand for, and report what is unknown."""
        match node:
            case Named():
                if node.name not in bound and node.name not in found.names:
                    cell = self._cell(node, scope, ()) or Cell(None)
                    cell.captured = True
                    found.names[node.name] = cell
            case Refused():
                self._unsupported(node)
            case Local():
                for each in node.bindings:
                    named = {*(each.parameters or ())} - {UNNAMED}
                    self._capture(each.body, scope, bound | named, found)
                names = {each.name for each in node.bindings}
                self._capture(node.body, scope, bound | names, found)
            case Application() | Operator():
                for below in node.below:
                    self._capture(below, scope, bound, found)
            case _:
                assert_never(node)

    def _value(
        self, node: Node, scope: Scope, calls: Calls, nested: int = 0
    ) -> Meaning | Function | Primitive | None:
        if calls and not self._may_go_on(calls, nested):
            return None
        match node:
            case Named():
                cell = self._cell(node, scope, calls)
                return None if cell is None else cell.value
            case Refused():
                self._unsupported(node)
                return None
            case Local():
                return self._local(node, scope, calls, nested)
            case Application():
                return self._application(node, scope, calls, nested)
            case Operator():
                return self._operator(node, scope, calls, nested)
            case _:
                assert_never(node)

    def _operator(self, node: Operator, scope: Scope, calls: Calls, nested: int) -> Meaning | None:
        if node.kind in _EMPTY:
            return nothing(_EMPTY[node.kind])
        operands: list[Meaning] = []
        for each in node.below:
            operand = self._operand(each, scope, calls, nested)
            if operand is not None:
                operands.append(operand)
        if len(operands) < len(node.below):
            return None
        return self._applied(node, node.kind, operands, calls)

    def _operand(self, node: Node, scope: Scope, calls: Calls, nested: int) -> Meaning | None:
        value = self._value(node, scope, calls, nested + 1)
        if isinstance(value, Function | Primitive):
            self._problem(node.span, f"{value.name} is a function and must be applied", calls)
            return None
        return value

    def _may_go_on(self, calls: Calls, nested: int) -> bool:
        """Whether the expansion of functions is within its bounds; says so once if not."""
        self._steps += 1
        if self._steps == MAX_STEPS:
            message = f"the functions of a model must expand to at most {MAX_STEPS:,} operators"
            self._problem(calls[0].span, message, ())
        if nested > MAX_DEPTH:
            self.too_deep(calls[0].span)
        return self._steps < MAX_STEPS and nested <= MAX_DEPTH

    def _cell(self, node: Named, scope: Scope, calls: Calls) -> Cell | None:
        cell = scope.cell(node.name)
        if cell is None:
            near = difflib.get_close_matches(node.name, {*scope.known()}, 1)
            hint = (
                f"did you mean {near[0]}?" if near else "docs/cat-fragment.md lists the base names"
            )
            message = f"{node.name} must be a base name or defined above"
            self._problem(node.span, message, calls, hint)
            if not self._trying:
                scope.outermost.names[node.name] = Cell(None)
        return cell

    def _local(self, node: Local, scope: Scope, calls: Calls, nested: int) -> Meaning | None:
        inner = Scope(outer=scope)
        for each in node.bindings:
            value: Meaning | Function | Primitive | None
            if each.parameters is not None:
                value = self.function(each, scope)
            else:
                value = self._value(each.body, scope, calls, nested + 1)
            inner.names[each.name] = Cell(value)
        return self._operand(node.body, inner, calls, nested)

    def _application(
        self, node: Application, scope: Scope, calls: Calls, nested: int
    ) -> Meaning | None:
        named, restricting = node.function, False
        if isinstance(named, Named):
            cell = self._cell(named, scope, calls)
            function = None if cell is None else cell.value
            restricting = cell is not None and cell is self.restricting.get(named.name)
        else:
            function = self._value(named, scope, calls, nested + 1)
        match function:
            case None:
                return None
            case Function():
                return self._expanded(node, function, scope, calls, nested)
            case Primitive("domain" | "range" as name):
                argument = self._only_argument(node, name, scope, calls, nested)
                return None if argument is None else self._applied(node, name, [argument], calls)
            case Primitive(name):
                message = f"{name} must stand after `with … from`"
                self._problem(node.span, message, calls)
                return None
        if restricting:
            return self._restricted(node, function, scope, calls, nested)
        sort = next(iter(function)).value
        message = f"{named.span.text} must be a function to be applied, not a {sort}"
        self._problem(node.span, message, calls)
        return None

    def _restricted(
        self, node: Application, base: Meaning, scope: Scope, calls: Calls, nested: int
    ) -> Meaning | None:
        """`int(r)` and `ext(r)`: the pairs of r in the base relation."""
        name = node.function.span.text
        argument = self._only_argument(node, name, scope, calls, nested)
        if argument is None:
            return None
        if Sort.RELATION not in argument:
            message = f"the argument of {name} must be a relation, not a set"
            self._problem(node.span, message, calls)
            return None
        return self._applied(node, "intersection", [base, argument], calls)

    def _only_argument(
        self, node: Application, name: str, scope: Scope, calls: Calls, nested: int
    ) -> Meaning | None:
        arguments = self._arguments(node, 1, name, scope, calls, nested)
        if arguments is None:
            return None
        (argument,) = arguments
        if isinstance(argument, Function | Primitive):
            self._problem(node.span, f"{argument.name} is a function and must be applied", calls)
            return None
        return argument

    def _arguments(
        self, node: Application, number: int, name: str, scope: Scope, calls: Calls, nested: int
    ) -> list[Meaning | Function | Primitive] | None:
        if len(node.arguments) != number:
            plural = "s" * (number != 1)
            message = f"{name} must have {number} argument{plural}, not {len(node.arguments)}"
            self._problem(node.span, message, calls)
            return None
        values: list[Meaning | Function | Primitive] = []
        for each in node.arguments:
            value = self._value(each, scope, calls, nested + 2)
            if value is not None:
                values.append(value)
        return values if len(values) == number else None

    def _expanded(
        self, node: Application, function: Function, scope: Scope, calls: Calls, nested: int
    ) -> Meaning | None:
        number = len(function.parameters)
        arguments = self._arguments(node, number, function.name, scope, calls, nested)
        if arguments is None:
            return None
        given = {
            name: Cell(value)
            for name, value in zip(function.parameters, arguments, strict=True)
            if name != UNNAMED
        }
        inner = Scope(given, function.scope)
        within = (*calls, _Call(node.span, function.name))
        return self._operand(function.body, inner, within, nested + 1)

    def _applied(
        self, node: Node, kind: str, operands: list[Meaning], calls: Calls
    ) -> Meaning | None:
        """The meaning of an operator on operands, for each sort that they may have together."""
        found: dict[Sort, Built] = {}
        try:
            for chosen in _choices(kind, operands):
                made = _make(kind, [each.expression for each in chosen])
                depth = 1 + max((each.depth for each in chosen), default=-1)
                size = 1 + sum(each.size for each in chosen) * (2 if kind == "square" else 1)
                found.setdefault(made.sort, Built(made, depth, size))
        except KindError as error:
            self._problem(node.span, str(error), calls)
            return None
        if max(each.depth for each in found.values()) > MAX_DEPTH:
            self.too_deep(calls[0].span if calls else node.span)
            return None
        if max(each.size for each in found.values()) > MAX_SIZE:
            message = f"an expression must have at most {MAX_SIZE:,} operators and names"
            hint = "name parts of it with let"
            self._problem(calls[0].span if calls else node.span, message, (), hint)
            return None
        return found

    def _unsupported(self, node: Refused) -> None:
        self.problems.append(unsupported(node.span, node.construct))

    def _problem(self, span: Span, message: str, calls: Calls, hint: str | None = None) -> None:
        """Report a mistake; inside a function, where the function is applied and where it is."""
        if not calls:
            self.problems.append(Problem(span, message, hint))
            return
        related = [(each.span, f"{each.function} is applied here") for each in calls[1:]]
        related.append((span, "this is the place in the function"))
        inside = f"in {calls[-1].function}, {message}"
        self.problems.append(Problem(calls[0].span, inside, hint, tuple(related)))


def unsupported(span: Span, construct: str) -> Problem:
    """What is said of a construct of herd's that we do not support."""
    message = f"{construct} is not supported by this version"
    return Problem(
        span, message, "docs/cat-fragment.md lists what is", severity=Severity.UNSUPPORTED
    )


def _choices(kind: str, operands: list[Meaning]) -> Iterator[tuple[Built, ...]]:
    """Operands of sorts that an operator may have; where there are none, those that are wrong."""
    if kind in _SAME_SORT:
        common = [sort for sort in operands[0] if all(sort in each for each in operands)]
        for sort in common:
            yield tuple(each[sort] for each in operands)
        if not common:
            yield tuple(next(iter(each.values())) for each in operands)
    else:
        wanted = Sort.SET if kind in _OF_SETS else Sort.RELATION
        yield tuple(each.get(wanted) or next(iter(each.values())) for each in operands)


def _make(kind: str, operands: list[Expression]) -> Expression:
    """The expression of an operator. Raises KindError where a sort is wrong."""
    if kind == "square":
        if operands[0].sort is not Sort.SET:
            raise KindError("the operand of ^2 must be a set, not a relation")
        return Product(operands[0], operands[0])
    if kind in _BINARY:
        left, right = operands
        return _BINARY[kind](left, right)
    (argument,) = operands
    return _UNARY[kind](argument)
