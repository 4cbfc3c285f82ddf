"""From written bodies to meanings: variables, definitions, conditions, effects."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeVar, assert_never

from rspverify.architecture import architecture as files
from rspverify.architecture import syntax
from rspverify.architecture.architecture import REACH, CellAt, Condition, Effect, Sort
from rspverify.architecture.layout import LOCATIONS, PLACES
from rspverify.architecture.scope import REGISTER, LocationOf, Meaning, PlaceOf, Scope, described
from rspverify.records import replace
from rspverify.wording import guess


def bind(binder: syntax.Binder, scope: Scope) -> tuple[files.Binder | None, Scope]:
    """The range of a variable, None after a mistake, and the scope with it."""
    scope = scope.deeper(binder.span)
    new = scope.require_new(binder.variable)
    name = _fresh(binder.variable.text, scope)
    match binder:
        case syntax.PlacesNamed():
            places = _places(binder, name, scope)
            kind = binder.kind.text if places else None
            meaning = PlaceOf(name, kind) if kind and new else None
            return places, scope.with_variable(binder.variable, name, meaning, PLACES)
        case syntax.LocationsNamed(_, space):
            known = space is not None and scope.is_space(space)
            locations = files.Locations(name, space.text if space and known else None)
            location = LocationOf(name) if new else None
            number = LOCATIONS * (len(scope.layout.spaces) if space is None else 1)
            return locations, scope.with_variable(binder.variable, name, location, number)
        case _:
            assert_never(binder)


def _fresh(variable: str, scope: Scope) -> str:
    """A fresh name for a variable, also outside of a definition."""
    name, number = variable, 2
    while name in scope.taken:
        name, number = f"{variable}{number}", number + 1
    return name


def _places(binder: syntax.PlacesNamed, name: str, scope: Scope) -> files.Places | None:
    if not scope.is_place(binder.kind):
        return None
    kind, layout, own = binder.kind.text, scope.layout, scope.owner.place
    around = binder.inside or binder.outside
    if binder.other and not layout.kinds.contains(kind, own):
        message = f"another {kind} must be one besides the own {kind}, and a {own} has no own one"
        scope.error(binder.span, message)
    elif around is None:
        return files.Places(name, kind, other=bool(binder.other))
    elif binder.inside is not None and around.text == REACH:
        if scope.operand(REACH, around.span):
            return files.Places(name, kind, REACH, other=bool(binder.other))
    elif scope.is_place(around):
        if not layout.kinds.contains(around.text, own):
            message = f"{around} must be a place that the own {own} is or lies in"
            scope.error(around.span, message)
        elif binder.outside and not layout.kinds.contains(around.text, kind):
            message = f"what is outside the own {around} must be no larger than it, not a {kind}"
            scope.error(around.span, message)
        else:
            inside = around.text if binder.inside else None
            outside = around.text if binder.outside else None
            return files.Places(name, kind, inside, outside, bool(binder.other))
    return None


def expand(
    call: syntax.Call, scope: Scope, *, of_effects: bool
) -> tuple[syntax.Definition, Scope] | None:
    """The definition of effects or of conditions that is used, and the scope of its parameters.

    None after a mistake.
    """
    name, definitions = call.name.text, scope.layout.definitions
    definition = definitions.get(name)
    arguments = [value_of(each, scope) for each in call.arguments]
    if definition is None or definition.of_effects is not of_effects:
        known = [it for it, its in definitions.items() if its.of_effects is of_effects]
        what, other = ("effects", "conditions") if of_effects else ("conditions", "effects")
        if definition is not None:
            message = f"{name} must stand for {what} here, not for {other}"
        else:
            message = f"{name} must be a definition of {what}"
        scope.error(call.name.span, message, guess(name, known))
        return None
    if name in scope.within:
        circle = " → ".join([*scope.within[scope.within.index(name) :], name])
        scope.error(call.span, f"{name} must not be defined by itself: {circle}")
        return None
    wanted, given = len(definition.parameters), len(arguments)
    if wanted != given:
        parameters = ", ".join(map(str, definition.parameters))
        message = f"{name}({parameters}) must be given {counted(wanted, 'argument')}, not {given}"
        scope.error(call.span, message)
        return None
    names = {it.text: value for it, value in zip(definition.parameters, arguments, strict=True)}
    inner = replace(
        scope.deeper(call.span),
        names=names,
        within=(*scope.within, name),
        used=scope.used or call.span,
    )
    return definition, inner


def value_of(expression: syntax.Expression, scope: Scope) -> Meaning | None:
    """The meaning of an expression; None after a mistake."""
    match expression:
        case syntax.Reference():
            return scope.value(expression)
        case syntax.Flag():
            return expression.value
        case syntax.Sum(span, left, right):
            if (left.text, right.text) == (REGISTER, "n"):
                return files.Written.SUM if scope.operand(REGISTER, span) else None
            scope.error(span, f"a sum must be r + n, not {span.text}")
            return None
        case syntax.Call(span, name, arguments):
            if name.text == "f" and _is_register(arguments):
                return files.Written.ANY if scope.operand(REGISTER, span) else None
            scope.error(span, f"what is written must be r, r + n, f(r) or a value, not {span.text}")
            return None
        case _:
            assert_never(expression)


def counted(number: int, noun: str) -> str:
    """`1 argument`, `2 arguments`."""
    return f"{number} {noun}{'s' * (number != 1)}"


def _is_register(arguments: Sequence[syntax.Expression]) -> bool:
    match arguments:
        case [syntax.Reference(_, [word], None)]:
            return word.text == REGISTER
        case _:
            return False


Made = TypeVar("Made")


def conditions(nodes: Iterable[syntax.Condition], scope: Scope) -> tuple[Condition, ...]:
    """The meanings of conditions, definitions expanded; without those that have mistakes."""
    return tuple(each for node in nodes for each in _conditions(node, scope))


def _conditions(node: syntax.Condition, scope: Scope) -> Sequence[Condition]:
    scope.spend(node.span)
    match node:
        case syntax.Bits():
            return _bits(node, scope)
        case syntax.All():
            inner = scope.deeper(node.span)
            return bound(
                node.binders, inner, lambda its: conditions(node.conditions, its), files.All
            )
        case syntax.Said():
            return _said(node, scope)
        case syntax.LacksInstructions():
            return _lacks_instructions(node, scope)
        case syntax.InSpace(_, word, negated, space):
            location, known = scope.location(word), scope.is_space(space)
            return [files.InSpace(location, space.text, not negated)] if location and known else []
        case _:
            assert_never(node)


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


def _said(node: syntax.Said, scope: Scope) -> list[Any]:
    make, sorts = _SAID[node.word]
    parts = [
        scope.cell(it, *sorts) if isinstance(it, syntax.Reference) else fifo_element(it, scope)
        for it in node.parts
    ]
    if node.word == "take" and not scope.require_thread(node.span, "the holder of a lock"):
        return []
    return [] if None in parts else [make(*parts)]


def bound(
    binders: Sequence[syntax.Binder],
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


def _bits(node: syntax.Bits, scope: Scope) -> Sequence[Condition]:
    found: list[files.Holds] = []
    for each in node.literals:
        if (switch := _switch(each, scope)) is not None:
            if len(node.literals) > 1:
                scope.error(
                    each.span, f"{switch} is a switch, and must stand alone, not beside `or`"
                )
            return [files.IsSwitched(switch, each.value)]
        if isinstance(each.what, syntax.Reference):
            bit = scope.cell(each.what, Sort.BIT)
            if bit is None:
                return []
            found.append(files.Holds(bit, each.value))
            continue
        used = expand(each.what, scope, of_effects=False)
        its = conditions(used[0].conditions, used[1]) if used else ()
        if len(node.literals) == 1:
            return its
        match its:
            case [files.Holds() as only]:
                found.append(only)
            case [files.Either(bits)]:
                found += bits
            case []:
                return []
            case _:
                scope.error(each.span, f"{each.what.name} must stand for a bit beside `or`")
                return []
    return [found[0] if len(found) == 1 else files.Either((*found,))]


def _switch(literal: syntax.Literal, scope: Scope) -> str | None:
    """The switch that a literal names."""
    what = literal.what
    if isinstance(what, syntax.Call) or what.index is not None or len(what.names) > 1:
        return None
    name = what.names[0].text
    return name if name in scope.layout.switches and name not in scope.names else None


def _lacks_instructions(node: syntax.LacksInstructions, scope: Scope) -> Sequence[Condition]:
    where = scope.cell(node.where, Sort.FIFO, Sort.POOL)
    location = scope.location(node.location.name) if node.location else None
    for name in node.instructions:
        if name.text not in scope.layout.instructions:
            hint = guess(name.text, scope.layout.instructions)
            scope.error(name.span, f"{name} must be an instruction of the machine", hint)
    if node.own and not scope.require_thread(node.span, "an own instruction"):
        return []
    names = tuple(each.text for each in node.instructions)
    return [files.Lacks(where, None, names, bool(node.own), location)] if where else []


def fifo_element(written: syntax.Element, scope: Scope) -> files.FifoElement | None:
    """The meaning of an element of a fifo; None after a mistake."""
    match written:
        case syntax.Itself(span):
            if scope.owner.operands is not None:
                return files.Element.SELF
            scope.error(span, f"self is an instruction, and {scope.owner.name} is none")
            return None
        case syntax.Marker():
            return _marker(written, scope)
        case syntax.LocationNamed(_, word):
            location = scope.location(word)
            return files.LocationElement(location) if location else None
        case _:
            assert_never(written)


def _marker(written: syntax.Marker, scope: Scope) -> files.MarkerOf | None:
    if written.thread is not None:
        thread = scope.thread(written.thread)
        return files.MarkerOf(thread) if thread else None
    return files.MarkerOf() if scope.require_thread(written.span, "a marker") else None


def effects(nodes: Iterable[syntax.Effect], scope: Scope) -> tuple[Effect, ...]:
    """The meanings of effects, definitions expanded; without those that have mistakes."""
    return tuple(each for node in nodes for each in _effects(node, scope))


def _effects(node: syntax.Effect, scope: Scope) -> Sequence[Effect]:
    scope.spend(node.span)
    match node:
        case syntax.Assignment():
            return _assignment(node, scope)
        case syntax.Call():
            used = expand(node, scope, of_effects=True)
            if used is None:
                return ()
            definition, inner = used
            made = effects(definition.effects, inner)
            if definition.later:
                _begin(node, [(each, inner) for each in definition.later], scope)
            return made
        case syntax.Said():
            return _said(node, scope)
        case syntax.If(span, required, inner_effects):
            inner_scope = scope.deeper(span)
            its = conditions(required, inner_scope)
            made = effects(inner_effects, inner_scope)
            return [files.If(its, made)] if its and made else made
        case syntax.Each(span, binders, inner_effects):
            return bound(
                binders, scope.deeper(span), lambda its: effects(inner_effects, its), files.Each
            )
        case syntax.Nothing():
            return []
        case _:
            assert_never(node)


def _begin(node: syntax.Call, later: list[tuple[syntax.Step, Scope]], scope: Scope) -> None:
    """Add the later steps of a definition to the instruction that uses it."""
    if scope.begun is None or scope.depth > len(scope.within):
        message = f"{node.name} must stand in the `do` of an instruction, in no block or step"
        scope.error(node.span, message, "it has later steps, which are those of an instruction")
    else:
        scope.begun.extend(later)


def _assignment(node: syntax.Assignment, scope: Scope) -> Sequence[Effect]:
    value = value_of(node.value, scope)
    if is_register(node.target) and REGISTER not in scope.names:
        if not scope.operand(REGISTER, node.target.span) or value is None:
            return []
        if isinstance(value, CellAt):
            source = scope.whole(value, node.value.span, Sort.VALUE)
            return [files.Read(source)] if source else []
        scope.error(node.value.span, f"what r becomes must be a value, not {described(value)}")
        return []
    target = scope.cell(node.target, Sort.BIT, Sort.VALUE)
    if target is None or value is None:
        return []
    if target.kind.sort is Sort.BIT:
        if isinstance(value, bool):
            return [files.SetTo(target, value)]
        message = f"a bit must become true or false, not {described(value)}"
        hint = "`if` tells the two cases apart" if isinstance(value, CellAt) else None
        scope.error(node.value.span, message, hint)
        return []
    if isinstance(value, files.Written):
        return [files.Write(target, value)]
    if isinstance(value, CellAt):
        source = scope.whole(value, node.value.span, Sort.VALUE)
        return [files.CopyTo(target, source)] if source else []
    scope.error(node.value.span, f"a value must become a value, not {described(value)}")
    return []


def is_register(reference: syntax.Reference) -> bool:
    """Whether it is `r`."""
    return [each.text for each in reference.names] == [REGISTER] and reference.index is None
