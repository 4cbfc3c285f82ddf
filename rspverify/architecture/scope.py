"""The meanings of names in a body: cells, places, locations, values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import assert_never

from msgspec import Struct, field

from rspverify.architecture import syntax
from rspverify.architecture.architecture import (
    OPERAND,
    REACH,
    CellAt,
    CellKind,
    Sort,
    Written,
)
from rspverify.architecture.layout import Layout, Owner
from rspverify.architecture.problems import is_one_of
from rspverify.records import replace
from rspverify.source import Span
from rspverify.wording import alternatives, guess

REGISTER = "r"
"""The register of an instruction, and its value."""

OPERANDS = (REGISTER, OPERAND, REACH)
"""The possible operands of an instruction."""

RESERVED = frozenset({REGISTER, REACH})
"""Names that no variable may have."""

MAX_DEPTH = 32
"""How deep definitions and blocks stand in each other."""

_SHOWN = 8
"""How many parts of the state are listed."""


# ---- What a name stands for ----------------------------------------------------------------------


class PlaceOf(Struct, frozen=True):
    """A place variable."""

    variable: str
    kind: str


class LocationOf(Struct, frozen=True):
    """A location variable."""

    variable: str


class Part(Struct, frozen=True):
    """A part of the state that has fields, of which none is chosen yet."""

    name: str
    fields: Mapping[str, CellKind]
    place: PlaceOf | None


Meaning = PlaceOf | LocationOf | Part | CellAt | Written | bool


# ---- Scopes --------------------------------------------------------------------------------------


class Scope(Struct, frozen=True):
    """The names in reach of a part of a body, and where it stands.

    names: the meaning of a variable or parameter, None after a mistake. taken:
    the variables of what is around. within: the definitions that are being expanded; used: where
    the outermost of them is used. depth: of blocks and definitions. begun: the later steps that
    definitions add to an instruction, each with the names in its reach; None where none can be.
    spread: how many places and locations the variables stand for, each with each.
    """

    layout: Layout
    owner: Owner
    names: Mapping[str, Meaning | None] = field(default_factory=dict)
    taken: frozenset[str] = frozenset()
    within: tuple[str, ...] = ()
    used: Span | None = None
    depth: int = 0
    begun: list[tuple[syntax.Step, Scope]] | None = None
    spread: int = 1

    def error(self, span: Span, message: str, hint: str | None = None) -> None:
        """Note a mistake; of one in a definition, where it is used."""
        related = () if self.used is None else ((self.used, "it is used here"),)
        self.layout.problems.error(span, message, hint, related)

    def deeper(self, span: Span) -> Scope:
        """The scope inside a block. Raises InputError where blocks stand too deep."""
        if self.depth == MAX_DEPTH:
            message = f"blocks, variables and definitions must be at most {MAX_DEPTH} deep"
            self.layout.problems.stop(span, message)
        return replace(self, depth=self.depth + 1)

    def spend(self, span: Span) -> None:
        """Count a condition or an effect. Raises InputError where there are too many."""
        self.layout.budget.spend(span, self.spread, self.owner.name)

    def with_variable(
        self, word: syntax.Word, name: str, meaning: Meaning | None, stands_for: int
    ) -> Scope:
        """The scope in which a word stands for something, renamed in the result.

        stands_for: how many places or locations that is.
        """
        names = {**self.names, word.text: meaning}
        spread = self.spread * stands_for
        return replace(self, names=names, taken=self.taken | {name}, spread=spread)

    def require_new(self, variable: syntax.Word) -> bool:
        """Whether a variable or parameter has a name of its own; notes it if not."""
        name = variable.text
        if name in self.names:
            self.error(variable.span, f"{name} must be the name of one variable, not of two")
        elif name in self.layout.parts:
            message = f"{name} must not be the name of a variable: it is a part of the state"
            self.error(variable.span, message)
        elif name in RESERVED:
            what = "the register" if name == REGISTER else "the reach"
            message = f"{name} must not be the name of a variable: it is {what} of an instruction"
            self.error(variable.span, message)
        else:
            return True
        return False

    # ---- names that are not cells ----------------------------------------------------------------

    def is_place(self, kind: syntax.Word) -> bool:
        """Whether a word is a kind of place; notes it if not."""
        place = self.layout.reaches.get(kind.text)
        hint = None if place is None else f"say {place}, which is how far {kind} reaches"
        return is_one_of(kind, "a kind of place", self.layout.places, self, hint)

    def is_space(self, space: syntax.Word) -> bool:
        """Whether a word is a kind of memory; notes it if not."""
        spaces = self.layout.spaces
        hint = f"`spaces {spaces[0]}, {space}` says that there are two"
        return is_one_of(space, "a kind of memory", spaces, self, hint)

    def operand(self, name: str, span: Span) -> bool:
        """Whether the instruction has an operand; notes it if not."""
        operands, owner = self.owner.operands, self.owner
        if operands is None:
            self.error(span, f"{name} is an operand of an instruction, and {owner.name} is none")
        elif name not in operands:
            every = [it for it in OPERANDS if it == name or it in operands]
            hint = f"`instruction {owner.name} {' '.join(every)}` has it"
            self.error(span, f"{name} must be an operand of {owner.name}", hint)
        else:
            owner.used.add(name)
            return True
        return False

    def location(self, word: syntax.Word) -> str | None:
        """The variable that a name of a location stands for."""
        meaning = self.names.get(word.text)
        if isinstance(meaning, LocationOf):
            if meaning.variable in (self.owner.operands or ""):
                self.owner.used.add(meaning.variable)
            return meaning.variable
        if meaning is not None:
            self.error(word.span, f"{word} must be a location, not {described(meaning)}")
        elif word.text not in self.names:
            known = [name for name, it in self.names.items() if isinstance(it, LocationOf)]
            self._not_named(word, "location", known)
        return None

    def thread(self, word: syntax.Word) -> str | None:
        """The variable that a name of a thread stands for."""
        known = {
            name: it.variable
            for name, it in self.names.items()
            if isinstance(it, PlaceOf) and it.kind == "thread"
        }
        if word.text not in known and self.names.get(word.text, word) is not None:
            self._not_named(word, "thread", [*known])
        return known.get(word.text)

    def _not_named(self, word: syntax.Word, what: str, known: Sequence[str]) -> None:
        namely = f": {alternatives(known)}" if known else ", and none is"
        message = f"{word} must be a {what} that is named here{namely}"
        self.error(word.span, message, guess(word.text, known))

    def require_thread(self, span: Span, what: str) -> bool:
        """Whether the own place is a thread; notes a mistake if not."""
        if self.owner.place == "thread":
            return True
        message = f"{what} must be that of a thread, and {self.owner.name} has none of its own"
        self.error(span, message)
        return False

    # ---- cells -----------------------------------------------------------------------------------

    def cell(self, reference: syntax.Reference, *sorts: Sort) -> CellAt | None:
        """The cell that a reference names, if it is of one of these sorts."""
        meaning = self.value(reference)
        if isinstance(meaning, CellAt):
            return self.whole(meaning, reference.span, *sorts)
        if meaning is not None:
            message = f"{reference.span.text} must be {_wanted(sorts)}, not {described(meaning)}"
            self.error(reference.span, message, _fields_hint(meaning))
        return None

    def whole(self, cell: CellAt, span: Span, *sorts: Sort) -> CellAt | None:
        """A cell of one of these sorts, with its location if it has one."""
        if cell.kind.sort not in sorts:
            message = f"{span.text} must be {_wanted(sorts)}, not a {cell.kind.sort.value}"
            self.error(span, message)
        elif cell.kind.located and cell.location is None:
            message = f"{span.text} must have a location: there is one for each"
            self.error(span, message, f"such as {span.text}[x]")
        else:
            return cell
        return None

    def value(self, reference: syntax.Reference) -> Meaning | None:
        """The meaning of a reference; None after a mistake."""
        first, *rest = reference.names
        meaning = self._first(first)
        for word in rest:
            if meaning is None:
                return None
            meaning = self._inside(meaning, word)
        if meaning is None or reference.index is None:
            return meaning
        location, span = self.location(reference.index), reference.index.span
        if isinstance(meaning, Part):
            message = f"{meaning.name} must have its location behind a cell"
            self.error(span, message, _fields_hint(meaning))
        elif not isinstance(meaning, CellAt):
            self.error(span, f"{described(meaning)} has no locations")
        elif not meaning.kind.located:
            self.error(span, f"{meaning.kind} has no locations: there is one for all")
        elif meaning.location is not None:
            self.error(span, f"{reference.names[0]} has a location already")
        elif location is not None:
            return replace(meaning, location=location)
        return None

    def _first(self, word: syntax.Word) -> Meaning | None:
        if word.text in self.names:
            meaning = self.names[word.text]
            if isinstance(meaning, LocationOf):
                self.location(word)
            return meaning
        if word.text == REGISTER:
            return Written.VALUE if self.operand(REGISTER, word.span) else None
        if word.text in self.layout.parts:
            return self._part(word, None)
        self._unknown(word, "a variable or a part of the state", self.names)
        return None

    def _unknown(self, word: syntax.Word, wanted: str, besides: Iterable[str] = ()) -> None:
        parts = self.layout.parts
        inner = [f"{part}.{word}" for part, its in parts.items() if word.text in its]
        hint = f"did you mean {inner[0]}?" if inner else guess(word.text, [*besides, *parts])
        shown = list(parts) if len(parts) <= _SHOWN else [*list(parts)[:_SHOWN], "…"]
        self.error(word.span, f"{word} must be {wanted} ({', '.join(shown)})", hint)

    def _inside(self, meaning: Meaning, word: syntax.Word) -> Meaning | None:
        if isinstance(meaning, PlaceOf):
            if word.text in self.layout.parts:
                return self._part(word, meaning)
            self._unknown(word, "a part of the state")
        elif isinstance(meaning, Part):
            if is_one_of(word, f"a cell of {meaning.name}", meaning.fields, self):
                variable = meaning.place.variable if meaning.place else None
                return CellAt(meaning.fields[word.text], variable)
        else:
            self.error(word.span, f"{described(meaning)} has no parts, so no {word}")
        return None

    def _part(self, word: syntax.Word, place: PlaceOf | None) -> Meaning | None:
        fields = self.layout.parts[word.text]
        kind = next(iter(fields.values()), None)
        if kind is None:
            return None
        inner = place.kind if place else self.owner.place
        if not self.layout.kinds.contains(kind.place, inner):
            message = f"{word} must be that of one {kind.place}, and a {inner} has several"
            letter = kind.place[0]
            within = "" if inner == self.layout.places[-1] else f" in {inner}"
            hint = f"say `each {kind.place} {letter}{within}: … {letter}.{word} …`"
            self.error(word.span, message, hint)
            return None
        if "" in fields:
            return CellAt(fields[""], place.variable if place else None)
        return Part(word.text, fields, place)


def _wanted(sorts: tuple[Sort, ...]) -> str:
    return alternatives([f"a {sort.value}" for sort in sorts])


def _fields_hint(meaning: Meaning) -> str | None:
    if not isinstance(meaning, Part):
        return None
    return f"its cells are {', '.join(f'{meaning.name}.{name}' for name in meaning.fields)}"


def described(meaning: Meaning) -> str:
    """A meaning, in words."""
    match meaning:
        case PlaceOf(_, kind):
            return f"a {kind}"
        case LocationOf():
            return "a location"
        case Part():
            return f"all of {meaning.name}"
        case CellAt():
            return f"a {meaning.kind.sort.value}"
        case Written():
            return "the value of the instruction"
        case bool():
            return "true or false"
        case _:
            assert_never(meaning)
