"""From the syntax of .cat expressions to relational ones: names, sorts, functions expanded.

A name may stand for a set and for a relation (`rmw`, `0`), so that an expression may denote both;
what it is used for decides. A function is expanded where it is applied, with the meaning that its
free names had where it was defined.
"""

from __future__ import annotations

import difflib
from collections import ChainMap
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from msgspec import Struct

from rspverify.axiomatic.syntax import Node, unsupported
from rspverify.axiomatic.vocabulary import BASE_RELATIONS, FINAL_WRITES, OPTIONAL, SETS, if_known
from rspverify.relation import expression as operators
from rspverify.relation.expression import Expression, KindError, Name, Nothing, Sort
from rspverify.source import Problem, Span

MAX_DEPTH = 150
"""Operators on top of each other; chains such as `a | b | c` count each."""
MAX_SIZE = 10_000
"""Operators and names of one expression, its functions expanded."""
MAX_STEPS = 200_000
"""Operators and names that all functions of a model may expand to."""

ORDERS = {"generate_orders": 2, "generate_cos": 1, "linearisations": 2}
"""What may stand after `with … from`, and how many arguments it has."""
UNNAMED = "_"
"""All events; as a parameter, one that is not used."""


# ---- what names stand for ------------------------------------------------------------------------


class Built(Struct, frozen=True):
    """An expression, how deep its operators stand on each other, and how large it is."""

    expression: Expression
    depth: int = 0
    size: int = 1


Meaning = Mapping[Sort, Built]
"""What an expression may denote; where nothing asks for a sort, it is the first."""


class Function(Struct, frozen=True, eq=False):
    """A function. scope: what its free names mean."""

    name: str
    parameters: tuple[str, ...]
    body: Node
    scope: Scope


class Primitive(Struct, frozen=True):
    """A name that is only to be applied: `domain`, `range`, and those that come after `from`."""

    name: str


Denoted: TypeAlias = Meaning | Function | Primitive | None
"""What a name or an expression stands for; None where a mistake has been reported."""


@dataclass(eq=False)
class Cell:
    """What a name stands for, which may be given another name when its own is defined again."""

    value: Denoted


Scope: TypeAlias = ChainMap[str, Cell]
"""The names that are known at a place, the innermost first."""


def as_it_is(scope: Scope) -> Scope:
    """A scope that later definitions do not change."""
    return ChainMap(*scope.maps[:-1], dict(scope.maps[-1]))


def named(name: str, *sorts: Sort) -> Meaning:
    """A name, of each of these sorts."""
    return {sort: Built(Name(name, sort)) for sort in sorts}


def base_scope() -> Scope:
    """The names of the vocabulary, and those of the language itself."""
    meanings = {
        **{it: named(it, Sort.SET) for it in (*SETS, FINAL_WRITES) if it not in OPTIONAL},
        **{name: named(name, Sort.RELATION) for name in BASE_RELATIONS},
    }
    # In models of the older herd `rmw` is the set.
    meanings["rmw"] = {**meanings["rmw"], **meanings["RMW"]}
    primitives = {name: Cell(Primitive(name)) for name in ("domain", "range", *ORDERS)}
    return ChainMap({name: Cell(it) for name, it in meanings.items()} | primitives)


# ---- operators -----------------------------------------------------------------------------------


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
_NOTHING = {"zero": (Sort.RELATION, Sort.SET), "braces": (Sort.SET, Sort.RELATION)}
"""`0` and `{}`, which differ in what they are where nothing asks for a sort."""


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


# ---- expressions ---------------------------------------------------------------------------------


class _Call(Struct, frozen=True):
    """A function that is being expanded, and where it is applied."""

    span: Span
    function: str


class _Place(Struct, frozen=True):
    """Where an expression stands: what names mean there, in which functions, and how deep."""

    scope: Scope
    calls: tuple[_Call, ...] = ()
    nested: int = 0

    def deeper(self, levels: int = 1) -> _Place:
        return _Place(self.scope, self.calls, self.nested + levels)


class Elaborator:
    """Gives expressions their meaning, and gathers the problems with them.

    scope: the names of the model as far as it is read.
    """

    def __init__(self) -> None:
        self.problems: list[Problem] = []
        self.scope = base_scope()
        self._restricting = {name: self.scope[name] for name in ("int", "ext")}
        """The base relations that may be applied to a relation, which is intersection."""
        self._steps = 0

    def expression(self, node: Node, scope: Scope | None = None) -> Meaning | None:
        """The meaning of an expression, None after a problem."""
        return self._no_function(node, self._whole(node, scope), ())

    def bound(self, binding: Node) -> Denoted:
        """What a binding gives its name, which may be a function."""
        if binding.kind == "function":
            return self._function(binding, self.scope)
        return self._whole(binding.parts[-1], None)

    def _whole(self, node: Node, scope: Scope | None) -> Denoted:
        place = _Place(self.scope if scope is None else scope)
        return None if self._too_deep(node) else self._value(node, place)

    def _no_function(self, node: Node, value: Denoted, calls: tuple[_Call, ...]) -> Meaning | None:
        if isinstance(value, Function | Primitive):
            self._problem(node.span, f"{value.name} is a function and must be applied", calls)
            return None
        return value

    def _function(self, binding: Node, scope: Scope) -> Function | None:
        before = len(self.problems)
        given, body = binding.parts
        parameters = tuple(it.text for it in given.below)
        if self._too_deep(body):
            return None
        own = [each for each in parameters if each != UNNAMED]
        twice = {each for each in own if own.count(each) > 1}
        if twice:
            names = ", ".join(sorted(twice))
            self._problem(binding.span, f"parameters must be different, {names} is not")
        self._require_known(body, scope, frozenset(own))
        if len(self.problems) > before:
            return None
        return Function(binding.name, parameters, body, as_it_is(scope))

    def _require_known(self, node: Node, scope: Scope, bound: frozenset[str]) -> None:
        """Report the free names of a function that are not known where it is defined."""
        for each in self._free(node, scope, bound):
            self._cell(each, _Place(scope))

    def _free(
        self, node: Node, scope: Scope, bound: frozenset[str] = frozenset()
    ) -> Iterator[Node]:
        """The names in an expression that are not bound in it."""
        match node.kind:
            case "name":
                yield from () if node.text in bound else (node,)
            case "function":
                bound |= {it.text for it in node.parts[0].below} - {UNNAMED}
                yield from self._free(node.parts[-1], scope, bound)
            case "local":
                *bindings, body = node.parts
                for each in bindings:
                    yield from self._free(each, scope, bound)
                yield from self._free(body, scope, bound | {each.name for each in bindings})
            case "try":
                tried, otherwise = node.parts
                free = [*self._free(tried, scope, bound)]
                known = all(it.text in scope for it in free)
                yield from free if known else self._free(otherwise, scope, bound)
            case _:
                for each in node.parts:
                    yield from self._free(each, scope, bound)

    def _value(self, node: Node, at: _Place) -> Denoted:
        if at.calls and not self._may_go_on(at):
            return None
        match node.kind:
            case "name":
                cell = self._cell(node, at)
                return None if cell is None else cell.value
            case "local":
                return self._local(node, at)
            case "application":
                return self._application(node, at)
            case "try":
                return self._tried(node, at)
            case "zero" | "braces":
                return {sort: Built(Nothing(sort)) for sort in _NOTHING[node.kind]}
            case _:
                operands = [self._operand(each, at) for each in node.parts]
                return self._applied(node, node.kind, operands, at)

    def _operand(self, node: Node, at: _Place) -> Meaning | None:
        return self._no_function(node, self._value(node, at.deeper()), at.calls)

    def _may_go_on(self, at: _Place) -> bool:
        """Whether the expansion of functions is within its bounds; says so once if not."""
        self._steps += 1
        if self._steps == MAX_STEPS:
            message = f"the functions of a model must expand to at most {MAX_STEPS:,} operators"
            self._problem(at.calls[0].span, message)
        return self._steps < MAX_STEPS and not self._deep(at.nested, at.calls[0].span)

    def _too_deep(self, node: Node) -> bool:
        return self._deep(node.depth, node.span)

    def _deep(self, levels: int, span: Span) -> bool:
        """Whether so many levels are too many; says so if they are."""
        if levels > MAX_DEPTH:
            message = f"an expression must be at most {MAX_DEPTH} operators deep"
            self._problem(span, message, hint="name parts of it with let")
        return levels > MAX_DEPTH

    def _cell(self, node: Node, at: _Place) -> Cell | None:
        name = node.text
        if name not in at.scope:
            known = [each for each, cell in at.scope.items() if cell.value is not None]
            near = difflib.get_close_matches(name, known, 1)
            base = "docs/cat-fragment.md lists the base names"
            hint = f"did you mean {near[0]}?" if near else base
            message = f"{name} must be a base name or defined above"
            self._problem(node.span, message, at.calls, hint)
            at.scope.maps[-1][name] = Cell(None)
        return at.scope[name]

    def _local(self, node: Node, at: _Place) -> Meaning | None:
        *bindings, body = node.parts
        own = {
            each.name: Cell(
                self._function(each, at.scope)
                if each.kind == "function"
                else self._value(each.parts[-1], at.deeper())
            )
            for each in bindings
        }
        return self._operand(body, _Place(at.scope.new_child(own), at.calls, at.nested))

    def _tried(self, node: Node, at: _Place) -> Meaning | None:
        """`try e with f`: f where a name is unknown. Where f is empty, e is so for tests in a
        language that has not the names in it."""
        tried, otherwise = node.parts
        names = [it.text for it in self._free(tried, at.scope)]
        if not all(name in at.scope for name in names):
            return self._operand(otherwise, at)
        if otherwise.kind not in _NOTHING and otherwise.text != "emptyset":
            return self._operand(tried, at)
        if tried.kind not in ("name", "application"):
            what = "try of what is neither a name nor the application of a function"
            self.problems.append(unsupported(tried.span, what))
            return None
        own = {
            name: Cell(named(if_known(name), Sort.SET))
            for name in names
            if if_known(name) in OPTIONAL and at.scope[name].value == named(name, Sort.SET)
        }
        return self._operand(tried, _Place(at.scope.new_child(own), at.calls, at.nested))

    def _application(self, node: Node, at: _Place) -> Meaning | None:
        named, restricting = node.parts[0], False
        if named.kind == "name":
            cell = self._cell(named, at)
            function = None if cell is None else cell.value
            restricting = cell is not None and cell is self._restricting.get(named.text)
        else:
            function = self._value(named, at.deeper())
        match function:
            case None:
                return None
            case Function():
                return self._expanded(node, function, at)
            case Primitive("domain" | "range" as name):
                return self._applied(node, name, self._only_argument(node, name, at), at)
            case Primitive(name):
                self._problem(node.span, f"{name} must stand after `with … from`", at.calls)
                return None
        if restricting:
            return self._restricted(node, named.text, function, at)
        sort = next(iter(function)).value
        message = f"{named.span.text} must be a function to be applied, not a {sort}"
        self._problem(node.span, message, at.calls)
        return None

    def _restricted(self, node: Node, name: str, base: Meaning, at: _Place) -> Meaning | None:
        """`int(r)` and `ext(r)`: the pairs of r in the base relation."""
        (argument,) = self._only_argument(node, name, at)
        if argument is not None and Sort.RELATION not in argument:
            message = f"the argument of {name} must be a relation, not a set"
            self._problem(node.span, message, at.calls)
            return None
        return self._applied(node, "intersection", [base, argument], at)

    def _only_argument(self, node: Node, name: str, at: _Place) -> list[Meaning | None]:
        arguments = self._arguments(node, 1, name, at)
        return [self._no_function(node, arguments[0], at.calls) if arguments else None]

    def _arguments(self, node: Node, number: int, name: str, at: _Place) -> list[Denoted] | None:
        _, *given = node.parts
        if len(given) != number:
            plural = "s" * (number != 1)
            message = f"{name} must have {number} argument{plural}, not {len(given)}"
            self._problem(node.span, message, at.calls)
            return None
        values = [self._value(each, at.deeper(2)) for each in given]
        return None if None in values else values

    def _expanded(self, node: Node, function: Function, at: _Place) -> Meaning | None:
        arguments = self._arguments(node, len(function.parameters), function.name, at)
        if arguments is None:
            return None
        given = zip(function.parameters, arguments, strict=True)
        names = {name: Cell(value) for name, value in given if name != UNNAMED}
        calls = (*at.calls, _Call(node.span, function.name))
        inner = _Place(function.scope.new_child(names), calls, at.nested + 1)
        return self._operand(function.body, inner)

    def _applied(
        self, node: Node, kind: str, operands: list[Meaning | None], at: _Place
    ) -> Meaning | None:
        """The meaning of an operator on operands, for each sort that they may have together."""
        given = [each for each in operands if each is not None]
        if len(given) < len(operands):
            return None
        found: dict[Sort, Built] = {}
        try:
            for chosen in _choices(kind, given):
                made = _OPERATORS[kind](*(each.expression for each in chosen))
                depth = 1 + max((each.depth for each in chosen), default=-1)
                size = 1 + sum(each.size for each in chosen) * (2 if kind == "square" else 1)
                found.setdefault(made.sort, Built(made, depth, size))
        except KindError as error:
            self._problem(node.span, str(error), at.calls)
            return None
        span = at.calls[0].span if at.calls else node.span
        if self._deep(max(each.depth for each in found.values()), span):
            return None
        if max(each.size for each in found.values()) > MAX_SIZE:
            message = f"an expression must have at most {MAX_SIZE:,} operators and names"
            self._problem(span, message, hint="name parts of it with let")
            return None
        return found

    def _problem(
        self, span: Span, message: str, calls: tuple[_Call, ...] = (), hint: str | None = None
    ) -> None:
        if not calls:
            self.problems.append(Problem(span, message, hint))
            return
        related = [(each.span, f"{each.function} is applied here") for each in calls[1:]]
        related.append((span, "this is the place in the function"))
        inside = f"in {calls[-1].function}, {message}"
        self.problems.append(Problem(calls[0].span, inside, hint, tuple(related)))
