"""Variables that stand for each place or location."""

from __future__ import annotations

from typing import assert_never

from rspverify.architecture import syntax
from rspverify.architecture.architecture import REACH, Binder, Locations, Places
from rspverify.architecture.layout import LOCATIONS, PLACES
from rspverify.architecture.scope import LocationOf, PlaceOf, Scope


def bind(binder: syntax.Binder, scope: Scope) -> tuple[Binder | None, Scope]:
    """What a variable ranges over, None if that is wrong, and the scope in which it is known."""
    scope = scope.deeper(binder.span)
    new = scope.require_new(binder.variable)
    name = _fresh(binder.variable.text, scope)
    match binder:
        case syntax.PlacesNamed():
            places = _places(binder, name, scope)
            kind = binder.kind.text if places else None
            meaning = PlaceOf(name, kind) if kind and new else None
            return places, scope.with_variable(binder.variable, name, meaning, PLACES)
        case syntax.LocationsNamed(_, _, space):
            known = space is not None and scope.is_space(space)
            locations = Locations(name, space.text if space and known else None)
            location = LocationOf(name) if new else None
            number = LOCATIONS * (len(scope.layout.spaces) if space is None else 1)
            return locations, scope.with_variable(binder.variable, name, location, number)
        case _:
            assert_never(binder)


def _fresh(variable: str, scope: Scope) -> str:
    """A name for the variable that nothing around it has, be it around a definition."""
    name, number = variable, 2
    while name in scope.taken:
        name, number = f"{variable}{number}", number + 1
    return name


def _places(binder: syntax.PlacesNamed, name: str, scope: Scope) -> Places | None:
    if not scope.is_place(binder.kind):
        return None
    kind, layout, own = binder.kind.text, scope.layout, scope.owner.place
    around = binder.inside or binder.outside
    if binder.other and not layout.contains(kind, own):
        message = f"another {kind} must be one besides the own {kind}, and a {own} has no own one"
        scope.error(binder.span, message)
    elif around is None:
        return Places(name, kind, other=binder.other)
    elif binder.inside is not None and around.text == REACH:
        if scope.operand(REACH, around.span):
            return Places(name, kind, REACH, other=binder.other)
    elif scope.is_place(around):
        if not layout.contains(around.text, own):
            message = f"{around} must be a place that the own {own} is or lies in"
            scope.error(around.span, message)
        elif binder.outside and not layout.contains(around.text, kind):
            message = f"what is outside the own {around} must be no larger than it, not a {kind}"
            scope.error(around.span, message)
        else:
            inside = around.text if binder.inside else None
            outside = around.text if binder.outside else None
            return Places(name, kind, inside, outside, binder.other)
    return None
