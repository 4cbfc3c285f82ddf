"""From the text of a .machine file to its syntax, by the grammar in machine.lark."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any, TypeVar

from lark import Token
from lark.tree import Meta

from rspverify.architecture import syntax
from rspverify.architecture.mistakes import problem_of
from rspverify.architecture.recovery import items
from rspverify.grammar import Builder, Language, Mistake
from rspverify.source import Source, require

LANGUAGE = Language(Path(__file__).with_name("machine.lark"))
"""The language of machines."""

_Node = TypeVar("_Node")


MAX_CHARACTERS = 50_000
"""How long the text of a file is: the paper's has five thousand characters."""

MAX_ITEMS = 1_000
"""How many items a file has: the paper's has thirty-five."""


def parse(source: Source) -> syntax.MachineFile:
    """The syntax of a file, with what is wrong of it: the items that are right are there.

    Raises InputError where a file is too long, or has too many items.
    """
    _require(source, len(source.text), MAX_CHARACTERS, "characters")
    tree = LANGUAGE.parse(source, source.text)
    if isinstance(tree, Mistake):
        return _item_by_item(source)
    file = _MachineBuilder(source).build(tree)
    _require(source, len(file.items), MAX_ITEMS, "items")
    return file


def _item_by_item(source: Source) -> syntax.MachineFile:
    found: list[syntax.Item] = []
    broken: list[syntax.Broken] = []
    every = [*items(source.text)]
    _require(source, len(every), MAX_ITEMS, "items")
    for each in every:
        tree = LANGUAGE.parse(source, each.alone(source.text))
        if isinstance(tree, Mistake):
            problem = problem_of(source, each, tree)
            broken.append(syntax.Broken(each.word, each.name(source.text), problem))
        else:
            found += _MachineBuilder(source).build(tree).items
    return syntax.MachineFile(source, (*found,), (*broken,))


def _require(source: Source, number: int, most: int, what: str) -> None:
    message = f"{source.name}: a machine must have at most {most:,} {what}, not {number:,}"
    require(number <= most, message)


class _MachineBuilder(Builder[syntax.MachineFile]):
    """Turns the parse tree of one source into its syntax."""

    def start(self, meta: Meta, *items: syntax.Item) -> syntax.MachineFile:
        return syntax.MachineFile(self._source, items)

    def _word(self, token: Token) -> syntax.Word:
        return syntax.Word(self._span(token), str(token))

    def _words(self, tokens: Iterable[object]) -> tuple[syntax.Word, ...]:
        return tuple(self._word(it) for it in tokens if isinstance(it, Token) and it.type == "NAME")

    # ---- what there is ---------------------------------------------------------------------------

    def machine(self, meta: Meta, name: Token, summary: Token | None = None) -> syntax.Item:
        words = "" if summary is None else str(summary)[1:-1]
        return syntax.Title(self._span(meta), self._word(name), words)

    def places(self, meta: Meta, *chains: tuple[syntax.Place, ...]) -> syntax.Item:
        return syntax.Places(self._span(meta), chains)

    def chain(self, meta: Meta, *places: syntax.Place) -> object:
        return places

    def place(self, meta: Meta, *parts: Token) -> syntax.Place:
        name, *per = self._words(parts)
        return syntax.Place(self._span(meta), name, _is(parts[0], "ANY"), *per)

    def spaces(self, meta: Meta, *names: Token) -> syntax.Item:
        return syntax.Spaces(self._span(meta), self._words(names))

    def reaches(self, meta: Meta, *reaches: tuple[syntax.Word, syntax.Word]) -> syntax.Item:
        return syntax.Reaches(self._span(meta), reaches)

    def reach(self, meta: Meta, name: Token, place: Token) -> object:
        return self._word(name), self._word(place)

    def type(self, meta: Meta, name: Token, *cells: syntax.Cell) -> syntax.Item:
        return syntax.TypeOf(self._span(meta), self._word(name), cells)

    def state(self, meta: Meta, *cells: syntax.Cell) -> syntax.Item:
        return syntax.State(self._span(meta), cells)

    def cell(self, meta: Meta, name: Token, *parts: Any) -> syntax.Cell:
        (sort,) = self._words(parts)
        kinds = [each for each in parts if isinstance(each, syntax.Word)]
        starts = [str(each) == "true" for each in parts if _is(each, "FLAG")]
        located = any(isinstance(each, _Index) for each in parts)
        place, start = next(iter(kinds), None), next(iter(starts), None)
        return syntax.Cell(self._span(meta), self._word(name), located, sort, place, start)

    def index(self, meta: Meta, name: Token) -> _Index:
        return _Index(self._span(meta), str(name))

    def kind(self, meta: Meta, name: Token) -> syntax.Word:
        return self._word(name)

    def final(self, meta: Meta, value: syntax.Reference) -> syntax.Item:
        return syntax.Final(self._span(meta), value)

    def complete(self, meta: Meta, when: _When) -> syntax.Item:
        return syntax.Complete(self._span(meta), when.conditions)

    def always(self, meta: Meta, when: _When) -> syntax.Item:
        return syntax.Always(self._span(meta), when.conditions)

    # ---- definitions, instructions, steps --------------------------------------------------------

    def definition(
        self,
        meta: Meta,
        name: Token,
        parameters: tuple[syntax.Word, ...],
        body: _When | _Do,
        *later: syntax.Step,
    ) -> syntax.Item:
        span, does = self._span(meta), isinstance(body, _Do)
        return syntax.Definition(span, self._word(name), parameters, *_body([body]), does, later)

    def parameters(self, meta: Meta, *names: Token) -> tuple[syntax.Word, ...]:
        return self._words(names)

    def instruction(self, meta: Meta, name: syntax.Word, *parts: Any) -> syntax.Item:
        others = tuple(each for each in parts if isinstance(each, syntax.Word))
        operands, *rest = parts[len(others) :]
        reaches = next((each for each in rest if isinstance(each, tuple)), ())
        later = tuple(each for each in rest if isinstance(each, syntax.Step))
        span = self._span(meta)
        return syntax.Instruction(span, name, operands, reaches, *_body(rest), later, others)

    def operands(self, meta: Meta, *names: Token) -> tuple[syntax.Word, ...]:
        return self._words(names)

    def reached(self, meta: Meta, *names: Token) -> tuple[syntax.Word, ...]:
        return self._words(names)

    def later(self, meta: Meta, name: Token, *parts: Any) -> syntax.Step:
        binders = next((each for each in parts if isinstance(each, tuple)), ())
        return syntax.Step(self._span(meta), self._word(name), None, binders, *_body(parts))

    def step(self, meta: Meta, name: Token, place: syntax.Word, *parts: Any) -> syntax.Item:
        binders = tuple(each for each in parts if isinstance(each, syntax.Binder))
        return syntax.Step(self._span(meta), self._word(name), place, binders, *_body(parts))

    def switch(self, meta: Meta, name: Token, *rest: Token) -> syntax.Item:
        on = any(_is(it, "FLAG") and str(it) == "true" for it in rest)
        words = next((str(it)[1:-1] for it in rest if _is(it, "STRING")), "")
        return syntax.Switch(self._span(meta), self._word(name), on, words)

    def include(self, meta: Meta, name: Token) -> syntax.Item:
        shipped = name.type == "NAME"
        text = str(name) if shipped else str(name)[1:-1]
        return syntax.Include(self._span(meta), text, shipped)

    def without(self, meta: Meta, *names: syntax.Word) -> syntax.Item:
        return syntax.Without(self._span(meta), names)

    def named(self, meta: Meta, *names: Token) -> syntax.Word:
        return syntax.Word(self._span(meta), ".".join(names))

    def quoted_name(self, meta: Meta, text: Token) -> syntax.Word:
        return syntax.Word(self._span(meta), " ".join(str(text)[1:-1].split()))

    def when(self, meta: Meta, conditions: tuple[syntax.Condition, ...]) -> _When:
        return _When(self._span(meta), conditions)

    def do(self, meta: Meta, *effects: syntax.Effect) -> _Do:
        return _Do(self._span(meta), effects)

    # ---- binders and conditions ------------------------------------------------------------------

    def binders(self, meta: Meta, *binders: syntax.Binder) -> tuple[syntax.Binder, ...]:
        return binders

    def places_of(self, meta: Meta, *tokens: Token) -> syntax.Binder:
        kind, variable, *where = self._words(tokens)
        inside = where[0] if where and any(_is(each, "IN") for each in tokens) else None
        outside = where[0] if where and inside is None else None
        other = _is(tokens[0], "OTHER")
        return syntax.PlacesNamed(self._span(meta), kind, variable, other, inside, outside)

    def locations_of(self, meta: Meta, *parts: Any) -> syntax.Binder:
        space = parts[0] if len(parts) > 1 else None
        return syntax.LocationsNamed(self._span(meta), self._word(parts[-1]), space)

    def conditions(self, meta: Meta, *conditions: syntax.Condition) -> tuple[syntax.Condition, ...]:
        return conditions

    def bits(self, meta: Meta, *literals: syntax.Literal) -> syntax.Condition:
        return syntax.Bits(self._span(meta), literals)

    def literal(self, meta: Meta, *parts: Any) -> syntax.Literal:
        return syntax.Literal(self._span(meta), len(parts) == 1, parts[-1])

    def ready(self, meta: Meta, lock: syntax.Reference) -> syntax.Condition:
        return syntax.Ready(self._span(meta), lock)

    def oldest(
        self, meta: Meta, fifo: syntax.Reference, element: syntax.Element
    ) -> syntax.Condition:
        return syntax.Oldest(self._span(meta), fifo, element)

    def empty(self, meta: Meta, where: syntax.Reference) -> syntax.Condition:
        return syntax.Empty(self._span(meta), where)

    def lacks(self, meta: Meta, marker: syntax.Marker, _: Token, where: Any) -> syntax.Condition:
        return syntax.LacksMarker(self._span(meta), marker, where)

    def lacks_instructions(self, meta: Meta, *parts: Any) -> syntax.Condition:
        own = _is(parts[0], "OWN")
        names = tuple(each for each in parts if isinstance(each, syntax.Word))
        location = next((it for it in parts if isinstance(it, syntax.LocationNamed)), None)
        return syntax.LacksInstructions(self._span(meta), own, names, location, parts[-1])

    def is_in(self, meta: Meta, _: Token, pool: syntax.Reference) -> syntax.Condition:
        return syntax.SelfIn(self._span(meta), pool)

    def in_space(self, meta: Meta, name: Token, *rest: Token) -> syntax.Condition:
        space = self._word(rest[-1])
        return syntax.InSpace(self._span(meta), self._word(name), space, len(rest) == 1)

    def all(self, meta: Meta, binders: Any, inner: Any) -> syntax.Condition:
        conditions = inner if isinstance(inner, tuple) else (inner,)
        return syntax.All(self._span(meta), binders, conditions)

    # ---- effects ---------------------------------------------------------------------------------

    def assignment(self, meta: Meta, target: syntax.Reference, value: Any) -> syntax.Effect:
        return syntax.Assignment(self._span(meta), target, value)

    def take(self, meta: Meta, lock: syntax.Reference) -> syntax.Effect:
        return syntax.SetLock(self._span(meta), lock, True)

    def free(self, meta: Meta, lock: syntax.Reference) -> syntax.Effect:
        return syntax.SetLock(self._span(meta), lock, False)

    def enqueue(self, meta: Meta, element: Any, _: Token, fifo: Any) -> syntax.Effect:
        return syntax.Enter(self._span(meta), element, fifo, False)

    def dequeue(self, meta: Meta, fifo: syntax.Reference) -> syntax.Effect:
        return syntax.Leave(self._span(meta), fifo, False)

    def add(self, meta: Meta, pool: syntax.Reference) -> syntax.Effect:
        span = self._span(meta)
        return syntax.Enter(span, syntax.Itself(span), pool, True)

    def remove(self, meta: Meta, pool: syntax.Reference) -> syntax.Effect:
        return syntax.Leave(self._span(meta), pool, True)

    def conditional(self, meta: Meta, conditions: Any, *effects: Any) -> syntax.Effect:
        return syntax.If(self._span(meta), conditions, effects)

    def each(self, meta: Meta, binders: Any, *effects: Any) -> syntax.Effect:
        return syntax.Each(self._span(meta), binders, effects)

    def nothing(self, meta: Meta) -> syntax.Effect:
        return syntax.Nothing(self._span(meta))

    # ---- what they speak of ----------------------------------------------------------------------

    def flag(self, meta: Meta, token: Token) -> syntax.Expression:
        return syntax.Flag(self._span(meta), str(token) == "true")

    def sum(self, meta: Meta, left: Token, right: Token) -> syntax.Expression:
        return syntax.Sum(self._span(meta), self._word(left), self._word(right))

    def call(self, meta: Meta, name: Token, *arguments: syntax.Expression) -> syntax.Call:
        return syntax.Call(self._span(meta), self._word(name), arguments)

    def reference(self, meta: Meta, *parts: Any) -> syntax.Reference:
        index = parts[-1] if isinstance(parts[-1], _Index) else None
        at = None if index is None else syntax.Word(index.span, index.text)
        return syntax.Reference(self._span(meta), self._words(parts), at)

    def itself(self, meta: Meta) -> syntax.Element:
        return syntax.Itself(self._span(meta))

    def marker(self, meta: Meta, thread: Token | None = None) -> syntax.Element:
        return syntax.Marker(self._span(meta), None if thread is None else self._word(thread))

    def location(self, meta: Meta, name: Token) -> syntax.Element:
        return syntax.LocationNamed(self._span(meta), self._word(name))


class _Index(syntax.Spanned, frozen=True):
    text: str


class _When(syntax.Spanned, frozen=True):
    conditions: tuple[syntax.Condition, ...]


class _Do(syntax.Spanned, frozen=True):
    effects: tuple[syntax.Effect, ...]


def _is(part: object, terminal: str) -> bool:
    return isinstance(part, Token) and part.type == terminal


def _body(
    parts: Iterable[object],
) -> tuple[tuple[syntax.Condition, ...], tuple[syntax.Effect, ...]]:
    conditions = next((each.conditions for each in parts if isinstance(each, _When)), ())
    effects = next((each.effects for each in parts if isinstance(each, _Do)), ())
    return conditions, effects
