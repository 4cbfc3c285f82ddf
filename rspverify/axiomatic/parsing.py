"""From the text of a .cat file to its syntax, by the grammar in cat.lark."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from lark import Lark, Token, Tree, UnexpectedCharacters, UnexpectedEOF, UnexpectedToken
from lark.exceptions import UnexpectedInput

from rspverify.axiomatic.comments import blank_comments
from rspverify.axiomatic.syntax import (
    Application,
    Binding,
    CatFile,
    Chosen,
    Definition,
    Include,
    Local,
    Named,
    Node,
    Operator,
    Question,
    Refused,
    RefusedStatement,
    Show,
    Statement,
)
from rspverify.source import InputError, Problem, Source, Span


def parse(source: Source) -> CatFile:
    """The syntax of a file. Raises InputError at the first place where it is not one."""
    try:
        tree = _parser().parse(blank_comments(source))
    except (UnexpectedCharacters, UnexpectedToken, UnexpectedEOF) as error:
        raise InputError([_syntax_problem(source, error)]) from None
    return _Builder(source).file(tree)


@cache
def _parser() -> Lark:
    grammar = (files("rspverify.axiomatic") / "cat.lark").read_text()
    return Lark(grammar, parser="lalr", propagate_positions=True)


_REFUSED = {
    "addition": "a set of sets (`++`)",
    "set_of_sets": "a set of sets (`{…}`)",
    "tuple": "a tuple outside the application of a function",
    "tag": "a tag",
    "local_rec": "let rec inside an expression",
    "lambda": "fun",
    "try": "try",
    "match": "match",
    "match_expression": "match",
    "if": "if",
    "if_expression": "if",
    "when": "let rec … when",
    "pattern": "a let of several names at once",
    "function": "a recursive function",
    "procedure": "procedure",
    "call": "call",
    "enum": "enum",
    "forall": "forall",
    "debug": "debug",
    "assert": "assert",
}
"""Rules of the grammar that we do not support, in the words of users."""


class _Builder:
    """From the parser's trees to ours, the innermost first, so that depth needs no recursion."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._made: dict[int, Any] = {}

    def file(self, tree: Tree[Token]) -> CatFile:
        """The syntax of a whole file."""
        for each in tree.iter_subtrees():
            self._made[id(each)] = self._build(each)
        header: tuple[tuple[str, Span], ...] = ()
        statements = []
        for each in self._children(tree):
            if isinstance(each, list):
                header = tuple(each)
            else:
                statements.append(each)
        return CatFile(self._source, header, tuple(statements))

    def _children(self, tree: Tree[Token]) -> list[Any]:
        return [self._made[id(each)] if isinstance(each, Tree) else each for each in tree.children]

    def _build(self, tree: Tree[Token]) -> Any:
        kind = str(tree.data)
        children = self._children(tree)
        if kind == "start":
            return None
        span = self._span(tree)
        if kind in _STATEMENTS:
            return _STATEMENTS[kind](self, span, children)
        if kind in _PARTS:
            return _PARTS[kind](self, span, children)
        return self._made_of(
            Operator(span, kind, below=tuple(each for each in children if isinstance(each, Node)))
        )

    def _made_of(self, node: Node) -> Node:
        """The node; its depth is known from now on."""
        assert node.depth >= 0
        return node

    def _span(self, place: Tree[Token] | Token) -> Span:
        at = place if isinstance(place, Token) else place.meta
        return Span(self._source, at.line, at.column, at.end_line, at.end_column)  # type: ignore[arg-type]

    # Parts of statements and expressions other than operators.

    def _header(self, span: Span, children: list[Any]) -> list[tuple[str, Span]]:
        return [(str(token), self._span(token)) for token in children]

    def _bracketed(self, span: Span, children: list[Any]) -> Node:
        (inner,) = children
        assert isinstance(inner, Node)
        return inner

    def _name(self, span: Span, children: list[Any]) -> Node:
        return Named(span, str(children[0]))

    def _tuple(self, span: Span, children: list[Any]) -> Node:
        return _Tuple(span, _REFUSED["tuple"], tuple(children))

    def _application(self, span: Span, children: list[Any]) -> Node:
        function, given = children
        arguments = given.elements if isinstance(given, _Tuple) else (given,)
        return self._made_of(Application(span, below=(function, *arguments)))

    def _local(self, span: Span, children: list[Any]) -> Node:
        *bindings, body = children
        if refused := next(_refused_bindings(bindings), None):
            return Refused(refused.span, refused.construct)
        parts = (*(each.body for each in bindings), body)
        return self._made_of(Local(span, tuple(bindings), below=parts))

    def _binding(self, span: Span, children: list[Any]) -> Binding:
        return Binding(span, str(children[0]), None, children[1])

    def _function(self, span: Span, children: list[Any]) -> Binding:
        return Binding(span, str(children[0]), children[1], children[2])

    def _parameters(self, span: Span, children: list[Any]) -> tuple[str, ...]:
        return tuple(str(each) for each in children)

    def _pattern(self, span: Span, children: list[Any]) -> RefusedStatement | None:
        names = tuple(str(each) for each in children if isinstance(each, Token))
        return RefusedStatement(span, _REFUSED["pattern"], names)

    def _nothing(self, span: Span, children: list[Any]) -> None:
        return None

    def _test(self, span: Span, children: list[Any]) -> Question:
        tokens = [each for each in children if isinstance(each, Token)]
        (body,) = (each for each in children if isinstance(each, Node))
        label = tokens.pop() if tokens[-1].type == "NAME" else None
        named = None if label is None else (str(label), self._span(label))
        return Question(span, None, len(tokens) > 1, str(tokens[-1]), body, named)

    # Statements.

    def _let(self, span: Span, children: list[Any]) -> Statement:
        return self._definition(span, children, False)

    def _let_rec(self, span: Span, children: list[Any]) -> Statement:
        return self._definition(span, children, True)

    def _definition(self, span: Span, children: list[Any], recursive: bool) -> Statement:
        names = tuple(name for each in children for name in _defined(each))
        if refused := next(_refused_bindings(children), None):
            return RefusedStatement(refused.span, refused.construct, names)
        functions = [each for each in children if each.parameters is not None]
        if recursive and functions:
            return RefusedStatement(functions[0].span, _REFUSED["function"], names)
        return Definition(span, recursive, tuple(children))

    def _when(self, span: Span, children: list[Any]) -> Statement:
        names = tuple(each.name for each in children if isinstance(each, Binding))
        return RefusedStatement(span, _REFUSED["when"], names)

    def _include(self, span: Span, children: list[Any]) -> Statement:
        return Include(span, str(children[0])[1:-1])

    def _axiom(self, span: Span, children: list[Any]) -> Statement:
        *before, it = children
        assert isinstance(it, Question)
        qualifier = str(before[0]) if before else None
        if qualifier == "assert":
            return RefusedStatement(span, _REFUSED["assert"])
        return Question(span, qualifier, it.negated, it.test, it.body, it.label)

    def _choice(self, span: Span, children: list[Any]) -> Statement:
        return Chosen(span, str(children[0]), children[1])

    def _show(self, span: Span, children: list[Any]) -> Statement:
        return Show(span)


@dataclass(frozen=True, eq=False)
class _Tuple(Refused):
    elements: tuple[Node, ...]


_Build = Callable[[_Builder, Span, list[Any]], Any]


def _refusing(kind: str) -> _Build:
    def refused(builder: _Builder, span: Span, children: list[Any]) -> Any:
        names = tuple(str(each) for each in children[:1] if isinstance(each, Token))
        return RefusedStatement(span, _REFUSED[kind], names)

    return refused


def _refusing_expression(kind: str) -> _Build:
    return lambda builder, span, children: Refused(span, _REFUSED[kind])


_PARTS: dict[str, _Build] = {
    "header": _Builder._header,
    "bracketed": _Builder._bracketed,
    "name": _Builder._name,
    "tuple": _Builder._tuple,
    "application": _Builder._application,
    "local": _Builder._local,
    "binding": _Builder._binding,
    "function": _Builder._function,
    "parameters": _Builder._parameters,
    "pattern": _Builder._pattern,
    "test": _Builder._test,
    **dict.fromkeys(("case", "branch", "matched", "condition", "variant"), _Builder._nothing),
    **{
        kind: _refusing_expression(kind)
        for kind in (
            *("addition", "set_of_sets", "tag", "local_rec", "lambda", "try"),
            *("match_expression", "if_expression"),
        )
    },
}
_REFUSED_STATEMENTS = ("procedure", "call", "match", "if", "enum", "forall", "debug")
_STATEMENTS: dict[str, _Build] = {
    "let": _Builder._let,
    "let_rec": _Builder._let_rec,
    "when": _Builder._when,
    "include": _Builder._include,
    "axiom": _Builder._axiom,
    "choice": _Builder._choice,
    "show": _Builder._show,
    **{kind: _refusing(kind) for kind in _REFUSED_STATEMENTS},
}


def _defined(binding: Binding | RefusedStatement) -> tuple[str, ...]:
    return (binding.name,) if isinstance(binding, Binding) else binding.names


def _refused_bindings(bindings: list[Any]) -> Iterator[RefusedStatement]:
    return (each for each in bindings if isinstance(each, RefusedStatement))


def _syntax_problem(source: Source, error: UnexpectedInput) -> Problem:
    line, column, width = error.line, error.column, 1
    if isinstance(error, UnexpectedToken) and error.token.type != "$END":
        found = f"{str(error.token)!s}"
        width = len(found.splitlines()[0]) if found else 1
    elif isinstance(error, UnexpectedCharacters):
        found = source.text[error.pos_in_stream or 0]
    else:
        found = "the end of the file"
        lines = source.text.splitlines() or [""]
        line, column = len(lines), len(lines[-1]) + 1
    wanted = "a statement (`let x = …`, `acyclic x as X`) or the rest of its expression"
    span = Span(source, line, column, line, column + width)
    return Problem(span, f"a .cat file must have here {wanted}, not {found}")
