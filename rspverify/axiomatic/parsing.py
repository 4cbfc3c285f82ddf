"""From the text of a .cat file to its syntax, by the grammar in cat.lark."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from lark import Token
from lark.tree import Meta

from rspverify.axiomatic import syntax
from rspverify.axiomatic.comments import blank_comments
from rspverify.grammar import END, Builder, Children, Language, Mistake
from rspverify.records import replace
from rspverify.source import InputError, Problem, Source, Span

LANGUAGE = Language(Path(__file__).with_name("cat.lark"))
"""Herd's language for models."""

_REFUSED_EXPRESSIONS = {
    "addition": "a set of sets (`++`)",
    "set_of_sets": "a set of sets (`{…}`)",
    "tag": "a tag",
    "local_rec": "let rec inside an expression",
    "lambda": "fun",
    "try": "try",
    "match_expression": "match",
    "if_expression": "if",
}
_REFUSED_STATEMENTS = {
    "procedure": "procedure",
    "call": "call",
    "match": "match",
    "if": "if",
    "enum": "enum",
    "forall": "forall",
    "debug": "debug",
}
_TUPLE = "a tuple outside the application of a function"
_PATTERN = "a let of several names at once"
_FUNCTION = "a recursive function"
_WHEN = "let rec … when"
_ASSERT = "assert"
REFUSED = (
    *_REFUSED_EXPRESSIONS.values(),
    *_REFUSED_STATEMENTS.values(),
    *(_TUPLE, _PATTERN, _FUNCTION, _WHEN, _ASSERT),
)
"""What of the grammar we do not support, in the words of users."""

_FIRST_WORDS = (
    *("acyclic", "irreflexive", "empty", "flag", "undefined_unless"),
    *("let", "include", "show", "unshow", "with"),
)
_MISSPELT = 0.8
"""How close a word is to one of these that was meant for it; `incl`, a relation, is not."""


def parse(source: Source) -> syntax.CatFile:
    """The syntax of a file. Raises InputError at the first place where it is not one."""
    text = blank_comments(source)
    tree = LANGUAGE.parse(source, text)
    if isinstance(tree, Mistake):
        raise InputError([_problem(source, text, tree)])
    return _CatBuilder(source).build(tree)


def _misspelt(source: Source, text: str, mistake: Mistake) -> Problem | None:
    """The first word of the statement, where it was taken for a name: the mistake shows later."""
    lines = text.split("\n")[: mistake.span.line]
    for number, line in reversed([*enumerate(lines, start=1)]):
        word, column = line.strip().partition(" ")[0], len(line) - len(line.lstrip()) + 1
        if word in _FIRST_WORDS:
            return None
        for meant in get_close_matches(word, _FIRST_WORDS, n=1, cutoff=_MISSPELT):
            span = Span(source, number, column, number, column + len(word))
            message = f"a statement must begin with a word such as {meant}, not {word}"
            return Problem(span, message, f"did you mean {meant}?")
    return None


def _problem(source: Source, text: str, mistake: Mistake) -> Problem:
    if misspelt := _misspelt(source, text, mistake):
        return misspelt
    span, found = mistake.span, mistake.found
    if mistake.terminal == END:
        found = "the end of the file"
        lines = source.text.splitlines() or [""]
        column = len(lines[-1]) + 1
        span = Span(source, len(lines), column, len(lines), column + 1)
    wanted = "a statement (`let x = …`, `acyclic x as X`) or the rest of its expression"
    return Problem(span, f"a .cat file must have here {wanted}, not {found}")


class _Tuple(syntax.Refused, frozen=True):
    elements: tuple[syntax.Node, ...]


class _CatBuilder(Builder[syntax.CatFile]):
    """Turns the parse tree of one source into its syntax; an operator is named by its rule."""

    def _other(
        self, kind: str, place: Meta, parts: Children
    ) -> syntax.Node | syntax.RefusedStatement:
        span = self._span(place)
        if kind in _REFUSED_STATEMENTS:
            return syntax.RefusedStatement(span, _REFUSED_STATEMENTS[kind], _words(parts[:1]))
        if kind in _REFUSED_EXPRESSIONS:
            return syntax.Refused(span, _REFUSED_EXPRESSIONS[kind])
        return syntax.Operator(
            span, kind, below=tuple(each for each in parts if isinstance(each, syntax.Node))
        )

    def start(self, meta: Meta, *parts: Any) -> syntax.CatFile:
        header = tuple(parts[0]) if parts and isinstance(parts[0], list) else ()
        return syntax.CatFile(self._source, header, parts[1:] if header else parts)

    def header(self, meta: Meta, *words: Token) -> list[tuple[str, Span]]:
        return [self._at(token) for token in words]

    def _at(self, token: Token) -> tuple[str, Span]:
        return str(token), self._span(token)

    # ---- expressions -------------------------------------------------------------------------

    def bracketed(self, meta: Meta, inner: syntax.Node) -> syntax.Node:
        return inner

    def name(self, meta: Meta, token: Token) -> syntax.Node:
        return syntax.Named(self._span(meta), str(token))

    def tuple_(self, meta: Meta, *elements: syntax.Node) -> syntax.Node:
        return _Tuple(self._span(meta), _TUPLE, elements)

    def application(self, meta: Meta, function: syntax.Node, given: syntax.Node) -> syntax.Node:
        arguments = given.elements if isinstance(given, _Tuple) else (given,)
        return syntax.Application(self._span(meta), below=(function, *arguments))

    def local(self, meta: Meta, *parts: Any) -> syntax.Node:
        *bindings, body = parts
        if refused := _refused(bindings):
            return syntax.Refused(refused.span, refused.construct)
        below = (*(each.body for each in bindings), body)
        return syntax.Local(self._span(meta), (*bindings,), below=below)

    def binding(self, meta: Meta, name: Token, body: syntax.Node) -> syntax.Binding:
        return syntax.Binding(self._span(meta), str(name), None, body)

    def function(self, meta: Meta, name: Token, parameters: Any, body: Any) -> syntax.Binding:
        return syntax.Binding(self._span(meta), str(name), parameters, body)

    def parameters(self, meta: Meta, *names: Token) -> tuple[str, ...]:
        return _words(names)

    def pattern(self, meta: Meta, *parts: Any) -> syntax.RefusedStatement:
        return syntax.RefusedStatement(self._span(meta), _PATTERN, _words(parts))

    def test(self, meta: Meta, *parts: Any) -> syntax.Question:
        tokens = [each for each in parts if isinstance(each, Token)]
        (body,) = (each for each in parts if isinstance(each, syntax.Node))
        label = self._at(tokens.pop()) if tokens[-1].type == "NAME" else None
        *negations, test = map(str, tokens)
        return syntax.Question(self._span(meta), None, bool(negations), test, body, label)

    # ---- statements --------------------------------------------------------------------------

    def let(self, meta: Meta, *bindings: Any, recursive: bool = False) -> syntax.Statement:
        if refused := _refused(bindings):
            return syntax.RefusedStatement(refused.span, refused.construct, _defined(bindings))
        functions = [each for each in bindings if each.parameters is not None]
        if recursive and functions:
            return syntax.RefusedStatement(functions[0].span, _FUNCTION, _defined(bindings))
        return syntax.Definition(self._span(meta), recursive, bindings)

    def let_rec(self, meta: Meta, *bindings: Any) -> syntax.Statement:
        return self.let(meta, *bindings, recursive=True)

    def when(self, meta: Meta, *parts: Any) -> syntax.Statement:
        bindings = [each for each in parts if isinstance(each, syntax.Binding)]
        return syntax.RefusedStatement(self._span(meta), _WHEN, _defined(bindings))

    def include(self, meta: Meta, name: Token) -> syntax.Statement:
        return syntax.Include(self._span(meta), str(name)[1:-1])

    def axiom(self, meta: Meta, *parts: Any) -> syntax.Statement:
        *before, it = parts
        assert isinstance(it, syntax.Question)
        qualifier = str(before[0]) if before else None
        if qualifier == "assert":
            return syntax.RefusedStatement(self._span(meta), _ASSERT)
        return replace(it, span=self._span(meta), qualifier=qualifier)

    def choice(self, meta: Meta, name: Token, body: syntax.Node) -> syntax.Statement:
        return syntax.Chosen(self._span(meta), str(name), body)

    def show(self, meta: Meta, *names: Any) -> syntax.Statement:
        return syntax.Show(self._span(meta))


def _words(children: Iterable[object]) -> tuple[str, ...]:
    return tuple(str(each) for each in children if isinstance(each, Token))


def _defined(bindings: Iterable[syntax.Binding | syntax.RefusedStatement]) -> tuple[str, ...]:
    names = [(it.name,) if isinstance(it, syntax.Binding) else it.names for it in bindings]
    return tuple(name for each in names for name in each)


def _refused(
    bindings: Iterable[syntax.Binding | syntax.RefusedStatement],
) -> syntax.RefusedStatement | None:
    return next((each for each in bindings if isinstance(each, syntax.RefusedStatement)), None)
