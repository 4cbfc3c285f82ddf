"""From lark's parse tree to the syntax tree of tree.py: one method per rule of grammar.lark."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from lark import Token, v_args
from lark.tree import Meta

from rspverify.grammar import Builder, Children
from rspverify.litmus import tree
from rspverify.source import Span

_AS_WRITTEN: Mapping[str, Callable[..., tree.Node]] = {
    "atom": tree.Claim,
    "assign": tree.Assign,
    "branch": tree.Branch,
    "condition": tree.FinalCondition,
    "conditional": tree.Conditional,
    "evaluate": tree.Evaluate,
    "infix": tree.Infix,
    "prefix": tree.Prefix,
    "watched": tree.Watched,
}
"""The rules whose parts are those of their nodes, in the same order."""


@v_args(meta=True)
class TreeBuilder(Builder[tree.Test]):
    """Turns the parse tree of one source into its Test; nothing is checked here."""

    def __default__(self, data: str, children: Children, meta: Meta) -> tree.Node:
        parts = (str(each) if isinstance(each, Token) else each for each in children)
        return _AS_WRITTEN[data](self._span(meta), *parts)

    def NAME(self, token: Token) -> tree.Name:  # noqa: N802
        return tree.Name(self._span(token), str(token))

    TYPE = REGION = QUALIFIER = NAME

    def INT(self, token: Token) -> tree.Integer:  # noqa: N802
        return tree.Integer(self._span(token), str(token))

    def brackets(self, meta: Meta, children: Children) -> Any:
        return children[0]

    integer = name = place = specifier = brackets

    # ---- the test ----------------------------------------------------------------------------

    def start(self, meta: Meta, children: Children) -> tree.Test:
        header, condition = children[0], children[-1]
        parts = [each for each in children[1:-1] if not isinstance(each, Token)]
        (span, entries), items = parts[0], parts[1:]
        unsupported = [each for each in (*entries, *items) if isinstance(each, tree.Unsupported)]
        word, *title = header.split()
        return tree.Test(
            span,
            "C" if word.lower() == "c" else "OpenCL",
            " ".join(title),
            tuple(each for each in entries if isinstance(each, tree.Entry)),
            tuple(each for each in entries if isinstance(each, tree.RegisterEntry)),
            tuple(each for each in items if isinstance(each, tree.ThreadText)),
            tuple(each for each in items if isinstance(each, tree.ScopeTree)),
            tuple(it for each in items if isinstance(each, list) for it in each),
            tuple(unsupported),
            condition,
        )

    def initial(self, meta: Meta, children: Children) -> tuple[Span, Children]:
        return self._span(meta), [each for each in children if each is not None]

    def entry(self, meta: Meta, children: Children) -> tree.Entry:
        *specifiers, name, value = children
        return tree.Entry(self._span(meta), tuple(specifiers), name, value)

    named_entry = entry

    def bare_entry(self, meta: Meta, children: Children) -> tree.Entry:
        return self.entry(meta, [*children, None])

    bare_named_entry = bare_entry

    def array_entry(self, meta: Meta, children: Children) -> tree.Unsupported:
        return tree.Unsupported(self._span(meta), "an array", ())

    def register_entry(self, meta: Meta, children: Children) -> tree.RegisterEntry:
        return tree.RegisterEntry(self._span(meta), *children[-3:])

    def value(self, meta: Meta, children: Children) -> tree.Integer | tree.Name:
        value: tree.Integer | tree.Name = children[-1]
        negative = len(children) == 2 and children[0] is not None
        return tree.Integer(self._span(meta), f"-{value.text}") if negative else value

    def macro(self, meta: Meta, children: Children) -> tree.Name:
        return tree.Name(self._span(meta), f"{children[0].text}(...)")

    def thread(self, meta: Meta, children: Children) -> tree.ThreadText:
        name, at, *parameters, body = children
        given = tuple(each for each in parameters if each is not None)
        return tree.ThreadText(self._span(meta), name, at, given, body)

    def at(self, meta: Meta, children: Children) -> tree.At:
        first, one, second, other = children
        return tree.At(self._span(meta), ((first, one), (second, other)))

    def parameter(self, meta: Meta, children: Children) -> tree.Parameter:
        *specifiers, name = (each for each in children if isinstance(each, tree.Name))
        pointer = any(isinstance(each, Token) for each in children)
        return tree.Parameter(self._span(meta), tuple(specifiers), pointer, name)

    def scope_tree(self, meta: Meta, children: Children) -> tree.ScopeTree:
        return tree.ScopeTree(self._span(children[0]), tuple(_flat(children[1:])))

    def scope_brackets(self, meta: Meta, children: Children) -> list[tree.ScopeNode]:
        return _flat(children)

    def scope_level(self, meta: Meta, children: Children) -> tree.ScopeNode:
        level, *below = children
        return tree.ScopeNode(self._span(meta), level, tuple(_flat(below)))

    def locations(self, meta: Meta, children: Children) -> list[tree.Watched]:
        return [each for each in children if each is not None]

    def filter(self, meta: Meta, children: Children) -> tree.Unsupported:
        hint = "make it a part of the final condition"
        return tree.Unsupported(self._span(children[0]), "filter", (), hint)

    # ---- statements --------------------------------------------------------------------------

    def block(self, meta: Meta, children: Children) -> tree.Block:
        return tree.Block(self._span(meta), tuple(children))

    empty = block

    def declaration(self, meta: Meta, children: Children) -> tree.Declaration:
        specifiers = tuple(each for each in children if isinstance(each, tree.Name))
        declarators = tuple(each for each in children if isinstance(each, tree.Declarator))
        return tree.Declaration(self._span(meta), specifiers, declarators)

    def declarator(self, meta: Meta, children: Children) -> tree.Declarator:
        *stars, name, value = children
        return tree.Declarator(self._span(meta), bool(stars), name, value)

    def while_loop(self, meta: Meta, children: Children) -> tree.Loop:
        word, condition, body = children
        return tree.Loop(self._span(word), (), condition, (), body, True)

    def do_loop(self, meta: Meta, children: Children) -> tree.Loop:
        word, body, condition = children
        return tree.Loop(self._span(word), (), condition, (), body, False)

    def for_loop(self, meta: Meta, children: Children) -> tree.Loop:
        word, start, condition, steps, body = children
        return tree.Loop(self._span(word), start, condition, steps, body, True)

    def for_start(self, meta: Meta, children: Children) -> tuple[tree.Statement, ...]:
        return tuple(_statement(each) for each in children if each is not None)

    for_step = for_start

    def switch(self, meta: Meta, children: Children) -> tree.Unsupported:
        return self._construct(children[0], "switch", children[1:])

    def jump(self, meta: Meta, children: Children) -> tree.Jump:
        return tree.Jump(self._span(children[0]), str(children[0]))

    def return_(self, meta: Meta, children: Children) -> tree.Return:
        word, value = children
        return tree.Return(self._span(word), value)

    def goto(self, meta: Meta, children: Children) -> tree.Unsupported:
        return self._construct(children[0], "goto", [])

    def label(self, meta: Meta, children: Children) -> tree.Labelled:
        name, statement = children
        return tree.Labelled(name.span, name, statement)

    def case(self, meta: Meta, children: Children) -> tree.Unsupported:
        return self._construct(children[0], str(children[0]), children[1:])

    def _construct(self, word: Token, construct: str, parts: Children) -> tree.Unsupported:
        return tree.Unsupported(
            self._span(word), construct, tuple(_statement(each) for each in parts if each)
        )

    # ---- expressions -------------------------------------------------------------------------

    def dereference(self, meta: Meta, children: Children) -> tree.Dereference:
        return tree.Dereference(self._span(meta), children[-1])

    def call(self, meta: Meta, children: Children) -> tree.Call:
        function, *arguments = children
        given = tuple(each for each in arguments if each is not None)
        return tree.Call(self._span(meta), function, given)

    def division(self, meta: Meta, children: Children) -> tree.Unsupported:
        left, operator, right = children
        construct = "division (`/`)" if operator == "/" else "the remainder (`%`)"
        return tree.Unsupported(self._span(meta), construct, (left, right))

    def update(self, meta: Meta, children: Children) -> tree.Update | tree.Unsupported:
        target, operator, value = children
        if operator[0] in "/%":
            construct = f"the assignment `{operator}`"
            return tree.Unsupported(self._span(meta), construct, (target, value))
        return tree.Update(self._span(meta), target, operator[:-1], value)

    def step(self, meta: Meta, children: Children) -> tree.Update:
        operator = next(each for each in children if isinstance(each, Token))
        (target,) = (each for each in children if not isinstance(each, Token))
        one = tree.Integer(self._span(operator), "1")
        return tree.Update(self._span(meta), target, operator[0], one, True)

    # ---- the final condition -----------------------------------------------------------------

    def quantifier(self, meta: Meta, children: Children) -> str:
        return "~exists" if len(children) == 2 else str(children[0])

    def conjunction(self, meta: Meta, children: Children) -> tree.FormulaText:
        return tree.Joint(self._span(meta), True, tuple(children))

    def disjunction(self, meta: Meta, children: Children) -> tree.FormulaText:
        return tree.Joint(self._span(meta), False, tuple(children))

    def negation(self, meta: Meta, children: Children) -> tree.FormulaText:
        return tree.Denial(self._span(meta), children[1])

    def truth(self, meta: Meta, children: Children) -> tree.FormulaText:
        return tree.Joint(self._span(meta), True, ())

    def falsity(self, meta: Meta, children: Children) -> tree.FormulaText:
        return tree.Joint(self._span(meta), False, ())

    def relation(self, meta: Meta, children: Children) -> bool:
        return not children or children[0] != "!="


def _statement(part: tree.Expression | tree.Statement) -> tree.Statement:
    """A part of an unsupported statement or of the head of a loop, as a statement."""
    return part if isinstance(part, tree.Statement) else tree.Evaluate(part.span, part)


def _flat(nodes: Children) -> Children:
    """Nodes of a scope tree, without the brackets that say nothing."""
    return [each for node in nodes for each in (node if isinstance(node, list) else (node,))]
