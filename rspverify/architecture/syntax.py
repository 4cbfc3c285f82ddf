"""The syntax of .machine files, with spans, before names are resolved.

Of a word that may be left out, such as `other`, there is True, or None.
"""

from __future__ import annotations

from typing import Any, TypeAlias

from msgspec import Struct

from rspverify.source import Problem, Source, Span


class Spanned(Struct, frozen=True, eq=False):
    """A node with its span."""

    span: Span


class Word(Spanned, frozen=True):
    """A name."""

    text: str

    def __str__(self) -> str:
        return self.text


# ---- Bodies --------------------------------------------------------------------------------------


class Reference(Spanned, frozen=True):
    """`w.L1.DIRTY[y]`: names one inside the other, and perhaps a location."""

    names: tuple[Word, ...]
    index: Word | None


class Node(Spanned, frozen=True):
    """A part of a body: an expression, an element, a binder, a condition or an effect; or an item
    without a name.

    kind: its rule in the grammar, which says in which order the parts are.
    """

    kind: str
    parts: tuple[Any, ...]


NODES = frozenset(
    {
        *("flag", "sum", "call", "itself", "marker", "location_named"),
        *("places_named", "places_outside", "locations_named"),
        *("literal", "bits", "ready", "oldest", "empty", "occupied", "lacks_marker"),
        "lacks_instructions",
        *("self_in", "in_space", "all"),
        *("assignment", "take", "free", "enqueue", "dequeue", "add", "remove"),
        *("if", "each", "nothing"),
        *("title", "executes", "places", "spaces", "reaches", "final", "complete", "always"),
        *("state", "include", "without"),
    }
)
"""The kinds of nodes."""


# ---- Items ---------------------------------------------------------------------------------------


class Place(Spanned, frozen=True):
    """`cu per workgroup`, `any cu`: a kind of place, and which there are where programs say not."""

    open: bool | None
    name: Word
    per: Word | None


class Cell(Spanned, frozen=True):
    """`NAME[x] : SORT of PLACE = start`; the sort may be a type."""

    name: Word
    location: Word | None
    sort: Word
    place: Word | None
    start: bool | None


class TypeOf(Spanned, frozen=True):
    """`type NAME { CELL … }`."""

    name: Word
    cells: tuple[Cell, ...]


class Definition(Spanned, frozen=True):
    """`define NAME(PARAMETER, …) when …`, or `do … later …`."""

    name: Word
    parameters: tuple[Word, ...]
    conditions: tuple[Node, ...]
    effects: tuple[Node, ...] = ()
    later: tuple[Step, ...] = ()

    @property
    def of_effects(self) -> bool:
        """Whether it stands for effects."""
        return bool(self.effects)


class Step(Spanned, frozen=True):
    """`step NAME of PLACE, BINDER, … when … do …`; a later step of an instruction has no place."""

    name: Word
    place: Word | None
    binders: tuple[Node, ...]
    conditions: tuple[Node, ...]
    effects: tuple[Node, ...]


class Instruction(Spanned, frozen=True):
    """`instruction NAME, OTHERS OPERANDS of REACHES when … do … later …`."""

    name: Word
    others: tuple[Word, ...]
    operands: tuple[Word, ...]
    reaches: tuple[Word, ...]
    conditions: tuple[Node, ...]
    effects: tuple[Node, ...]
    later: tuple[Step, ...]


class Switch(Spanned, frozen=True):
    """`switch NAME STATUS = true "what is so where it is on" "what the document says of it"`."""

    name: Word
    status: Word | None
    on: bool | None
    summary: str | None
    document: str | None


Item: TypeAlias = Node | TypeOf | Definition | Instruction | Step | Switch


class Broken(Struct, frozen=True, eq=False):
    """An item that does not follow the grammar: its first word, and its name, if known."""

    word: str
    name: str
    problem: Problem


class MachineFile(Struct, frozen=True, eq=False):
    """A file: its items in order, but for those that are broken."""

    source: Source
    items: tuple[Item, ...]
    broken: tuple[Broken, ...] = ()
