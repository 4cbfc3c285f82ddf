"""From lark's parse tree to the syntax tree of tree.py: one method per rule of grammar.lark."""

from __future__ import annotations

from typing import Any

from lark import Token, v_args
from lark.tree import Meta

from rspverify.grammar import Builder, Children
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
    Jump,
    Labelled,
    Loop,
    Name,
    Parameter,
    Prefix,
    RegisterEntry,
    Return,
    ScopeNode,
    ScopeTree,
    Statement,
    Test,
    ThreadText,
    Unsupported,
    Update,
    Watched,
)
from rspverify.source import Span


@v_args(meta=True)
class TreeBuilder(Builder[Test]):
    """Turns the parse tree of one source into its Test; nothing is checked here."""

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
        word, *title = header.split()
        return Test(
            span,
            "C" if word.lower() == "c" else "OpenCL",
            " ".join(title),
            tuple(each for each in entries if isinstance(each, Entry)),
            tuple(each for each in entries if isinstance(each, RegisterEntry)),
            tuple(each for each in items if isinstance(each, ThreadText)),
            tuple(each for each in items if isinstance(each, ScopeTree)),
            tuple(it for each in items if isinstance(each, list) for it in each),
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

    def named_entry(self, meta: Meta, children: Children) -> Entry:
        word, name, value = children
        return Entry(self._span(meta), (self._name(word),), self._name(name), value)

    def bare_named_entry(self, meta: Meta, children: Children) -> Entry:
        word, name = children
        return Entry(self._span(meta), (self._name(word),), self._name(name), None)

    def array_entry(self, meta: Meta, children: Children) -> Unsupported:
        return Unsupported(self._span(meta), "an array", ())

    def register_entry(self, meta: Meta, children: Children) -> RegisterEntry:
        owner, name, value = children[-3:]
        return RegisterEntry(self._span(meta), self._owner(owner), self._name(name), value)

    def _owner(self, token: Token) -> Name | Integer:
        return self._integer(token) if token.type == "INT" else self._name(token)

    def place(self, meta: Meta, children: Children) -> Name:
        return self._name(children[0])

    def value(self, meta: Meta, children: Children) -> Integer | Name:
        minus, token = children if len(children) == 2 else (None, children[0])
        if token.type == "NAME":
            return self._name(token)
        return Integer(self._span(meta), f"-{token}" if minus else str(token))

    def macro(self, meta: Meta, children: Children) -> Name:
        return Name(self._span(meta), f"{children[0]}(...)")

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
        return ScopeTree(self._span(children[0]), tuple(_flat(children[1:])))

    def scope_brackets(self, meta: Meta, children: Children) -> list[ScopeNode]:
        return _flat(children)

    def scope_level(self, meta: Meta, children: Children) -> ScopeNode:
        level, *below = children
        parts = _flat(below)
        nodes = (self._name(each) if isinstance(each, Token) else each for each in parts)
        return ScopeNode(self._span(meta), self._name(level), tuple(nodes))

    def locations(self, meta: Meta, children: Children) -> list[Watched]:
        return [each for each in children if each is not None]

    def watched(self, meta: Meta, children: Children) -> Watched:
        owner, name = children
        return Watched(self._span(meta), self._owner(owner) if owner is not None else None, name)

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

    def while_loop(self, meta: Meta, children: Children) -> Loop:
        word, condition, body = children
        return Loop(self._span(word), (), condition, (), body, True)

    def do_loop(self, meta: Meta, children: Children) -> Loop:
        word, body, condition = children
        return Loop(self._span(word), (), condition, (), body, False)

    def for_loop(self, meta: Meta, children: Children) -> Loop:
        word, start, condition, steps, body = children
        return Loop(self._span(word), start, condition, steps, body, True)

    def for_start(self, meta: Meta, children: Children) -> tuple[Statement, ...]:
        return tuple(_statement(each) for each in children if each is not None)

    for_step = for_start

    def switch(self, meta: Meta, children: Children) -> Unsupported:
        return self._construct(children[0], "switch", children[1:])

    def jump(self, meta: Meta, children: Children) -> Jump:
        return Jump(self._span(children[0]), str(children[0]))

    def return_(self, meta: Meta, children: Children) -> Return:
        word, value = children
        return Return(self._span(word), value)

    def goto(self, meta: Meta, children: Children) -> Unsupported:
        return self._construct(children[0], "goto", [])

    def label(self, meta: Meta, children: Children) -> Labelled:
        token, statement = children
        return Labelled(self._span(token), self._name(token), statement)

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

    def update(self, meta: Meta, children: Children) -> Update | Unsupported:
        target, operator, value = children
        if operator[0] in "/%":
            construct = f"the assignment `{operator}`"
            return Unsupported(self._span(meta), construct, (target, value))
        return Update(self._span(meta), target, operator[:-1], value)

    def step(self, meta: Meta, children: Children) -> Update:
        operator = next(each for each in children if isinstance(each, Token))
        (target,) = (each for each in children if not isinstance(each, Token))
        one = Integer(self._span(operator), "1")
        return Update(self._span(meta), target, operator[0], one, True)

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
        thread = self._owner(owner) if owner is not None else None
        return Claim(self._span(meta), thread, name, equal, value)

    def relation(self, meta: Meta, children: Children) -> bool:
        return not children or children[0] != "!="


def _statement(part: Expression | Statement) -> Statement:
    """A part of an unsupported statement or of the head of a loop, as a statement."""
    return part if isinstance(part, Statement) else Evaluate(part.span, part)


def _flat(nodes: Children) -> Children:
    """Nodes of a scope tree, without the brackets that say nothing."""
    return [each for node in nodes for each in (node if isinstance(node, list) else (node,))]
