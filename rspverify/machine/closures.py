"""Rules as functions on concrete states, made once per machine so that a search is fast."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, assert_never

from rspverify.machine.rules import (
    AnyBit,
    Assign,
    Copy,
    Deliver,
    Dequeue,
    Enqueue,
    InstructionRule,
    Marker,
    Oldest,
    Ready,
    Rule,
    SetBit,
    SetLock,
)
from rspverify.machine.state import Layout, State
from rspverify.value import Constant, evaluate

Fire = Callable[[State], list[Any] | None]
"""From a state to the one after the rule, or None where the rule may not fire."""

Write = Callable[[State, list[Any]], None]
"""Puts one update into the state after, looking at the state before."""


def compile_rule(rule: Rule, layout: Layout) -> Fire:
    """The rule as a function. An instruction's place in program order is not its business."""
    bits: list[tuple[int, bool]] = []
    choices: list[list[tuple[int, bool]]] = []
    ready: list[tuple[int, frozenset[int]]] = []
    oldest: list[tuple[int, int]] = []
    for guard in rule.guards:
        match guard:
            case AnyBit(((bit, value),)):
                bits.append((layout.cell(bit), value))
            case AnyBit(alternatives):
                choices.append([(layout.cell(bit), value) for bit, value in alternatives])
            case Ready(lock, threads):
                ready.append((layout.cell(lock), frozenset({-1, *(it.thread for it in threads)})))
            case Oldest(cache, element):
                oldest.append((layout.fifo(cache), layout.number(element)))
            case _:
                assert_never(guard)
    delivered = [
        (layout.read(update.register), layout.cell(update.source))
        for update in rule.updates
        if isinstance(update, Deliver)
    ]
    writes = [_write(each, layout) for each in rule.updates if not isinstance(each, Deliver)]
    marker, fifos = 0, []
    if isinstance(rule, InstructionRule):
        marker, fifos = layout.number(Marker(rule.instruction.thread)), layout.fifos

    def fire(state: State) -> list[Any] | None:
        for slot, wanted in bits:
            if state[slot] != wanted:
                return None
        for alternatives in choices:
            if not any(state[slot] == value for slot, value in alternatives):
                return None
        for slot, holders in ready:
            if state[slot] not in holders:
                return None
        for slot, element in oldest:
            if not state[slot] or state[slot][0] != element:
                return None
        for slot in fifos:
            if marker in state[slot]:
                return None
        after = list(state)
        for target, source in delivered:
            after[target] = state[source]
        for write in writes:
            write(state, after)
        return after

    return fire


def _write(update: SetBit | SetLock | Assign | Copy | Enqueue | Dequeue, layout: Layout) -> Write:
    match update:
        case SetBit(bit, value):
            return _put(layout.cell(bit), value)
        case SetLock(lock, holder):
            return _put(layout.cell(lock), -1 if holder is None else holder.thread)
        case Assign(target, Constant(value)):
            return _put(layout.cell(target), value)
        case Assign(target, expression):
            return _put_by(
                layout.cell(target), lambda _, after: evaluate(expression, layout.values(after))
            )
        case Copy(target, source):
            place = layout.cell(source)
            return _put_by(layout.cell(target), lambda before, _: before[place])
        case Enqueue(cache, element):
            fifo, number = layout.fifo(cache), layout.number(element)
            return _put_by(fifo, lambda _, after: (*after[fifo], number))
        case Dequeue(cache):
            fifo = layout.fifo(cache)
            return _put_by(fifo, lambda _, after: after[fifo][1:])
        case _:
            assert_never(update)


def _put(place: int, value: object) -> Write:
    def put(_: State, after: list[Any]) -> None:
        after[place] = value

    return put


def _put_by(place: int, function: Callable[[State, list[Any]], object]) -> Write:
    def put(before: State, after: list[Any]) -> None:
        after[place] = function(before, after)

    return put
