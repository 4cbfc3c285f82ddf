"""Effects: from what is written to what a machine is made of."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import assert_never

from rspverify.architecture import syntax
from rspverify.architecture.architecture import (
    CellAt,
    CopyTo,
    Each,
    Effect,
    Enter,
    Free,
    If,
    Leave,
    Read,
    SetTo,
    Sort,
    Take,
    Write,
    Written,
)
from rspverify.architecture.conditions import bound, conditions, fifo_element
from rspverify.architecture.definitions import Expanded, expand, value_of
from rspverify.architecture.scope import REGISTER, Scope, described


def effects(nodes: Iterable[syntax.Effect], scope: Scope) -> tuple[Effect, ...]:
    """Effects, with those that definitions stand for; what is wrong is told and left out."""
    return tuple(each for node in nodes for each in _effects(node, scope))


def _effects(node: syntax.Effect, scope: Scope) -> Sequence[Effect]:
    scope.spend(node.span)
    match node:
        case syntax.Assignment():
            return _assignment(node, scope)
        case syntax.Call():
            inner = expand(node, scope, of_effects=True)
            if inner is None:
                return ()
            made = effects(inner.effects, inner.scope)
            if inner.later:
                _begin(node, inner, scope)
            return made
        case syntax.SetLock(span, reference, taken):
            lock = scope.cell(reference, Sort.LOCK)
            if taken and not scope.require_thread(span, "the holder of a lock"):
                return []
            return [Take(lock) if taken else Free(lock)] if lock else []
        case syntax.Enter(_, written, reference, pool):
            where = scope.cell(reference, Sort.POOL if pool else Sort.FIFO)
            element = fifo_element(written, scope)
            return [Enter(where, element)] if where and element else []
        case syntax.Leave(_, reference, pool):
            where = scope.cell(reference, Sort.POOL if pool else Sort.FIFO)
            return [Leave(where)] if where else []
        case syntax.If(span, required, inner_effects):
            inner_scope = scope.deeper(span)
            its = conditions(required, inner_scope)
            made = effects(inner_effects, inner_scope)
            return [If(its, made)] if its and made else made
        case syntax.Each(span, binders, inner_effects):
            return bound(binders, scope.deeper(span), lambda its: effects(inner_effects, its), Each)
        case syntax.Nothing():
            return []
        case _:
            assert_never(node)


def _begin(node: syntax.Call, inner: Expanded, scope: Scope) -> None:
    """What an instruction begins by the use of a definition that has later steps."""
    begun = scope.begun
    if begun is None or scope.depth > len(scope.within):
        message = f"{node.name} must stand in the `do` of an instruction, in no block or step"
        scope.error(node.span, message, "it has later steps, which are those of an instruction")
    else:
        begun += [(each, inner.scope) for each in inner.later]


def _assignment(node: syntax.Assignment, scope: Scope) -> Sequence[Effect]:
    value = value_of(node.value, scope)
    if is_register(node.target) and REGISTER not in scope.names:
        if not scope.operand(REGISTER, node.target.span) or value is None:
            return []
        if isinstance(value, CellAt):
            source = scope.whole(value, node.value.span, Sort.VALUE)
            return [Read(source)] if source else []
        scope.error(node.value.span, f"what r becomes must be a value, not {described(value)}")
        return []
    target = scope.cell(node.target, Sort.BIT, Sort.VALUE)
    if target is None or value is None:
        return []
    if target.kind.sort is Sort.BIT:
        if isinstance(value, bool):
            return [SetTo(target, value)]
        message = f"a bit must become true or false, not {described(value)}"
        hint = "`if` tells the two cases apart" if isinstance(value, CellAt) else None
        scope.error(node.value.span, message, hint)
        return []
    if isinstance(value, Written):
        return [Write(target, value)]
    if isinstance(value, CellAt):
        source = scope.whole(value, node.value.span, Sort.VALUE)
        return [CopyTo(target, source)] if source else []
    scope.error(node.value.span, f"a value must become a value, not {described(value)}")
    return []


def is_register(reference: syntax.Reference) -> bool:
    """Whether it is `r`."""
    return [each.text for each in reference.names] == [REGISTER] and reference.index is None
