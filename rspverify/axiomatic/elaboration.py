"""From the syntax of .cat expressions to relational ones: names, sorts, functions expanded.

A name may stand for a set and for a relation (`rmw`, `0`), so that an expression may denote both;
what it is used for decides. A function is expanded where it is applied, with the meaning that its
free names had where it was defined.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterator, Mapping
from typing import assert_never

from msgspec import Struct

from rspverify.axiomatic.scope import (
    Built,
    Cell,
    Denoted,
    Function,
    Meaning,
    Primitive,
    Scope,
    nothing,
)
from rspverify.axiomatic.syntax import (
    Application,
    Binding,
    Local,
    Named,
    Node,
    Operator,
    Refused,
    depth,
)
from rspverify.relation import expression as operators
from rspverify.relation.expression import Expression, KindError, Sort
from rspverify.source import Problem, Severity, Span

MAX_DEPTH = 150
"""Operators on top of each other; chains such as `a | b | c` count each."""
MAX_SIZE = 10_000
"""Operators and names of one expression, its functions expanded."""
MAX_STEPS = 200_000
"""Operators and names that all functions of a model may expand to."""

UNNAMED = "_"
"""All events; as a parameter, one that is not used."""


def _square(argument: Expression) -> Expression:
    if argument.sort is not Sort.SET:
        raise KindError("the operand of ^2 must be a set, not a relation")
    return operators.Product(argument, argument)


_OPERATORS: Mapping[str, Callable[..., Expression]] = {
    "complement": operators.Complement,
    "inverse": operators.Inverse,
    "plus": operators.Plus,
    "star": operators.Star,
    "optionally": operators.Optionally,
    "identity": operators.Identity,
    "domain": operators.Domain,
    "range": operators.Range,
    "union": operators.Union,
    "difference": operators.Difference,
    "intersection": operators.Intersection,
    "composition": operators.Composition,
    "product": operators.Product,
    "square": _square,
}
"""What each operator of the grammar makes of its operands. Raises KindError for a wrong sort."""

_SAME_SORT = ("union", "difference", "intersection", "complement")
_OF_SETS = ("product", "identity", "square")
_BASE_NAMES = "docs/cat-fragment.md lists the base names"
_EMPTY = {"zero": Sort.RELATION, "braces": Sort.SET}


class _Call(Struct, frozen=True):
    """A function that is being expanded, and where it is applied."""

    span: Span
    function: str


Calls = tuple[_Call, ...]


class _Place(Struct, frozen=True):
    """Where an expression stands: what names mean there, in which functions, and how deep."""

    scope: Scope
    calls: Calls = ()
    nested: int = 0

    def deeper(self, levels: int = 1) -> _Place:
        return _Place(self.scope, self.calls, self.nested + levels)


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
        return self._no_function(node, self.value(node, scope), ())

    def value(self, node: Node, scope: Scope) -> Denoted:
        """The same where it may be the name of a function, too."""
        if depth(node) > MAX_DEPTH:
            self.too_deep(node.span)
            return None
        return self._value(node, _Place(scope))

    def _no_function(self, node: Node, value: Denoted, calls: Calls) -> Meaning | None:
        if isinstance(value, Function | Primitive):
            self._problem(node.span, f"{value.name} is a function and must be applied", calls)
            return None
        return value

    def function(self, binding: Binding, scope: Scope) -> Function | None:
        """The function that a binding defines; None after a problem."""
        assert binding.parameters is not None
        before = len(self.problems)
        if depth(binding.body) > MAX_DEPTH:
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
                    cell = self._cell(node, _Place(scope)) or Cell(None)
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

    def _value(self, node: Node, at: _Place) -> Denoted:
        if at.calls and not self._may_go_on(at):
            return None
        match node:
            case Named():
                cell = self._cell(node, at)
                return None if cell is None else cell.value
            case Refused():
                self._unsupported(node)
                return None
            case Local():
                return self._local(node, at)
            case Application():
                return self._application(node, at)
            case Operator():
                return self._operator(node, at)
            case _:
                assert_never(node)

    def _operator(self, node: Operator, at: _Place) -> Meaning | None:
        if node.kind in _EMPTY:
            return nothing(_EMPTY[node.kind])
        found = [self._operand(each, at) for each in node.below]
        operands = [each for each in found if each is not None]
        if len(operands) < len(found):
            return None
        return self._applied(node, node.kind, operands, at.calls)

    def _operand(self, node: Node, at: _Place) -> Meaning | None:
        return self._no_function(node, self._value(node, at.deeper()), at.calls)

    def _may_go_on(self, at: _Place) -> bool:
        """Whether the expansion of functions is within its bounds; says so once if not."""
        self._steps += 1
        if self._steps == MAX_STEPS:
            message = f"the functions of a model must expand to at most {MAX_STEPS:,} operators"
            self._problem(at.calls[0].span, message, ())
        if at.nested > MAX_DEPTH:
            self.too_deep(at.calls[0].span)
        return self._steps < MAX_STEPS and at.nested <= MAX_DEPTH

    def _cell(self, node: Named, at: _Place) -> Cell | None:
        cell = at.scope.cell(node.name)
        if cell is None:
            near = difflib.get_close_matches(node.name, at.scope.known(), 1)
            hint = f"did you mean {near[0]}?" if near else _BASE_NAMES
            message = f"{node.name} must be a base name or defined above"
            self._problem(node.span, message, at.calls, hint)
            if not self._trying:
                *_, outermost = at.scope.outwards()
                outermost.names[node.name] = Cell(None)
        return cell

    def _local(self, node: Local, at: _Place) -> Meaning | None:
        inner = Scope(outer=at.scope)
        for each in node.bindings:
            if each.parameters is not None:
                inner.names[each.name] = Cell(self.function(each, at.scope))
            else:
                inner.names[each.name] = Cell(self._value(each.body, at.deeper()))
        return self._operand(node.body, _Place(inner, at.calls, at.nested))

    def _application(self, node: Application, at: _Place) -> Meaning | None:
        named, restricting = node.function, False
        if isinstance(named, Named):
            cell = self._cell(named, at)
            function = None if cell is None else cell.value
            restricting = cell is not None and cell is self.restricting.get(named.name)
        else:
            function = self._value(named, at.deeper())
        match function:
            case None:
                return None
            case Function():
                return self._expanded(node, function, at)
            case Primitive("domain" | "range" as name):
                argument = self._only_argument(node, name, at)
                return None if argument is None else self._applied(node, name, [argument], at.calls)
            case Primitive(name):
                self._problem(node.span, f"{name} must stand after `with … from`", at.calls)
                return None
        if restricting:
            return self._restricted(node, function, at)
        sort = next(iter(function)).value
        message = f"{named.span.text} must be a function to be applied, not a {sort}"
        self._problem(node.span, message, at.calls)
        return None

    def _restricted(self, node: Application, base: Meaning, at: _Place) -> Meaning | None:
        """`int(r)` and `ext(r)`: the pairs of r in the base relation."""
        name = node.function.span.text
        argument = self._only_argument(node, name, at)
        if argument is None:
            return None
        if Sort.RELATION not in argument:
            message = f"the argument of {name} must be a relation, not a set"
            self._problem(node.span, message, at.calls)
            return None
        return self._applied(node, "intersection", [base, argument], at.calls)

    def _only_argument(self, node: Application, name: str, at: _Place) -> Meaning | None:
        arguments = self._arguments(node, 1, name, at)
        return self._no_function(node, arguments[0], at.calls) if arguments else None

    def _arguments(
        self, node: Application, number: int, name: str, at: _Place
    ) -> list[Denoted] | None:
        if len(node.arguments) != number:
            plural = "s" * (number != 1)
            message = f"{name} must have {number} argument{plural}, not {len(node.arguments)}"
            self._problem(node.span, message, at.calls)
            return None
        values = [self._value(each, at.deeper(2)) for each in node.arguments]
        return None if None in values else values

    def _expanded(self, node: Application, function: Function, at: _Place) -> Meaning | None:
        number = len(function.parameters)
        arguments = self._arguments(node, number, function.name, at)
        if arguments is None:
            return None
        given = zip(function.parameters, arguments, strict=True)
        names = {name: Cell(value) for name, value in given if name != UNNAMED}
        calls = (*at.calls, _Call(node.span, function.name))
        inner = _Place(Scope(names, function.scope), calls, at.nested + 1)
        return self._operand(function.body, inner)

    def _applied(
        self, node: Node, kind: str, operands: list[Meaning], calls: Calls
    ) -> Meaning | None:
        """The meaning of an operator on operands, for each sort that they may have together."""
        found: dict[Sort, Built] = {}
        try:
            for chosen in _choices(kind, operands):
                made = _OPERATORS[kind](*(each.expression for each in chosen))
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
