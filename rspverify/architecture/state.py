"""What there is of a machine: its places, reaches, kinds of memory, and the parts of its state."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TypeVar

from rspverify.architecture import syntax
from rspverify.architecture.architecture import CellKind, Sort
from rspverify.architecture.declarations import Declaration, Declarations
from rspverify.architecture.layout import Budget, Layout
from rspverify.architecture.places import read_places
from rspverify.architecture.problems import Problems
from rspverify.source import Span
from rspverify.wording import alternatives, guess

MAX_CELLS = 500
"""How many kinds of cells a state has: the paper's has thirteen."""

_SORTS = {sort.value: sort for sort in Sort}

Kind = TypeVar("Kind", bound=Declaration)


def read_layout(
    declared: Declarations, whole: Span, problems: Problems, broken: frozenset[str]
) -> Layout:
    """What the bodies of a machine may name. Raises InputError where it has no places.

    whole: where what is missing is told. broken: the names of what is declared and cannot be read.
    """
    kinds = read_places(next(iter(of_kind(declared, syntax.Places)), None), whole, problems)
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


def _reaches(declared: Declarations, places: tuple[str, ...], problems: Problems) -> dict[str, str]:
    found: dict[str, str] = {}
    for item in of_kind(declared, syntax.Reaches):
        _once((name for name, _ in item.reaches), "reach", problems)
        for name, place in item.reaches:
            found[name.text] = place.text if place.text in places else places[-1]
            _require_place(place, places, problems)
    return found


def _require_place(place: syntax.Word, places: tuple[str, ...], problems: Problems) -> None:
    if place.text not in places:
        message = f"{place} must be a kind of place: {alternatives(places)}"
        problems.error(place.span, message, guess(place.text, places))


def _spaces(declared: Declarations, problems: Problems) -> tuple[str, ...]:
    for item in of_kind(declared, syntax.Spaces):
        _once(item.names, "kind of memory", problems)
        return tuple(each.text for each in item.names)
    return ("global",)


def _once(names: Iterable[syntax.Word], what: str, problems: Problems) -> None:
    first: dict[str, Span] = {}
    for each in names:
        if each.text in first:
            message = f"{each} must be one {what}, not two"
            problems.again(each.span, message, first[each.text])
        first.setdefault(each.text, each.span)


# ---- the parts of the state ----------------------------------------------------------------------


def _parts(
    declared: Declarations, places: tuple[str, ...], problems: Problems
) -> dict[str, dict[str, CellKind]]:
    types = {it.name.text: it for it in of_kind(declared, syntax.TypeOf)}
    for each in types.values():
        if each.name.text in _SORTS:
            message = f"{each.name} is a sort of its own: a type must have another name"
            problems.error(each.name.span, message)
        _once((cell.name for cell in each.cells), "cell", problems)
    found: dict[str, dict[str, CellKind]] = {}
    number = 0
    for part in of_kind(declared, syntax.Cell):
        found[part.name.text] = _part(part, types, places, problems)
        number += len(found[part.name.text])
        if number > MAX_CELLS:
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
    _require_place(part.place, places, problems)
    if part.place.text not in places:
        return {}
    if part.sort.text not in types:
        kind = _cell(part, name, "", part.place.text, problems, types)
        return {} if kind is None else {"": kind}
    if part.located or part.start is not None:
        what = "locations" if part.located else "start"
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
    sort = _SORTS.get(cell.sort.text)
    if sort is None:
        known = [*_SORTS, *types]
        message = f"{cell.sort} must be a sort: {alternatives(known)}"
        problems.error(cell.sort.span, message, guess(cell.sort.text, known))
        return None
    if cell.start is not None and sort is not Sort.BIT:
        message = f"{cell.name} must not say what it is at first, as it is a {sort.value}, no bit"
        problems.error(cell.span, message)
    return CellKind(structure, field, sort, place, cell.located, bool(cell.start))
