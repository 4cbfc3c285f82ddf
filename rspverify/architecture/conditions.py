"""Conditions: from what is written to what a machine is made of."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar, assert_never

from rspverify.architecture import syntax
from rspverify.architecture.architecture import (
    All,
    Binder,
    Condition,
    Either,
    Element,
    FifoElement,
    Holds,
    InSpace,
    IsIn,
    IsOldest,
    IsReady,
    IsSwitched,
    Lacks,
    LocationElement,
    MarkerOf,
    Sort,
)
from rspverify.architecture.binders import bind
from rspverify.architecture.definitions import expand
from rspverify.architecture.scope import Scope
from rspverify.source import Span
from rspverify.wording import guess

Made = TypeVar("Made")


def conditions(nodes: Iterable[syntax.Condition], scope: Scope) -> tuple[Condition, ...]:
    """Conditions, with those that definitions stand for; what is wrong is told and left out."""
    return tuple(each for node in nodes for each in _conditions(node, scope))


def _conditions(node: syntax.Condition, scope: Scope) -> Sequence[Condition]:
    scope.spend(node.span)
    match node:
        case syntax.Bits():
            return _bits(node, scope)
        case syntax.All():
            inner = scope.deeper(node.span)
            return bound(node.binders, inner, lambda its: conditions(node.conditions, its), All)
        case syntax.Ready(_, reference):
            lock = scope.cell(reference, Sort.LOCK)
            return [IsReady(lock)] if lock else []
        case syntax.Oldest(_, reference, written):
            fifo, element = scope.cell(reference, Sort.FIFO), fifo_element(written, scope)
            return [IsOldest(fifo, element)] if fifo and element else []
        case syntax.Empty(_, reference):
            where = scope.cell(reference, Sort.FIFO, Sort.POOL)
            return [Lacks(where)] if where else []
        case syntax.LacksMarker(_, marker, reference):
            where, element = scope.cell(reference, Sort.FIFO), _marker(marker, scope)
            return [Lacks(where, element)] if where and element else []
        case syntax.LacksInstructions():
            return _lacks_instructions(node, scope)
        case syntax.SelfIn(span, reference):
            pool = scope.cell(reference, Sort.POOL)
            return [IsIn(pool)] if _is_instruction(span, scope) and pool else []
        case syntax.InSpace(_, word, space, value):
            location, known = scope.location(word), scope.is_space(space)
            return [InSpace(location, space.text, value)] if location and known else []
        case _:
            assert_never(node)


def bound(
    binders: Sequence[syntax.Binder],
    scope: Scope,
    inner: Callable[[Scope], tuple[Made, ...]],
    make: Callable[[Binder, tuple[Made, ...]], Made],
) -> list[Made]:
    """What is said for each place or location that variables stand for, one inside the other."""
    found: list[Binder | None] = []
    for each in binders:
        binder, scope = bind(each, scope)
        found.append(binder)
    made = inner(scope)
    for binder in reversed(found):
        made = (make(binder, made),) if binder is not None and made else ()
    return [*made]


def _bits(node: syntax.Bits, scope: Scope) -> Sequence[Condition]:
    found: list[Holds] = []
    for each in node.literals:
        if (switch := _switch(each, scope)) is not None:
            if len(node.literals) > 1:
                scope.error(
                    each.span, f"{switch} is a switch, and must stand alone, not beside `or`"
                )
            return [IsSwitched(switch, each.value)]
        if isinstance(each.what, syntax.Reference):
            bit = scope.cell(each.what, Sort.BIT)
            if bit is None:
                return []
            found.append(Holds(bit, each.value))
            continue
        inner = expand(each.what, scope, of_effects=False)
        its = conditions(inner.conditions, inner.scope) if inner else ()
        if len(node.literals) == 1:
            return its
        match its:
            case [Holds() as only]:
                found.append(only)
            case [Either(bits)]:
                found += bits
            case []:
                return []
            case _:
                scope.error(each.span, f"{each.what.name} must stand for a bit beside `or`")
                return []
    return [found[0] if len(found) == 1 else Either((*found,))]


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
    return [Lacks(where, None, names, node.own, location)] if where else []


def fifo_element(written: syntax.Element, scope: Scope) -> FifoElement | None:
    """What a fifo holds."""
    match written:
        case syntax.Itself(span):
            return Element.SELF if _is_instruction(span, scope) else None
        case syntax.Marker():
            return _marker(written, scope)
        case syntax.LocationNamed(_, word):
            location = scope.location(word)
            return LocationElement(location) if location else None
        case _:
            assert_never(written)


def _marker(written: syntax.Marker, scope: Scope) -> MarkerOf | None:
    if written.thread is not None:
        thread = scope.thread(written.thread)
        return MarkerOf(thread) if thread else None
    return MarkerOf() if scope.require_thread(written.span, "a marker") else None


def _is_instruction(span: Span, scope: Scope) -> bool:
    if scope.owner.operands is not None:
        return True
    scope.error(span, f"self is an instruction, and {scope.owner.name} is none")
    return False
