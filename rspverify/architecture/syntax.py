"""The syntax of .machine files, with spans, before names are resolved.

Of a word that may be left out, such as `other`, there is True, or None.
"""

from __future__ import annotations

from typing import TypeAlias

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


# ---- What conditions and effects speak of --------------------------------------------------------


class Reference(Spanned, frozen=True):
    """`w.L1.DIRTY[y]`: names one inside the other, and perhaps a location."""

    names: tuple[Word, ...]
    index: Word | None


class Flag(Spanned, frozen=True):
    """`true` or `false`."""

    value: bool


class Sum(Spanned, frozen=True):
    """`r + n`."""

    left: Word
    right: Word


class Call(Spanned, frozen=True):
    """`clean(L1, x)`, and `f(r)`."""

    name: Word
    arguments: tuple[Expression, ...]


Expression: TypeAlias = Reference | Flag | Sum | Call


class Itself(Spanned, frozen=True):
    """`self`: the instruction."""


class Marker(Spanned, frozen=True):
    """`marker`, or `marker of t`."""

    thread: Word | None


class LocationNamed(Spanned, frozen=True):
    """A location, as an element of a fifo, or of which instructions are."""

    name: Word


Element: TypeAlias = Itself | Marker | LocationNamed


class PlacesNamed(Spanned, frozen=True):
    """`other thread u in workgroup`."""

    other: bool | None
    kind: Word
    variable: Word
    inside: Word | None
    outside: Word | None = None


class LocationsNamed(Spanned, frozen=True):
    """`location y`, or `shared location y`."""

    space: Word | None
    variable: Word


Binder: TypeAlias = PlacesNamed | LocationsNamed


# ---- Conditions ----------------------------------------------------------------------------------


class Literal(Spanned, frozen=True):
    """A bit, `not` a bit, or a definition that stands for one."""

    value: bool
    what: Reference | Call


class Bits(Spanned, frozen=True):
    """`B or not D`; one alone may be a definition that stands for any conditions."""

    literals: tuple[Literal, ...]


class Said(Spanned, frozen=True):
    """What names cells and elements: `ready LOCK`, `oldest FIFO is ELEMENT`, `add self to POOL`.

    word: its rule in the grammar.
    """

    word: str
    parts: tuple[Reference | Element, ...]


SAID = frozenset(
    {
        *("ready", "oldest", "empty", "lacks_marker", "self_in"),
        *("take", "free", "enqueue", "dequeue", "add", "remove"),
    }
)
"""The words of these."""


class LacksInstructions(Spanned, frozen=True):
    """`no own ld, st of x in POOL`."""

    own: bool | None
    instructions: tuple[Word, ...]
    location: LocationNamed | None
    where: Reference


class InSpace(Spanned, frozen=True):
    """`x is shared`, `x is not shared`."""

    location: Word
    negated: bool | None
    space: Word


class All(Spanned, frozen=True):
    """`each BINDER, …: CONDITION`."""

    binders: tuple[Binder, ...]
    conditions: tuple[Condition, ...]


Condition: TypeAlias = Bits | Said | LacksInstructions | InSpace | All


# ---- Effects -------------------------------------------------------------------------------------


class Assignment(Spanned, frozen=True):
    """`A := B`."""

    target: Reference
    value: Expression


class If(Spanned, frozen=True):
    """`if CONDITION, … { EFFECT; … }`."""

    conditions: tuple[Condition, ...]
    effects: tuple[Effect, ...]


class Each(Spanned, frozen=True):
    """`each BINDER, …: EFFECT`."""

    binders: tuple[Binder, ...]
    effects: tuple[Effect, ...]


class Nothing(Spanned, frozen=True):
    """`nothing`."""


Effect: TypeAlias = Assignment | Call | Said | If | Each | Nothing


# ---- Items ---------------------------------------------------------------------------------------


class Title(Spanned, frozen=True):
    """`machine NAME "summary"`."""

    name: Word
    summary: str | None


class Place(Spanned, frozen=True):
    """`cu per workgroup`, `any cu`: a kind of place, and which there are where programs say not."""

    open: bool | None
    name: Word
    per: Word | None


class Places(Spanned, frozen=True):
    """`places A < B < …, A < C < …`: each lies in the next one of its chain."""

    chains: tuple[tuple[Place, ...], ...]


class Executes(Spanned, frozen=True):
    """`executes NAME`: the set that says what instructions do, which the machine has rules for."""

    name: Word


class Spaces(Spanned, frozen=True):
    """`spaces A, B`."""

    names: tuple[Word, ...]


class Reaches(Spanned, frozen=True):
    """`reaches A = place, …`."""

    reaches: tuple[tuple[Word, Word], ...]


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


class State(Spanned, frozen=True):
    """`state { CELL … }`."""

    cells: tuple[Cell, ...]


class Final(Spanned, frozen=True):
    """`final VALUE`."""

    value: Reference


class Complete(Spanned, frozen=True):
    """`complete when …`."""

    conditions: tuple[Condition, ...]


class Always(Spanned, frozen=True):
    """`always when …`."""

    conditions: tuple[Condition, ...]


class Definition(Spanned, frozen=True):
    """`define NAME(PARAMETER, …) when …`, or `do … later …`."""

    name: Word
    parameters: tuple[Word, ...]
    conditions: tuple[Condition, ...]
    effects: tuple[Effect, ...] = ()
    later: tuple[Step, ...] = ()

    @property
    def of_effects(self) -> bool:
        """Whether it stands for effects."""
        return bool(self.effects)


class Step(Spanned, frozen=True):
    """`step NAME of PLACE, BINDER, … when … do …`; a later step of an instruction has no place."""

    name: Word
    place: Word | None
    binders: tuple[Binder, ...]
    conditions: tuple[Condition, ...]
    effects: tuple[Effect, ...]


class Instruction(Spanned, frozen=True):
    """`instruction NAME, OTHERS OPERANDS of REACHES when … do … later …`."""

    name: Word
    others: tuple[Word, ...]
    operands: tuple[Word, ...]
    reaches: tuple[Word, ...]
    conditions: tuple[Condition, ...]
    effects: tuple[Effect, ...]
    later: tuple[Step, ...]


class Switch(Spanned, frozen=True):
    """`switch NAME = true "what is so where it is on"`."""

    name: Word
    on: bool | None
    summary: str | None


class Include(Spanned, frozen=True):
    """`include NAME` of a machine that ships, or `include "FILE"`."""

    name: str
    shipped: bool


class Without(Spanned, frozen=True):
    """`without NAME, …`."""

    names: tuple[Word, ...]


Item: TypeAlias = (
    Title
    | Executes
    | Places
    | Spaces
    | Reaches
    | TypeOf
    | State
    | Final
    | Complete
    | Always
    | Definition
    | Instruction
    | Step
    | Switch
    | Include
    | Without
)


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
