"""What the names in a body stand for: cells, places, locations, values, and whose body it is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import assert_never

from rspverify.architecture import syntax
from rspverify.architecture.architecture import (
    REACH,
    Binder,
    CellAt,
    CellKind,
    Locations,
    Places,
    Sort,
    Written,
)
from rspverify.architecture.layout import Layout, Owner
from rspverify.source import InputError, Problem, Span
from rspverify.wording import alternatives, guess

REGISTER = "r"
"""The register of an instruction, and its value."""

RESERVED = frozenset({REGISTER, REACH})
"""What no variable may be called."""

MAX_DEPTH = 32
"""How deep definitions and blocks stand in each other."""


# ---- What a name stands for ----------------------------------------------------------------------


@dataclass(frozen=True)
class PlaceOf:
    """A place variable."""

    variable: str
    kind: str


@dataclass(frozen=True)
class LocationOf:
    """A location variable."""

    variable: str


@dataclass(frozen=True)
class Part:
    """A part of the state that has fields, of which none is chosen yet."""

    name: str
    fields: Mapping[str, CellKind]
    place: PlaceOf | None


Meaning = PlaceOf | LocationOf | Part | CellAt | Written | bool


# ---- Scopes --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Scope:
    """The names in reach, and what is in reach of them all.

    names: what a variable or parameter stands for, None if that is wrong and told already. taken:
    the variables of what is around. within: the definitions that are being expanded; used: where
    the outermost of them is used. depth: of blocks and definitions.
    """

    layout: Layout
    owner: Owner
    names: Mapping[str, Meaning | None] = field(default_factory=dict)
    taken: frozenset[str] = frozenset()
    within: tuple[str, ...] = ()
    used: Span | None = None
    depth: int = 0

    def error(self, span: Span, message: str, hint: str | None = None) -> None:
        """Note a mistake; of one in a definition, where it is used."""
        related = () if self.used is None else ((self.used, "it is used here"),)
        self.layout.problems.error(span, message, hint, related)

    def deeper(self, span: Span) -> Scope:
        """The scope inside a block. Raises InputError where blocks stand too deep."""
        if self.depth == MAX_DEPTH:
            message = f"blocks and definitions must stand in each other at most {MAX_DEPTH} deep"
            raise InputError([Problem(span, message)])
        return replace(self, depth=self.depth + 1)

    def bind(self, binder: syntax.Binder) -> tuple[Binder | None, Scope]:
        """A variable for each place or location, and the scope in which it stands for it."""
        name = self._fresh(binder.variable)
        match binder:
            case syntax.PlacesNamed():
                bound: Binder | None = self._places(binder, name)
                meaning: Meaning | None = PlaceOf(name, binder.kind.text) if bound else None
            case syntax.LocationsNamed():
                bound, meaning = self._locations(binder, name), LocationOf(name)
            case _:
                assert_never(binder)
        names = {**self.names, binder.variable.text: meaning}
        return bound, replace(self, names=names, taken=self.taken | {name})

    def _fresh(self, variable: syntax.Word) -> str:
        """A name for the variable that nothing around it has, be it around a definition."""
        self.require_new(variable)
        name, number = variable.text, 2
        while name in self.taken:
            name, number = f"{variable.text}{number}", number + 1
        return name

    def require_new(self, variable: syntax.Word) -> None:
        """Note a variable or parameter that has another's name."""
        name = variable.text
        if name in self.names:
            self.error(variable.span, f"{name} must be the name of one variable, not of two")
        elif name in self.layout.parts:
            self.error(
                variable.span, f"{name} is a part of the state: a variable must not be called so"
            )
        elif name in RESERVED:
            what = "the register" if name == REGISTER else "the reach"
            self.error(
                variable.span,
                f"{name} is {what} of an instruction: a variable must not be called so",
            )

    def _places(self, binder: syntax.PlacesNamed, name: str) -> Places | None:
        if not self.is_place(binder.kind):
            return None
        kind, layout, own = binder.kind.text, self.layout, self.owner.place
        if binder.other and own != kind:
            self.error(
                binder.span,
                f"an other {kind} must be one besides the own {kind}: there is none here",
            )
            return None
        around = binder.inside or binder.outside
        if around is None:
            return Places(name, kind, other=binder.other)
        if binder.inside is not None and around.text == REACH:
            return self._reached(binder, name)
        if not self.is_place(around):
            return None
        if not layout.contains(around.text, own):
            self.error(
                around.span, f"there is no own {around.text} here, so none is in or outside it"
            )
            return None
        inside = around.text if binder.inside else None
        outside = around.text if binder.outside else None
        if outside and not layout.contains(outside, kind):
            self.error(
                around.span, f"a {kind} must not be larger than the {outside} that it is outside of"
            )
        return Places(name, kind, inside, outside, binder.other)

    def _reached(self, binder: syntax.PlacesNamed, name: str) -> Places | None:
        assert binder.inside is not None
        if self.operand(REACH, binder.inside.span):
            return Places(name, binder.kind.text, REACH, other=binder.other)
        return None

    def _locations(self, binder: syntax.LocationsNamed, name: str) -> Locations:
        if binder.space is None or not self.is_space(binder.space):
            return Locations(name)
        return Locations(name, binder.space.text)

    # ---- names that are not cells ----------------------------------------------------------------

    def is_place(self, kind: syntax.Word) -> bool:
        """Whether a word is a kind of place; notes it if not."""
        layout = self.layout
        if kind.text in layout.places:
            return True
        message = f"{kind} must be a kind of place: {alternatives(layout.places)}"
        if kind.text in layout.reaches:
            hint: str | None = f"{kind} reaches all of the {layout.reaches[kind.text]}: say that"
        else:
            hint = guess(kind.text, layout.places)
        self.error(kind.span, message, hint)
        return False

    def is_space(self, space: syntax.Word) -> bool:
        """Whether a word is a kind of memory; notes it if not."""
        spaces = self.layout.spaces
        if space.text in spaces:
            return True
        message = f"{space} must be a kind of memory: {alternatives(spaces)}"
        hint = guess(space.text, spaces) or f"`spaces {spaces[0]}, {space}` says that there are two"
        self.error(space.span, message, hint)
        return False

    def operand(self, name: str, span: Span) -> bool:
        """Whether the instruction has an operand; notes it if not."""
        operands, owner = self.owner.operands, self.owner
        if operands is None:
            self.error(span, f"{name} is an operand of an instruction, and {owner.name} is none")
        elif name not in operands:
            self.error(
                span, f"{name} must be an operand of {owner.name}", "write it behind its name"
            )
        else:
            owner.used.add(name)
            return True
        return False

    def location(self, word: syntax.Word) -> str | None:
        """The variable that a name of a location stands for."""
        if word.text not in self.names:
            known = [name for name, it in self.names.items() if isinstance(it, LocationOf)]
            message = f"{word} must be a location: {alternatives(known) or 'there is none here'}"
            self.error(word.span, message, guess(word.text, known))
            return None
        meaning = self.names[word.text]
        if meaning is None:
            return None
        if not isinstance(meaning, LocationOf):
            self.error(word.span, f"{word} must be a location, not {described(meaning)}")
            return None
        if meaning.variable in (self.owner.operands or ""):
            self.owner.used.add(meaning.variable)
        return meaning.variable

    def thread(self, word: syntax.Word) -> str | None:
        """The variable that a name of a thread stands for."""
        known = [name for name, it in self.names.items() if _is_thread(it)]
        if word.text in known:
            meaning = self.names[word.text]
            assert isinstance(meaning, PlaceOf)
            return meaning.variable
        if self.names.get(word.text, word) is not None:
            message = f"{word} must be a thread: {alternatives(known) or 'none is named here'}"
            self.error(word.span, message, guess(word.text, known))
        return None

    def require_thread(self, span: Span, what: str) -> bool:
        """Whether the own place is a thread; notes what needs one if not."""
        if self.owner.place == "thread":
            return True
        self.error(
            span, f"{what} must be that of a thread, and {self.owner.name} has none of its own"
        )
        return False

    # ---- cells -----------------------------------------------------------------------------------

    def cell(self, reference: syntax.Reference, *sorts: Sort) -> CellAt | None:
        """The cell that a reference names, if it is of one of these sorts."""
        meaning = self.value(reference)
        if meaning is None:
            return None
        if not isinstance(meaning, CellAt):
            wanted = _wanted(sorts)
            hint = _fields_hint(meaning) if isinstance(meaning, Part) else None
            message = f"{reference.span.text} must be {wanted}, not {described(meaning)}"
            self.error(reference.span, message, hint)
            return None
        return self.whole(meaning, reference.span, *sorts)

    def whole(self, cell: CellAt, span: Span, *sorts: Sort) -> CellAt | None:
        """A cell of one of these sorts, with its location if it has one."""
        if cell.kind.sort not in sorts:
            wanted = _wanted(sorts)
            self.error(span, f"{span.text} must be {wanted}, not a {cell.kind.sort.value}")
        elif cell.kind.located and cell.location is None:
            message = f"{span.text} must have a location: there is one for each"
            self.error(span, message, f"such as {span.text}[x]")
        else:
            return cell
        return None

    def value(self, reference: syntax.Reference) -> Meaning | None:
        """What a reference stands for; None if that is wrong, and told."""
        first, *rest = reference.names
        meaning = self._first(first)
        for word in rest:
            if meaning is None:
                return None
            meaning = self._inside(meaning, word, reference)
        if meaning is None or reference.index is None:
            return meaning
        location = self.location(reference.index)
        if not isinstance(meaning, CellAt):
            self.error(reference.index.span, f"{described(meaning)} has no locations")
        elif not meaning.kind.located:
            self.error(
                reference.index.span, f"{meaning.kind} has no locations: there is one for all"
            )
        elif meaning.location is not None:
            self.error(reference.index.span, f"{reference.names[0]} has a location already")
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
        known = [*self.names, *self.layout.parts]
        inner = [f"{part}.{word}" for part, its in self.layout.parts.items() if word.text in its]
        hint = f"did you mean {inner[0]}?" if inner else guess(word.text, known)
        self.error(word.span, f"{word} must be a part of the state or a variable", hint)
        return None

    def _inside(
        self, meaning: Meaning, word: syntax.Word, reference: syntax.Reference
    ) -> Meaning | None:
        if isinstance(meaning, PlaceOf):
            if word.text in self.layout.parts:
                return self._part(word, meaning)
            hint = guess(word.text, self.layout.parts)
            self.error(word.span, f"{word} must be a part of the state", hint)
        elif isinstance(meaning, Part):
            if word.text in meaning.fields:
                variable = meaning.place.variable if meaning.place else None
                return CellAt(meaning.fields[word.text], variable)
            known = alternatives([*meaning.fields])
            message = f"{word} must be a cell of {meaning.name}: {known}"
            self.error(word.span, message, guess(word.text, meaning.fields))
        else:
            self.error(word.span, f"{described(meaning)} has no parts, so no {word}")
        return None

    def _part(self, word: syntax.Word, place: PlaceOf | None) -> Meaning | None:
        fields = self.layout.parts[word.text]
        kind = next(iter(fields.values()), None)
        if kind is None:
            return None
        inner = place.kind if place else self.owner.place
        if not self.layout.contains(kind.place, inner):
            message = f"{word} must be that of one {kind.place}, and a {inner} has several"
            letter = kind.place[0]
            hint = f"say `each {kind.place} {letter} in {self.owner.place}: … {letter}.{word} …`"
            self.error(word.span, message, hint)
            return None
        if "" in fields:
            return CellAt(fields[""], place.variable if place else None)
        return Part(word.text, fields, place)


def _wanted(sorts: tuple[Sort, ...]) -> str:
    return alternatives([f"a {sort.value}" for sort in sorts])


def _is_thread(meaning: Meaning | None) -> bool:
    return isinstance(meaning, PlaceOf) and meaning.kind == "thread"


def _fields_hint(part: Part) -> str:
    return f"its cells are {', '.join(f'{part.name}.{name}' for name in part.fields)}"


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
