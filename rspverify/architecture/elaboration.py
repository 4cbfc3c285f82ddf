"""From written bodies to meanings: variables, definitions, conditions, effects."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeVar

from rspverify.architecture import architecture as files
from rspverify.architecture import syntax
from rspverify.architecture.architecture import REACH, CellAt, Condition, Effect, Sort
from rspverify.architecture.layout import LOCATIONS, PLACES
from rspverify.architecture.scope import REGISTER, LocationOf, Meaning, PlaceOf, Scope, described
from rspverify.architecture.syntax import Node
from rspverify.records import replace
from rspverify.wording import guess


def bind(binder: Node, scope: Scope) -> tuple[files.Binder | None, Scope]:
    """The range of a variable, None after a mistake, and the scope with it."""
    scope = scope.deeper(binder.span)
    of_locations = binder.kind == "locations_named"
    variable: syntax.Word = binder.parts[1 if of_locations else 2]
    new = scope.require_new(variable)
    name = _fresh(variable.text, scope)
    if not of_locations:
        places = _places(binder, name, scope)
        place = PlaceOf(name, places.kind) if places and new else None
        return places, scope.with_variable(variable, name, place, PLACES)
    space: syntax.Word | None = binder.parts[0]
    known = space is not None and scope.is_space(space)
    locations = files.Locations(name, space.text if space and known else None)
    location = LocationOf(name) if new else None
    number = LOCATIONS * (len(scope.layout.spaces) if space is None else 1)
    return locations, scope.with_variable(variable, name, location, number)


def _fresh(variable: str, scope: Scope) -> str:
    """A fresh name for a variable, also outside of a definition."""
    name, number = variable, 2
    while name in scope.taken:
        name, number = f"{variable}{number}", number + 1
    return name


def _places(binder: Node, name: str, scope: Scope) -> files.Places | None:
    other, word, _, around = binder.parts
    if not scope.is_place(word):
        return None
    kind, contains, own = word.text, scope.layout.kinds.contains, scope.owner.place
    outside = binder.kind == "places_outside"
    if other and not contains(kind, own):
        message = f"another {kind} must be one besides the own {kind}, and a {own} has no own one"
        scope.error(binder.span, message)
    elif around is None:
        return files.Places(name, kind, other=bool(other))
    elif not outside and around.text == REACH:
        if scope.operand(REACH, around.span):
            return files.Places(name, kind, REACH, other=bool(other))
    elif scope.is_place(around):
        if not contains(around.text, own):
            message = f"{around} must be a place that the own {own} is or lies in"
            scope.error(around.span, message)
        elif outside and not contains(around.text, kind):
            message = f"what is outside the own {around} must be no larger than it, not a {kind}"
            scope.error(around.span, message)
        elif outside:
            return files.Places(name, kind, None, around.text, bool(other))
        else:
            return files.Places(name, kind, around.text, None, bool(other))
    return None


def expand(call: Node, scope: Scope, *, of_effects: bool) -> tuple[syntax.Definition, Scope] | None:
    """The definition of effects or of conditions that is used, and the scope of its parameters.

    None after a mistake.
    """
    (word, given), definitions = call.parts, scope.layout.definitions
    name, arguments = word.text, [value_of(each, scope) for each in given]
    definition = definitions.get(name)
    if definition is None or definition.of_effects is not of_effects:
        known = [it for it, its in definitions.items() if its.of_effects is of_effects]
        what, other = ("effects", "conditions") if of_effects else ("conditions", "effects")
        if definition is not None:
            message = f"{name} must stand for {what} here, not for {other}"
        else:
            message = f"{name} must be a definition of {what}"
        scope.error(word.span, message, guess(name, known))
        return None
    if name in scope.within:
        circle = " → ".join([*scope.within[scope.within.index(name) :], name])
        scope.error(call.span, f"{name} must not be defined by itself: {circle}")
        return None
    wanted = len(definition.parameters)
    if wanted != len(given):
        parameters = ", ".join(map(str, definition.parameters))
        many = f"{wanted} argument{'s' * (wanted != 1)}"
        scope.error(call.span, f"{name}({parameters}) must be given {many}, not {len(given)}")
        return None
    names = {it.text: value for it, value in zip(definition.parameters, arguments, strict=True)}
    inner = replace(
        scope.deeper(call.span),
        names=names,
        within=(*scope.within, name),
        used=scope.used or call.span,
    )
    return definition, inner


def value_of(expression: syntax.Reference | Node, scope: Scope) -> Meaning | None:
    """The meaning of an expression; None after a mistake."""
    if isinstance(expression, syntax.Reference):
        return scope.value(expression)
    span = expression.span
    match expression.kind, expression.parts:
        case "flag", (bool(value),):
            return value
        case "sum", (left, right):
            if (left.text, right.text) == (REGISTER, "n"):
                return files.Written.SUM if scope.operand(REGISTER, span) else None
            scope.error(span, f"a sum must be r + n, not {span.text}")
        case "call", (name, arguments):
            if name.text == "f" and len(arguments) == 1 and is_register(arguments[0]):
                return files.Written.ANY if scope.operand(REGISTER, span) else None
            scope.error(span, f"what is written must be r, r + n, f(r) or a value, not {span.text}")
        case _:
            raise AssertionError(expression.kind)
    return None


Made = TypeVar("Made")


def conditions(nodes: Iterable[Node], scope: Scope) -> tuple[Condition, ...]:
    """The meanings of conditions, definitions expanded; without those that have mistakes."""
    return tuple(each for node in nodes for each in _conditions(node, scope))


def _conditions(node: Node, scope: Scope) -> Sequence[Condition]:
    scope.spend(node.span)
    match node.kind, node.parts:
        case "bits", (literals,):
            return _bits(literals, scope)
        case "all", (binders, inner):
            within = scope.deeper(node.span)
            return bound(binders, within, lambda its: conditions(inner, its), files.All)
        case "lacks_instructions", _:
            return _lacks_instructions(node, scope)
        case "in_space", (word, negated, space):
            if space.text == scope.layout.places[-1] and space.text not in scope.layout.spaces:
                location = scope.location(word)
                return [files.OfWidestScope(location, not negated)] if location else []
            location, known = scope.location(word), scope.is_space(space)
            return [files.InSpace(location, space.text, not negated)] if location and known else []
        case _:
            return _said(node, scope)


_SAID: Mapping[str, tuple[Callable[..., Any], tuple[Sort, ...]]] = {
    "ready": (files.IsReady, (Sort.LOCK,)),
    "oldest": (files.IsOldest, (Sort.FIFO,)),
    "empty": (files.Lacks, (Sort.FIFO, Sort.POOL)),
    "lacks_marker": (lambda marker, fifo: files.Lacks(fifo, marker), (Sort.FIFO,)),
    "self_in": (lambda _, pool: files.IsIn(pool), (Sort.POOL,)),
    "take": (files.Take, (Sort.LOCK,)),
    "free": (files.Free, (Sort.LOCK,)),
    "enqueue": (lambda element, fifo: files.Enter(fifo, element), (Sort.FIFO,)),
    "dequeue": (files.Leave, (Sort.FIFO,)),
    "add": (lambda element, pool: files.Enter(pool, element), (Sort.POOL,)),
    "remove": (lambda _, pool: files.Leave(pool), (Sort.POOL,)),
}
"""What is made of the parts, by the word, and the possible sorts of the cell among them."""


def _said(node: Node, scope: Scope) -> list[Any]:
    make, sorts = _SAID[node.kind]
    parts = [
        scope.cell(it, *sorts) if isinstance(it, syntax.Reference) else fifo_element(it, scope)
        for it in node.parts
    ]
    if node.kind == "take" and not scope.require_thread(node.span, "the holder of a lock"):
        return []
    return [] if None in parts else [make(*parts)]


def bound(
    binders: Sequence[Node],
    scope: Scope,
    inner: Callable[[Scope], tuple[Made, ...]],
    make: Callable[[files.Binder, tuple[Made, ...]], Made],
) -> list[Made]:
    """Parts for each place or location that variables stand for, one inside the other."""
    found: list[files.Binder | None] = []
    for each in binders:
        binder, scope = bind(each, scope)
        found.append(binder)
    made = inner(scope)
    for binder in reversed(found):
        made = (make(binder, made),) if binder is not None and made else ()
    return [*made]


def _bits(literals: Sequence[Node], scope: Scope) -> Sequence[Condition]:
    found: list[files.Holds | files.Occupied] = []
    for each in literals:
        *negated, what = each.parts
        value = not any(negated)
        if (switch := _switch(what, scope)) is not None:
            if len(literals) > 1:
                message = f"{switch} is a switch, and must stand alone, not beside `or`"
                scope.error(each.span, message)
            return [files.IsSwitched(switch, value)]
        if isinstance(what, Node) and what.kind == "occupied":
            if (pool := scope.cell(what.parts[0], Sort.POOL)) is None:
                return []
            found.append(files.Occupied(pool))
            continue
        if isinstance(what, syntax.Reference):
            bit = scope.cell(what, Sort.BIT)
            if bit is None:
                return []
            found.append(files.Holds(bit, value))
            continue
        used = expand(what, scope, of_effects=False)
        its = conditions(used[0].conditions, used[1]) if used else ()
        if len(literals) == 1:
            return its
        match its:
            case [files.Holds() | files.Occupied() as only]:
                found.append(only)
            case [files.Either(bits)]:
                found += bits
            case []:
                return []
            case _:
                scope.error(each.span, f"{what.parts[0]} must stand for a bit beside `or`")
                return []
    return [found[0] if len(found) == 1 else files.Either((*found,))]


def _switch(what: syntax.Reference | Node, scope: Scope) -> str | None:
    """The switch that a literal names."""
    if isinstance(what, Node) or what.index is not None or len(what.names) > 1:
        return None
    name = what.names[0].text
    return name if name in scope.layout.switches and name not in scope.names else None


def _lacks_instructions(node: Node, scope: Scope) -> Sequence[Condition]:
    own, names, of, place = node.parts
    where = scope.cell(place, Sort.FIFO, Sort.POOL)
    location = scope.location(of.parts[0]) if of else None
    for name in names:
        if name.text not in scope.layout.instructions:
            hint = guess(name.text, scope.layout.instructions)
            scope.error(name.span, f"{name} must be an instruction of the machine", hint)
    if own and not scope.require_thread(node.span, "an own instruction"):
        return []
    every = tuple(each.text for each in names)
    return [files.Lacks(where, None, every, bool(own), location)] if where else []


def fifo_element(written: Node, scope: Scope) -> files.FifoElement | None:
    """The meaning of an element of a fifo; None after a mistake."""
    match written.kind, written.parts:
        case "itself", ():
            if scope.owner.operands is not None:
                return files.Element.SELF
            scope.error(written.span, f"self is an instruction, and {scope.owner.name} is none")
            return None
        case "marker", (None,):
            own = scope.require_thread(written.span, "a marker")
            return files.MarkerOf() if own else None
        case "marker", (word,):
            thread = scope.thread(word)
            return files.MarkerOf(thread) if thread else None
        case "location_named", (word,):
            location = scope.location(word)
            return files.LocationElement(location) if location else None
        case _:
            raise AssertionError(written.kind)


def effects(nodes: Iterable[Node], scope: Scope) -> tuple[Effect, ...]:
    """The meanings of effects, definitions expanded; without those that have mistakes."""
    return tuple(each for node in nodes for each in _effects(node, scope))


def _effects(node: Node, scope: Scope) -> Sequence[Effect]:
    scope.spend(node.span)
    match node.kind, node.parts:
        case "assignment", (target, value):
            return _assignment(target, value, scope)
        case "call", _:
            used = expand(node, scope, of_effects=True)
            if used is None:
                return ()
            definition, inner = used
            made = effects(definition.effects, inner)
            if definition.later:
                _begin(node, [(each, inner) for each in definition.later], scope)
            return made
        case "if", (required, its):
            inner = scope.deeper(node.span)
            holding, made = conditions(required, inner), effects(its, inner)
            return [files.If(holding, made)] if holding and made else made
        case "each", (binders, its):
            return bound(binders, scope.deeper(node.span), lambda it: effects(its, it), files.Each)
        case "nothing", _:
            return []
        case _:
            return _said(node, scope)


def _begin(node: Node, later: list[tuple[syntax.Step, Scope]], scope: Scope) -> None:
    """Add the later steps of a definition to the instruction that uses it."""
    if scope.begun is None or scope.depth > len(scope.within):
        message = f"{node.parts[0]} must stand in the `do` of an instruction, in no block or step"
        scope.error(node.span, message, "it has later steps, which are those of an instruction")
    else:
        scope.begun.extend(later)


def _assignment(
    written: syntax.Reference, by: syntax.Reference | Node, scope: Scope
) -> Sequence[Effect]:
    value = value_of(by, scope)
    if is_register(written) and REGISTER not in scope.names:
        if not scope.operand(REGISTER, written.span) or value is None:
            return []
        if isinstance(value, CellAt):
            source = scope.whole(value, by.span, Sort.VALUE)
            return [files.Read(source)] if source else []
        scope.error(by.span, f"what r becomes must be a value, not {described(value)}")
        return []
    target = scope.cell(written, Sort.BIT, Sort.VALUE)
    if target is None or value is None:
        return []
    if target.kind.sort is Sort.BIT:
        if isinstance(value, bool):
            return [files.SetTo(target, value)]
        message = f"a bit must become true or false, not {described(value)}"
        hint = "`if` tells the two cases apart" if isinstance(value, CellAt) else None
        scope.error(by.span, message, hint)
        return []
    if isinstance(value, files.Written):
        return [files.Write(target, value)]
    if isinstance(value, CellAt):
        source = scope.whole(value, by.span, Sort.VALUE)
        return [files.CopyTo(target, source)] if source else []
    scope.error(by.span, f"a value must become a value, not {described(value)}")
    return []


def is_register(expression: syntax.Reference | Node) -> bool:
    """Whether it is `r`."""
    return isinstance(expression, syntax.Reference) and expression.span.text == REGISTER
