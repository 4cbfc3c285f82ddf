"""From lark's parse tree to the syntax tree of tree.py: methods for rules with other parts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeVar

from rspverify.grammar import Builder, Made
from rspverify.lalr import Place, Token
from rspverify.litmus import tree
from rspverify.litmus.dialects import DIALECTS
from rspverify.source import Span

_LANGUAGES = {it.lower(): it for it in ("C", "OpenCL", *DIALECTS)}
"""Languages by the first word of a test."""

Kind = TypeVar("Kind")


class TreeBuilder(Builder[Made]):
    """Turns the parse tree of one source into its Test; nothing is checked here.

    What a rule leaves out is None among its parts.
    """

    nodes = tree

    def NAME(self, token: Token) -> tree.Name:  # noqa: N802
        return tree.Name(self._span(token), str(token))

    TYPE = REGION = QUALIFIER = NAME

    def INT(self, token: Token) -> tree.Integer:  # noqa: N802
        return tree.Integer(self._span(token), str(token))

    def brackets(self, meta: Place, inner: Any) -> Any:
        return inner

    integer = name = place = specifier = brackets

    # ---- the test ----------------------------------------------------------------------------

    def start(self, meta: Place, header: Token, *children: Any) -> Any:
        kinds = {
            "threads": tree.ThreadText,
            "functions": tree.FunctionText,
            "launches": tree.Launch,
            "scope_trees": tree.ScopeTree,
            "unsupported": tree.Unsupported,
        }
        return self._test(tree.Test, header, children, kinds)

    def _test(
        self, made: type, header: Token, children: Iterable[Any], kinds: Mapping[str, type]
    ) -> Any:
        """A test: what all have, and its other parts by their kinds."""
        (span, entries), *items = (it for it in children if not isinstance(it, Token))
        word, *title = header.split()
        conditions = _those(tree.FinalCondition, items)
        condition = conditions[0] if conditions else None
        given = None
        for it in _those(Filter, items):
            condition, given = it.of(condition), it.formula
        return made(
            span,
            _LANGUAGES[word.lower()],
            " ".join(title),
            _those(tree.Entry, entries),
            _those(tree.Claim, entries),
            tuple(it for each in items if isinstance(each, list) for it in each),
            condition,
            given,
            **{name: _those(kind, [*entries, *items]) for name, kind in kinds.items()},
        )

    def initial(self, meta: Place, *entries: Any) -> tuple[Span, Sequence[Any]]:
        return self._span(meta), entries

    def entry(self, meta: Place, *parts: Any) -> tree.Entry:
        *specifiers, name, value = parts
        return tree.Entry(self._span(meta), tuple(specifiers), name, value)

    named_entry = entry

    def bare_entry(self, meta: Place, *parts: tree.Name) -> tree.Entry:
        return self.entry(meta, *parts, None)

    bare_named_entry = bare_entry

    def array_entry(self, meta: Place, *parts: Any) -> tree.Entry:
        *specifiers, name, size, values = parts
        span = name.span if size is None else size.span
        shown = tree.Size(span, size)
        return tree.Entry(self._span(meta), tuple(specifiers), name, None, shown, values or ())

    element_entry = entry

    def element(self, meta: Place, array: tree.Name, index: tree.Integer) -> tree.Name:
        number = index.text
        shown = str(int(number)) if number.isdecimal() and len(number) < 10 else number
        return tree.Name(self._span(meta), f"{array.text}[{shown}]")

    def register_entry(self, meta: Place, *parts: Any) -> tree.Claim:
        *_, owner, name, value = parts
        return tree.Claim(self._span(meta), owner, name, True, value)

    def value(self, meta: Place, *parts: Any) -> tree.Integer | tree.Name:
        value: tree.Integer | tree.Name = parts[-1]
        negative = len(parts) == 2 and parts[0] is not None
        return tree.Integer(self._span(meta), f"-{value.text}") if negative else value

    def macro(self, meta: Place, name: tree.Name, value: tree.Node) -> tree.Name:
        return tree.Name(self._span(meta), f"{name.text}(...)")

    def KERNEL(self, token: Token) -> bool:  # noqa: N802
        return True

    def parameter(
        self, meta: Place, *parts: tree.Name | tree.Size | Token | None
    ) -> tree.Parameter:
        *specifiers, name = _those(tree.Name, parts)
        size = next(iter(_those(tree.Size, parts)), None)
        pointer = size is not None or any(isinstance(each, Token) for each in parts)
        return tree.Parameter(self._span(meta), tuple(specifiers), pointer, name, size)

    def scope_tree(self, meta: Place, word: Token, *nodes: Any) -> tree.ScopeTree:
        return tree.ScopeTree(self._span(word), tuple(_flat(nodes)))

    def scope_brackets(self, meta: Place, *nodes: Any) -> list[tree.ScopeNode]:
        return _flat(nodes)

    def scope_level(self, meta: Place, level: tree.Name, *below: Any) -> tree.ScopeNode:
        return tree.ScopeNode(self._span(meta), level, tuple(_flat(below)))

    def locations(self, meta: Place, *watched: Any) -> list[tree.Watched]:
        return [each for each in watched if each is not None]

    def filter(self, meta: Place, word: Token, formula: tree.FormulaText) -> Filter:
        return Filter(self._span(meta), formula)

    # ---- statements --------------------------------------------------------------------------

    def declaration(self, meta: Place, *parts: Any) -> tree.Declaration:
        *specifiers, declarators = parts
        return tree.Declaration(self._span(meta), tuple(specifiers), declarators)

    def declarator(self, meta: Place, *parts: Any) -> tree.Declarator:
        *stars, name, value = parts
        return tree.Declarator(self._span(meta), bool(stars), name, value)

    def while_loop(self, meta: Place, word: Token, condition: Any, body: Any) -> tree.Loop:
        return tree.Loop(self._span(word), (), condition, (), body, True)

    def do_loop(self, meta: Place, word: Token, body: Any, condition: Any) -> tree.Loop:
        return tree.Loop(self._span(word), (), condition, (), body, False)

    def for_loop(self, meta: Place, word: Token, *parts: Any) -> tree.Loop:
        start, condition, steps, body = parts
        return tree.Loop(self._span(word), start, condition, steps, body, True)

    def for_start(self, meta: Place, *parts: Any) -> tuple[tree.Statement, ...]:
        return tuple(_statement(each) for each in parts if each is not None)

    for_step = for_start

    def switch(self, meta: Place, word: Token, *parts: Any) -> tree.Unsupported:
        return tree.Unsupported(self._span(word), str(word), self.for_start(meta, *parts))

    case = switch

    def goto(self, meta: Place, word: Token, label: tree.Name) -> tree.Unsupported:
        return self.switch(meta, word)

    def jump(self, meta: Place, word: Token) -> tree.Jump:
        return tree.Jump(self._span(word), str(word))

    def return_(self, meta: Place, word: Token, value: tree.Expression | None) -> tree.Return:
        return tree.Return(self._span(word), value)

    # ---- expressions -------------------------------------------------------------------------

    def division(self, meta: Place, left: Any, operator: Token, right: Any) -> tree.Unsupported:
        construct = "division (`/`)" if operator == "/" else "the remainder (`%`)"
        return tree.Unsupported(self._span(meta), construct, (left, right))

    def update(self, meta: Place, target: Any, operator: Token, value: Any) -> tree.Node:
        if operator[0] in "/%":
            construct = f"the assignment `{operator}`"
            return tree.Unsupported(self._span(meta), construct, (target, value))
        return tree.Update(self._span(meta), target, operator[:-1], value)

    def step(self, meta: Place, *parts: Any) -> tree.Update:
        target, operator = sorted(parts, key=lambda each: isinstance(each, Token))
        one = tree.Integer(self._span(operator), "1")
        return tree.Update(self._span(meta), target, operator[0], one, True)

    # ---- the final condition -----------------------------------------------------------------

    def quantifier(self, meta: Place, *words: Token) -> str:
        return "~exists" if len(words) == 2 else str(words[0])

    def conjunction(self, meta: Place, *parts: tree.FormulaText) -> tree.FormulaText:
        return tree.Joint(self._span(meta), True, parts)

    def disjunction(self, meta: Place, *parts: tree.FormulaText) -> tree.FormulaText:
        return tree.Joint(self._span(meta), False, parts)

    def truth(self, meta: Place, word: Token | None = None) -> tree.FormulaText:
        return tree.Joint(self._span(meta), True, ())

    def falsity(self, meta: Place, word: Token) -> tree.FormulaText:
        return tree.Joint(self._span(meta), False, ())

    def relation(self, meta: Place, sign: str = "=") -> bool:
        return sign != "!="


class Filter(tree.Node, frozen=True):
    """`filter formula`: the final states of which the condition speaks."""

    formula: tree.FormulaText

    def of(self, it: tree.FinalCondition | None) -> tree.FinalCondition:
        """A condition that speaks of these alone; without one, whether there are any."""
        if it is None:
            return tree.FinalCondition(self.span, "exists", self.formula)
        given = self.formula
        if it.quantifier == "forall":
            given = tree.Denial(self.span, given)
        both = tree.Joint(it.formula.span, it.quantifier != "forall", (given, it.formula))
        return tree.FinalCondition(it.span, it.quantifier, both)


class ColumnsBuilder(TreeBuilder[tree.Columns]):
    """Turns the parse tree of a test in assembly into its Columns."""

    DOTTED = TreeBuilder.NAME
    immediate = operand = cell = TreeBuilder.brackets

    def instruction_text(
        self, meta: Place, lock: Token | None, name: tree.Name, operands: Any
    ) -> tree.InstructionText:
        if lock is not None:
            name = tree.Name(self._span(meta), f"{lock} {name.text}")
        return tree.InstructionText(self._span(meta), name, operands)

    def bracketed(self, meta: Place, *parts: tree.Name | tree.Integer) -> tree.Joined:
        return tree.Joined(self._span(meta), f"[{','.join(it.text for it in parts)}]", parts)

    def displaced(self, meta: Place, by: tree.Integer | None, name: tree.Name) -> tree.Joined:
        number = "0" if by is None else by.text
        return tree.Joined(self._span(meta), f"{number}({name.text})", (name,))

    def register_entry(self, meta: Place, *parts: Any) -> tree.Claim:
        _, owner, name, value = parts
        value = value or tree.Integer(name.span, "0")
        return tree.Claim(self._span(meta), owner, name, True, value)

    def alias(self, meta: Place, *parts: Any) -> tree.Alias:
        name, proxy, _, of = parts
        return tree.Alias(self._span(meta), name, proxy, of)

    def synchronised(self, meta: Place, *pairs: tree.Synchronised | None) -> tuple[Any, ...]:
        return tuple(filter(None, pairs))

    def pair(
        self, meta: Place, word: Token, first: tree.Integer, second: tree.Integer
    ) -> tree.Synchronised:
        return tree.Synchronised(self._span(meta), first, second)

    def claim(
        self, meta: Place, owner: Any, name: tree.Name, equal: bool, value: Any
    ) -> tree.Claim:
        other = value if isinstance(value, tree.Watched) else None
        given = value if other is None else other.name
        return tree.Claim(self._span(meta), owner, name, equal, given, other)

    def comparison(self, meta: Place, *sides: Any) -> tree.Joint:
        one, equal, other = sides
        texts = (it.text.lower().rstrip("ul") for it in (one, other))
        left, right = (int(it, 16 if it.startswith("0x") else 10) for it in texts)
        return tree.Joint(self._span(meta), (left == right) == equal, ())

    def owned(self, meta: Place, owner: Any, name: tree.Name) -> tree.Watched:
        return tree.Watched(self._span(meta), owner, name)

    def older_condition(self, meta: Place, *parts: Any) -> tree.FinalCondition:
        return tree.FinalCondition(self._span(meta), "exists", parts[1])

    def start(self, meta: Place, header: Token, *children: Any) -> Any:
        kinds = {
            "threads": tree.ThreadHead,
            "rows": tree.Row,
            "aliases": tree.Alias,
            "synchronised": tree.Synchronised,
        }
        pairs = [each for it in children if isinstance(it, tuple) for each in it]
        return self._test(tree.Columns, header, [*children, *pairs], kinds)


def _those(kind: type[Kind], nodes: Iterable[object]) -> tuple[Kind, ...]:
    return tuple(each for each in nodes if isinstance(each, kind))


def _statement(part: tree.Expression | tree.Statement) -> tree.Statement:
    """A part of an unsupported statement or of the head of a loop, as a statement."""
    return part if isinstance(part, tree.Statement) else tree.Evaluate(part.span, part)


def _flat(nodes: Sequence[Any]) -> list[Any]:
    """Nodes of a scope tree, without the brackets that say nothing."""
    return [each for node in nodes for each in (node if isinstance(node, list) else (node,))]
