"""Rules as functions on concrete states, made once per machine so that a search is fast."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, assert_never

from rspverify.machine import rules
from rspverify.machine.rules import InstructionRule, Rule, Update, Wait
from rspverify.machine.state import Layout, State
from rspverify.value import Constant, evaluate

Fire = Callable[[State], list[Any] | None]
"""From a state to the one after the rule, or None where the rule may not fire."""

Write = Callable[[State, list[Any]], None]
"""Puts one update into the state after, looking at the state before."""


def alternatives(guard: Wait, layout: Layout) -> list[tuple[int, frozenset[object]]]:
    """A guard as the places of a state and what they may hold, one of which must be so."""
    match guard:
        case rules.AnyBit(bits):
            return [(layout.cell(bit), frozenset({value})) for bit, value in bits]
        case rules.Ready(lock, threads):
            return [(layout.cell(lock), frozenset({-1, *(each.thread for each in threads)}))]
        case _:
            assert_never(guard)


def compile_rule(rule: Rule, layout: Layout) -> Fire:
    """The rule as a function. An instruction's place in program order is not its business."""
    waits = [alternatives(it, layout) for it in rule.guards if not isinstance(it, rules.Oldest)]
    needs = [each[0] for each in waits if len(each) == 1]
    choices = [each for each in waits if len(each) > 1]
    oldest = [
        (layout.fifo(guard.cache), layout.number(guard.element))
        for guard in rule.guards
        if isinstance(guard, rules.Oldest)
    ]
    first_reads = sorted(rule.updates, key=lambda update: not isinstance(update, rules.Deliver))
    writes = [_write(update, layout) for update in first_reads]
    marker, fifos = 0, []
    if isinstance(rule, InstructionRule):
        marker, fifos = layout.number(rules.Marker(rule.instruction.thread)), layout.fifos

    def fire(state: State) -> list[Any] | None:
        for slot, allowed in needs:
            if state[slot] not in allowed:
                return None
        for either in choices:
            if not any(state[slot] in allowed for slot, allowed in either):
                return None
        for slot, element in oldest:
            if not state[slot] or state[slot][0] != element:
                return None
        for slot in fifos:
            if marker in state[slot]:
                return None
        after = list(state)
        for write in writes:
            write(state, after)
        return after

    return fire


def _write(update: Update, layout: Layout) -> Write:
    match update:
        case rules.SetBit(bit, value):
            return _put(layout.cell(bit), value)
        case rules.SetLock(lock, holder):
            return _put(layout.cell(lock), -1 if holder is None else holder.thread)
        case rules.Assign(target, Constant(value)):
            return _put(layout.cell(target), value)
        case rules.Assign(target, expression):
            return _put_by(
                layout.cell(target), lambda after: evaluate(expression, layout.values(after))
            )
        case rules.Copy(target, source):
            return _move(layout.cell(source), layout.cell(target))
        case rules.Deliver(register, source):
            return _move(layout.cell(source), layout.read(register))
        case rules.Enqueue(cache, element):
            fifo, number = layout.fifo(cache), layout.number(element)
            return _put_by(fifo, lambda after: (*after[fifo], number))
        case rules.Dequeue(cache):
            fifo = layout.fifo(cache)
            return _put_by(fifo, lambda after: after[fifo][1:])
        case _:
            assert_never(update)


def _put(place: int, value: object) -> Write:
    def put(_: State, after: list[Any]) -> None:
        after[place] = value

    return put


def _move(source: int, target: int) -> Write:
    def move(before: State, after: list[Any]) -> None:
        after[target] = before[source]

    return move


def _put_by(place: int, function: Callable[[list[Any]], object]) -> Write:
    def put(_: State, after: list[Any]) -> None:
        after[place] = function(after)

    return put
