"""The names for all bodies of a machine: places, reaches, memories, parts of the state."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import chain, combinations, pairwise
from typing import TypeVar

from msgspec import Struct, field

from rspverify.architecture import syntax
from rspverify.architecture.architecture import CellKind, Kinds, Sort
from rspverify.architecture.declarations import Declaration, Declarations
from rspverify.architecture.problems import Problems, is_one_of
from rspverify.source import Span
from rspverify.wording import alternatives, guess

MAX_PARTS = 10_000
"""How many conditions and effects a machine has, once its definitions are expanded."""

MAX_SPREAD = 20_000
"""How many there are once for each place and location of the variables around them."""

PLACES = 3
"""How many places a variable is taken to stand for: so many show all that a machine is like."""

LOCATIONS = 2
"""How many locations of each kind of memory."""


class Budget:
    """The number of conditions and effects so far, as written and for each place and location."""

    def __init__(self, problems: Problems) -> None:
        self._problems = problems
        self._spent = 0
        self._spread = 0

    def spend(self, span: Span, spread: int, owner: str) -> None:
        """Count one of an owner's. Raises InputError where there are too many.

        spread: for how many places and locations it is, each with each.
        """
        self._spent += 1
        self._spread += spread
        if self._spent > MAX_PARTS:
            message = f"a machine must have at most {MAX_PARTS:,} conditions and effects"
            hint = "definitions that use each other often stand for very many"
            self._problems.stop(span, message, hint)
        if self._spread > MAX_SPREAD:
            message = (
                f"{owner} must have fewer variables inside each other: for {PLACES} of each place "
                f"and {LOCATIONS} locations the machine has more than {MAX_SPREAD:,} conditions "
                "and effects"
            )
            self._problems.stop(span, message, "`each` in `each` multiplies them")


class Layout(Struct, frozen=True):
    """The names for all bodies of a machine.

    parts: of each part of the state, its cells by field; "" is the field of a part that is one
    cell. instructions: their names.
    """

    kinds: Kinds
    reaches: Mapping[str, str]
    spaces: tuple[str, ...]
    parts: Mapping[str, Mapping[str, CellKind]]
    definitions: Mapping[str, syntax.Definition]
    switches: frozenset[str]
    instructions: frozenset[str]
    problems: Problems
    budget: Budget

    @property
    def places(self) -> tuple[str, ...]:
        """The kinds of places, the innermost first."""
        return self.kinds.names


class Owner(Struct, frozen=True):
    """Whose body it is.

    place: the kind of its own place. operands: those of an instruction, None in any other body.
    used: the operands that were seen in the body.
    """

    name: str
    place: str
    operands: str | None = None
    used: set[str] = field(default_factory=set)


OF_PROGRAMS = ("thread", "workgroup", "device", "system")
"""The kinds of places that programs say, the innermost first."""

EXAMPLE = f"such as `places {' < '.join(OF_PROGRAMS)}`"


def read_places(item: syntax.Node | None, whole: Span, problems: Problems) -> Kinds:
    """The kinds that are declared. Raises InputError where something is wrong with them."""
    if item is None:
        problems.stop(whole, "a machine must have places, innermost first", EXAMPLE)
    chains: tuple[tuple[syntax.Place, ...], ...] = item.parts[0]
    before = problems.noted
    problems.once((it.name for it in chains[0]), "must be one place, not two")
    first: dict[str, syntax.Place] = {}
    for it in chain.from_iterable(chains):
        known = first.setdefault(it.name.text, it)
        if it is not known and it not in chains[0] and (it.open or it.per):
            message = f"what {it.name} is must be said once, where it stands first"
            problems.again(it.span, message, known.span)
    for it in first.values():
        _check(it, first, problems)
    if problems.noted > before:
        problems.raise_any()
    alike = {name: it.per.text for name, it in first.items() if it.per is not None}
    kind = {name: alike.get(name, name) for name in first}
    around = _around([[kind[it.name.text] for it in its] for its in chains])
    names = _innermost_first(kind, around)
    if not _in_order([it.name.text for it in chains[0]], {*kind.values()}, around):
        message = "places must begin with thread and end with system, the innermost first"
        problems.stop(item.span, message, EXAMPLE)
    open_ = tuple(name for name in names if first[name].open)
    sorted_around = {name: tuple(it for it in names if it in its) for name, its in around.items()}
    return Kinds(names, alike, open_, sorted_around)


def _check(it: syntax.Place, every: Iterable[str], problems: Problems) -> None:
    name, per = it.name.text, it.per
    own = [each for each in OF_PROGRAMS if each in every]
    if per is not None and per.text not in own:
        message = f"{per} must be one of the places that programs say: {alternatives(own)}"
        problems.error(per.span, message, guess(per.text, OF_PROGRAMS))
    elif (per or it.open) and name in OF_PROGRAMS:
        message = f"which {name}s there are is said by the program, not by `"
        problems.error(it.name.span, f"{message}{'per' if per else 'any'}`")
    elif per and it.open:
        message = f"{name} must be one for each {per}, or open to any, not both"
        problems.error(it.span, message)
    elif not per and not it.open and name not in OF_PROGRAMS:
        message = f"{name} must say for what there is one: programs say {', '.join(OF_PROGRAMS)}"
        hint = (
            f"such as `{name} per workgroup`; `any {name}` is one of which programs do not say "
            "who is in it"
        )
        problems.error(it.name.span, message, guess(name, OF_PROGRAMS) or hint)


_Around = Mapping[str, set[str]]
"""By kind, all that lie around it; a kind around itself is a circle."""


def _around(chains: list[list[str]]) -> _Around:
    """What the chains say."""
    around: dict[str, set[str]] = {name: set() for name in chain.from_iterable(chains)}
    for inner, outer in chain.from_iterable(map(pairwise, chains)):
        if inner != outer:
            around[inner].add(outer)
    for middle in around:
        for its in around.values():
            if middle in its:
                its |= around[middle]
    return around


def _innermost_first(kind: Mapping[str, str], around: _Around) -> tuple[str, ...]:
    """The names, each before those around it; else in the order in which they are declared."""
    left, found = list(kind), list[str]()
    while left:
        outer = set[str]().union(*(around[kind[it]] for it in left))
        found.append(next((it for it in left if kind[it] not in outer), left[0]))
        left.remove(found[-1])
    return tuple(found)


def _in_order(first: list[str], kinds: set[str], around: _Around) -> bool:
    """Whether all lie between thread and system, those that programs say as they say it."""
    own = [name for name in OF_PROGRAMS if name in kinds]
    return (
        first[0] == "thread"
        and first[-1] == "system"
        and not any(kind in its for kind, its in around.items())
        and all(outer in around[inner] for inner, outer in combinations(own, 2))
        and all(kind == "thread" or kind in around["thread"] for kind in kinds)
        and all(kind == "system" or "system" in around[kind] for kind in kinds)
    )


MAX_CELLS = 500
"""How many kinds of cells a state has: the paper's has thirteen."""

_SORTS = {sort.value: sort for sort in Sort}

Kind = TypeVar("Kind", bound=Declaration)


def read_layout(
    declared: Declarations, whole: Span, problems: Problems, broken: frozenset[str]
) -> Layout:
    """The names for all bodies of a machine. Raises InputError if it has no places.

    whole: the span for missing declarations. broken: the names of declarations with syntax errors.
    """
    kinds = read_places(once(declared, "places"), whole, problems)
    return Layout(
        kinds,
        _reaches(declared, kinds.names, problems),
        _spaces(declared, problems),
        _parts(declared, kinds.names, problems),
        {it.name.text: it for it in of_kind(declared, syntax.Definition)},
        frozenset(it.name.text for it in of_kind(declared, syntax.Switch)),
        frozenset(it.name.text for it in of_kind(declared, syntax.Instruction)) | broken,
        problems,
        Budget(problems),
    )


def of_kind(declared: Declarations, kind: type[Kind]) -> list[Kind]:
    """The declarations of a kind, in order."""
    return [each for each in declared.values() if isinstance(each, kind)]


def once(declared: Declarations, kind: str) -> syntax.Node | None:
    """What a machine has once."""
    found = declared.get((kind, ""))
    return found if isinstance(found, syntax.Node) else None


def _reaches(declared: Declarations, places: tuple[str, ...], problems: Problems) -> dict[str, str]:
    item = once(declared, "reaches")
    reaches: tuple[tuple[syntax.Word, syntax.Word], ...] = item.parts[0] if item else ()
    problems.once((name for name, _ in reaches), "must be one reach, not two")
    found: dict[str, str] = {}
    for name, place in reaches:
        known = is_one_of(place, "a kind of place", places, problems)
        found[name.text] = place.text if known else places[-1]
    return found


def _spaces(declared: Declarations, problems: Problems) -> tuple[str, ...]:
    item = once(declared, "spaces")
    names: tuple[syntax.Word, ...] = item.parts[0] if item else ()
    problems.once(names, "must be one kind of memory, not two")
    return tuple(each.text for each in names) or ("global",)


# ---- the parts of the state ----------------------------------------------------------------------


def _parts(
    declared: Declarations, places: tuple[str, ...], problems: Problems
) -> dict[str, dict[str, CellKind]]:
    types = {it.name.text: it for it in of_kind(declared, syntax.TypeOf)}
    for each in types.values():
        if each.name.text in _SORTS:
            message = f"{each.name} is a sort of its own: a type must have another name"
            problems.error(each.name.span, message)
        problems.once((cell.name for cell in each.cells), "must be one cell, not two")
    found: dict[str, dict[str, CellKind]] = {}
    for part in of_kind(declared, syntax.Cell):
        found[part.name.text] = _part(part, types, places, problems)
        if sum(map(len, found.values())) > MAX_CELLS:
            message = f"the state must have at most {MAX_CELLS} cells for each place and location"
            problems.stop(part.span, message)
    return found


def _part(
    part: syntax.Cell,
    types: Mapping[str, syntax.TypeOf],
    places: tuple[str, ...],
    problems: Problems,
) -> dict[str, CellKind]:
    """The cells of a part, none if it is wrong."""
    name = part.name.text
    if part.place is None:
        message = f"{name} must say what there is one of it for: `of` a place"
        problems.error(part.span, message, f"such as `of {places[0]}`")
        return {}
    if not is_one_of(part.place, "a kind of place", places, problems):
        return {}
    if part.sort.text not in types:
        kind = _cell(part, name, "", part.place.text, problems, types)
        return {} if kind is None else {"": kind}
    if part.location or part.start is not None:
        what = "locations" if part.location else "start"
        message = f"{name} must have no {what} of its own: its cells have, in the type {part.sort}"
        problems.error(part.span, message)
    cells: dict[str, CellKind] = {}
    for each in types[part.sort.text].cells:
        if each.place is not None:
            message = f"{each.name} must be of no place: each part of the type says of which it is"
            problems.error(each.place.span, message)
        kind = _cell(each, name, each.name.text, part.place.text, problems)
        if kind is not None:
            cells[each.name.text] = kind
    return cells


def _cell(
    cell: syntax.Cell,
    structure: str,
    field: str,
    place: str,
    problems: Problems,
    types: Iterable[str] = (),
) -> CellKind | None:
    if not is_one_of(cell.sort, "a sort", [*_SORTS, *types], problems):
        return None
    sort = _SORTS[cell.sort.text]
    if cell.start is not None and sort is not Sort.BIT:
        message = f"{cell.name} must not say what it is at first, as it is a {sort.value}, no bit"
        problems.error(cell.span, message)
    return CellKind(structure, field, sort, place, cell.location is not None, bool(cell.start))
