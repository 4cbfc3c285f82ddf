"""From lark's parse tree to the syntax tree of tree.py: one method per rule of grammar.lark."""

from __future__ import annotations

from typing import Any

from lark import Token, Transformer, v_args
from lark.tree import Meta

from rspverify.litmus.tree import (
    Assign,
    At,
    Block,
    Branch,
    Call,
    Claim,
    Conditional,
    Declaration,
    Declarator,
    Denial,
    Dereference,
    Entry,
    Evaluate,
    Expression,
    FinalCondition,
    FormulaText,
    Infix,
    Integer,
    Joint,
    Name,
    Parameter,
    Prefix,
    ScopeNode,
    ScopeTree,
    Statement,
    Test,
    ThreadText,
    Unsupported,
)
from rspverify.source import Source, Span

Children = list[Any]
"""What the rule's parts have become: nodes, tokens, and None for optional parts left out."""


@v_args(meta=True)
class TreeBuilder(Transformer[Token, Test]):
    """Turns the parse tree of one source into its Test; nothing is checked here."""

    def __init__(self, source: Source) -> None:
        super().__init__()
        self._source = source

    def _span(self, place: Meta | Token) -> Span:
        line, column = place.line or 1, place.column or 1
        return Span(self._source, line, column, place.end_line or line, place.end_column or column)

    def _name(self, token: Token) -> Name:
        return Name(self._span(token), str(token))

    def _integer(self, token: Token) -> Integer:
        return Integer(self._span(token), str(token))

    # ---- the test ----------------------------------------------------------------------------

    def start(self, meta: Meta, children: Children) -> Test:
        header, condition = children[0], children[-1]
        parts = [each for each in children[1:-1] if not isinstance(each, Token)]
        (span, entries), items = parts[0], parts[1:]
        unsupported = [each for each in (*entries, *items) if isinstance(each, Unsupported)]
        return Test(
            span,
            " ".join(header.split()[1:]),
            tuple(each for each in entries if isinstance(each, Entry)),
            tuple(each for each in items if isinstance(each, ThreadText)),
            tuple(each for each in items if isinstance(each, ScopeTree)),
            tuple(unsupported),
            condition,
        )

    def initial(self, meta: Meta, children: Children) -> tuple[Span, Children]:
        return self._span(meta), [each for each in children if each is not None]

    def entry(self, meta: Meta, children: Children) -> Entry:
        *specifiers, name, value = children
        return Entry(self._span(meta), tuple(specifiers), name, value)

    def bare_entry(self, meta: Meta, children: Children) -> Entry:
        *specifiers, token = children
        return Entry(self._span(meta), tuple(specifiers), self._name(token), None)

    def register_entry(self, meta: Meta, children: Children) -> Unsupported:
        hint = "assign the register at the beginning of its thread"
        return Unsupported(self._span(meta), "an initial value of a register", (), hint)

    def place(self, meta: Meta, children: Children) -> Name:
        return self._name(children[0])

    def value(self, meta: Meta, children: Children) -> Integer | Name:
        minus, token = children if len(children) == 2 else (None, children[0])
        if token.type == "NAME":
            return self._name(token)
        return Integer(self._span(meta), f"-{token}" if minus else str(token))

    def specifier(self, meta: Meta, children: Children) -> Name:
        return self._name(children[0])

    def thread(self, meta: Meta, children: Children) -> ThreadText:
        token, at, *parameters, body = children
        given = tuple(each for each in parameters if each is not None)
        return ThreadText(self._span(meta), self._name(token), at, given, body)

    def at(self, meta: Meta, children: Children) -> At:
        first, one, second, other = children
        pairs = ((first, one), (second, other))
        numbers = tuple((self._name(word), self._integer(number)) for word, number in pairs)
        return At(self._span(meta), numbers)

    def parameter(self, meta: Meta, children: Children) -> Parameter:
        specifiers = tuple(each for each in children if isinstance(each, Name))
        pointer = any(isinstance(each, Token) and each.type == "STAR" for each in children)
        return Parameter(self._span(meta), specifiers, pointer, self._name(children[-1]))

    def scope_tree(self, meta: Meta, children: Children) -> ScopeTree:
        return ScopeTree(self._span(children[0]), tuple(children[1:]))

    def scope_node(self, meta: Meta, children: Children) -> ScopeNode:
        level, *below = children
        nodes = (self._name(each) if isinstance(each, Token) else each for each in below)
        return ScopeNode(self._span(meta), self._name(level), tuple(nodes))

    def locations(self, meta: Meta, children: Children) -> None:
        return None

    def filter(self, meta: Meta, children: Children) -> Unsupported:
        hint = "make it a part of the final condition"
        return Unsupported(self._span(children[0]), "filter", (), hint)

    # ---- statements --------------------------------------------------------------------------

    def block(self, meta: Meta, children: Children) -> Block:
        return Block(self._span(meta), tuple(children))

    def empty(self, meta: Meta, children: Children) -> Block:
        return Block(self._span(meta), ())

    def evaluate(self, meta: Meta, children: Children) -> Evaluate:
        return Evaluate(self._span(meta), children[0])

    def branch(self, meta: Meta, children: Children) -> Branch:
        condition, then, otherwise = children
        return Branch(self._span(meta), condition, then, otherwise)

    def declaration(self, meta: Meta, children: Children) -> Declaration:
        specifiers = tuple(each for each in children if isinstance(each, Name))
        declarators = tuple(each for each in children if isinstance(each, Declarator))
        return Declaration(self._span(meta), specifiers, declarators)

    def declarator(self, meta: Meta, children: Children) -> Declarator:
        *stars, token, value = children
        return Declarator(self._span(meta), bool(stars), self._name(token), value)

    def loop(self, meta: Meta, children: Children) -> Unsupported:
        word, *parts = children
        construct = "switch" if word == "switch" else f"a {word} loop"
        return self._construct(word, construct, parts)

    def jump(self, meta: Meta, children: Children) -> Unsupported:
        return self._construct(children[0], str(children[0]), children[1:])

    def goto(self, meta: Meta, children: Children) -> Unsupported:
        return self._construct(children[0], "goto", [])

    def label(self, meta: Meta, children: Children) -> Unsupported:
        return self._construct(children[0], "a label", children[1:])

    def case(self, meta: Meta, children: Children) -> Unsupported:
        return self._construct(children[0], str(children[0]), children[1:])

    def _construct(self, word: Token, construct: str, parts: Children) -> Unsupported:
        return Unsupported(
            self._span(word), construct, tuple(_statement(each) for each in parts if each)
        )

    # ---- expressions -------------------------------------------------------------------------

    def brackets(self, meta: Meta, children: Children) -> Any:
        return children[0]

    def integer(self, meta: Meta, children: Children) -> Integer:
        return self._integer(children[0])

    def name(self, meta: Meta, children: Children) -> Name:
        return self._name(children[0])

    def dereference(self, meta: Meta, children: Children) -> Dereference:
        return Dereference(self._span(meta), children[-1])

    def prefix(self, meta: Meta, children: Children) -> Prefix:
        return Prefix(self._span(meta), str(children[0]), children[1])

    def infix(self, meta: Meta, children: Children) -> Infix:
        left, operator, right = children
        return Infix(self._span(meta), str(operator), left, right)

    def conditional(self, meta: Meta, children: Children) -> Conditional:
        condition, then, otherwise = children
        return Conditional(self._span(meta), condition, then, otherwise)

    def assign(self, meta: Meta, children: Children) -> Assign:
        target, value = children
        return Assign(self._span(meta), target, value)

    def call(self, meta: Meta, children: Children) -> Call:
        token, *arguments = children
        given = tuple(each for each in arguments if each is not None)
        return Call(self._span(meta), self._name(token), given)

    def division(self, meta: Meta, children: Children) -> Unsupported:
        left, operator, right = children
        construct = "division (`/`)" if operator == "/" else "the remainder (`%`)"
        return Unsupported(self._span(meta), construct, (left, right))

    def update(self, meta: Meta, children: Children) -> Unsupported:
        target, operator, value = children
        hint = f"write r = r {operator[:-1]} e"
        return Unsupported(self._span(meta), f"the assignment `{operator}`", (target, value), hint)

    def step(self, meta: Meta, children: Children) -> Unsupported:
        operator = next(each for each in children if isinstance(each, Token))
        parts = tuple(each for each in children if not isinstance(each, Token))
        hint = f"write r = r {operator[0]} 1"
        return Unsupported(self._span(meta), f"the operator `{operator}`", parts, hint)

    # ---- the final condition -----------------------------------------------------------------

    def condition(self, meta: Meta, children: Children) -> FinalCondition:
        quantifier, formula = children
        return FinalCondition(self._span(meta), quantifier, formula)

    def quantifier(self, meta: Meta, children: Children) -> str:
        return "~exists" if len(children) == 2 else str(children[0])

    def conjunction(self, meta: Meta, children: Children) -> FormulaText:
        return Joint(self._span(meta), True, tuple(children))

    def disjunction(self, meta: Meta, children: Children) -> FormulaText:
        return Joint(self._span(meta), False, tuple(children))

    def negation(self, meta: Meta, children: Children) -> FormulaText:
        return Denial(self._span(meta), children[1])

    def truth(self, meta: Meta, children: Children) -> FormulaText:
        return Joint(self._span(meta), True, ())

    def falsity(self, meta: Meta, children: Children) -> FormulaText:
        return Joint(self._span(meta), False, ())

    def atom(self, meta: Meta, children: Children) -> FormulaText:
        owner, name, equal, value = children
        if owner is not None:
            owner = self._integer(owner) if owner.type == "INT" else self._name(owner)
        return Claim(self._span(meta), owner, name, equal, value)

    def relation(self, meta: Meta, children: Children) -> bool:
        return not children or children[0] != "!="


def _statement(part: Expression | Statement) -> Statement:
    """A part of an unsupported statement, as a statement."""
    if isinstance(part, Block | Evaluate | Branch | Declaration | Unsupported):
        return part
    return Evaluate(part.span, part)
