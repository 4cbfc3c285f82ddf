"""From the text of a .cat file to its syntax, by the grammar in cat.lark.

What herd's language has beyond ours is read, too, so that it can be named.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from pathlib import Path

from msgspec import Struct

from rspverify.grammar import Builder, Children, Language, Mistake
from rspverify.lalr import END, Place, Token
from rspverify.source import InputError, Problem, Severity, Source, Span, blanked, sign_at

LANGUAGE = Language(Path(__file__).with_name("cat.lark"))
"""Herd's language for models."""

REFUSED: Mapping[str, str] = {
    "addition": "a set of sets (`++`)",
    "set_of_sets": "a set of sets (`{…}`)",
    "tag": "a tag",
    "tuple_": "a tuple outside the application of a function",
    "local_rec": "let rec inside an expression",
    "lambda": "fun",
    "match_expression": "match",
    "if_expression": "if",
    "pattern": "a let of several names at once",
    "recursive_function": "a recursive function",
    "when": "let rec … when",
    "assert": "assert",
    "procedure": "procedure",
    "call": "call",
    "match": "match",
    "if": "if",
    "enum": "enum",
    "forall": "forall",
    "debug": "debug",
}
"""The parts of the grammar that we do not support, in the words of users."""

_FIRST_WORDS = (
    *("acyclic", "irreflexive", "empty", "flag", "undefined_unless"),
    *("let", "include", "show", "unshow", "with"),
)
_MISSPELT = 0.8
"""How close a word is to one of these that was meant for it; `incl`, a relation, is not."""

_COMMENTED = re.compile(r'"[^"\n]*"|\(\*|(?://|#)[^\n]*')
_BRACKET = re.compile(r"\(\*|\*\)")


class Node(Struct, frozen=True, eq=False):
    """A part of a file: a rule of the grammar by its name there, or a terminal.

    text: of a terminal, and of a name. An application has its function and arguments below.
    """

    kind: str
    span: Span
    below: tuple[Node, ...] = ()
    text: str = ""

    @property
    def parts(self) -> tuple[Node, ...]:
        """The rules below, terminals left out."""
        return tuple(it for it in self.below if not it.kind.isupper())

    def terminal(self, kind: str) -> Node | None:
        """The first terminal below of a kind."""
        return next((it for it in self.below if it.kind == kind), None)

    @property
    def name(self) -> str:
        """The name that a statement or a binding gives."""
        it = self.terminal("NAME")
        assert it is not None
        return it.text

    @property
    def depth(self) -> int:
        """How many operators are on top of each other; a name has none."""
        levels, level = 0, self.below
        while level:
            levels, level = levels + 1, tuple(it for each in level for it in each.below)
        return levels

    def refused(self) -> Iterator[Problem]:
        """The outermost constructs in it that we do not support."""
        waiting = [self]
        while waiting:
            it = waiting.pop()
            if it.kind in REFUSED:
                yield unsupported(it.span, REFUSED[it.kind])
            else:
                waiting += reversed(it.below)


def unsupported(span: Span, construct: str) -> Problem:
    """What is said of a construct of herd's that we do not support."""
    message = f"{construct} is not supported by this version"
    hint = "docs/cat-fragment.md lists what is"
    return Problem(span, message, hint, severity=Severity.UNSUPPORTED)


def parse(source: Source) -> Node:
    """The syntax of a file. Raises InputError at the first place where it is not one."""
    text = blank_comments(source)
    tree = LANGUAGE.parse(source, text)
    if isinstance(tree, Mistake):
        raise InputError([_misspelt(source, text, tree) or _problem(source, tree)])
    return _Nodes(source).build(tree)


def blank_comments(source: Source) -> str:
    """The text with blanks in place of comments, `(* … *)`, which nest, `// …` and `# …`.

    Every position stays what it was. Raises InputError where a comment does not end.
    """
    text = source.text
    parts: list[str] = []
    done = 0
    while (token := _COMMENTED.search(text, done)) is not None:
        end = _end_of_comment(source, token.start()) if token[0] == "(*" else token.end()
        parts.append(text[done : token.start()])
        parts.append(token[0] if token[0].startswith('"') else blanked(text[token.start() : end]))
        done = end
    return "".join([*parts, text[done:]])


def _end_of_comment(source: Source, start: int) -> int:
    depth = 0
    for token in _BRACKET.finditer(source.text, start):
        depth += 1 if token[0] == "(*" else -1
        if depth == 0:
            return token.end()
    message = "a comment must end with *), and this one does not end"
    raise InputError([Problem(sign_at(source, start), message)])


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


def _problem(source: Source, mistake: Mistake) -> Problem:
    span, found = mistake.span, mistake.found
    if mistake.terminal == END:
        found = "the end of the file"
        lines = source.text.splitlines() or [""]
        column = len(lines[-1]) + 1
        span = Span(source, len(lines), column, len(lines), column + 1)
    wanted = "a statement (`let x = …`, `acyclic x as X`) or the rest of its expression"
    return Problem(span, f"a .cat file must have here {wanted}, not {found}")


class _Nodes(Builder[Node]):
    """Makes nodes of the rules, but for those that mean the same as another."""

    def _other(self, rule: str, place: Place | None, parts: Children) -> Node:
        return Node(rule, self._span(place), tuple(map(self._node, parts)))

    def _node(self, part: Node | Token) -> Node:
        if isinstance(part, Token):
            return Node(part.type, self._span(part), text=str(part))
        return part

    def start(self, meta: Place, *parts: Node) -> Node:
        return Node("start", Span(self._source, 1, 1, 1, 2), parts)

    def bracketed(self, meta: Place, inner: Node) -> Node:
        return inner

    def name(self, meta: Place, token: Token) -> Node:
        return Node("name", self._span(meta), text=str(token))

    def application(self, meta: Place, function: Node, given: Node) -> Node:
        arguments = given.below if given.kind == "tuple_" else (given,)
        return Node("application", self._span(meta), (function, *arguments))

    def let_rec(self, meta: Place, *bindings: Node) -> Node:
        below = (
            Node("recursive_function", it.span, it.below) if it.kind == "function" else it
            for it in bindings
        )
        return Node("let_rec", self._span(meta), tuple(below))

    def axiom(self, meta: Place, *parts: Node | Token) -> Node:
        kind = "assert" if parts[0] == "assert" else "axiom"
        return self._other(kind, meta, [*parts])
