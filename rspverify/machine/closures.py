"""Rules as functions on concrete states, made once per machine so that a search is fast."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, assert_never

from rspverify.machine import rules
from rspverify.machine.rules import AnyBit, Guard, Oldest, Ready, Rule, Update, Without
from rspverify.machine.state import Layout, State
from rspverify.value import Constant, Expression, evaluate

Fire = Callable[[State], list[Any] | None]
"""From a state to the one after the rule, or None where the rule may not fire."""

Write = Callable[[State, list[Any]], None]
"""Puts one update into the state after, looking at the state before."""


def alternatives(guard: AnyBit | Ready, layout: Layout) -> list[tuple[int, frozenset[object]]]:
    """A guard as the places of a state and what they may hold, one of which must be so."""
    match guard:
        case AnyBit(bits):
            return [(layout.cell(bit), frozenset({value})) for bit, value in bits]
        case Ready(lock, threads):
            return [(layout.cell(lock), frozenset({-1, *(each.thread for each in threads)}))]
        case _:
            assert_never(guard)


Holds = Callable[[Sequence[Any]], bool]
"""Whether guards hold in a state."""


def compile_guards(guards: Iterable[Guard], layout: Layout) -> Holds:
    """Guards as a function that says whether all hold."""
    needs, oldest, absent, others = _split(guards, layout)

    def hold(state: Sequence[Any]) -> bool:
        for slot, allowed in needs:
            if state[slot] not in allowed:
                return False
        for slot, element in oldest:
            if not state[slot] or state[slot][0] != element:
                return False
        for slot, element in absent:
            if element in state[slot]:
                return False
        return others is None or others(state)

    return hold


_Needs = list[tuple[int, frozenset[object]]]
"""Places of a state, and what each may hold."""

_Elements = list[tuple[int, int]]
"""Places of fifos, and an element of each."""


def _split(
    guards: Iterable[Guard], layout: Layout
) -> tuple[_Needs, _Elements, _Elements, Holds | None]:
    """Guards: what places hold, the oldest elements, those that are absent, and all others.

    The first are most of what a search asks, and are asked without a call.
    """
    needs: _Needs = []
    choices: list[_Needs] = []
    oldest: _Elements = []
    absent: _Elements = []
    without: list[tuple[list[int], frozenset[int] | None]] = []
    for guard in guards:
        match guard:
            case AnyBit() | Ready():
                found = alternatives(guard, layout)
                if len(found) == 1:
                    needs += found
                else:
                    choices.append(found)
            case Oldest(fifo, element):
                oldest.append((layout.cell(fifo), layout.number(element)))
            case Without(fifos, elements):
                slots = [layout.cell(fifo) for fifo in fifos]
                if elements is not None and len(elements) == 1:
                    (only,) = map(layout.number, elements)
                    absent += [(slot, only) for slot in slots]
                else:
                    every = None if elements is None else frozenset(map(layout.number, elements))
                    without.append((slots, every))
            case _:
                assert_never(guard)

    def hold(state: Sequence[Any]) -> bool:
        for either in choices:
            if not any(state[slot] in allowed for slot, allowed in either):
                return False
        for slots, unwanted in without:
            for slot in slots:
                found = state[slot]
                if found and (unwanted is None or not unwanted.isdisjoint(found)):
                    return False
        return True

    return needs, oldest, absent, hold if choices or without else None


def _constants(rule: Rule, layout: Layout) -> tuple[list[tuple[int, object]], list[Update]]:
    """The bits that a rule sets, each once, and its other updates.

    Where updates depend on the state, all are others, as their order may count.
    """
    if rule.conditional:
        return [], list(rule.updates)
    bits = [it for it in rule.changes.values() if isinstance(it, rules.SetBit)]
    others: list[Update] = [it for it in rule.updates if not isinstance(it, rules.SetBit)]
    return [(layout.cell(it.bit), it.value) for it in bits], others


def compile_rule(rule: Rule, layout: Layout) -> Fire:
    """The rule as a function. An instruction's place in program order is not its business."""
    needs, oldest, absent, others = _split(rule.guards, layout)
    constants, left = _constants(rule, layout)
    first_reads = sorted(left, key=lambda update: not isinstance(update, rules.Deliver))
    writes = [_write(update, layout) for update in first_reads]

    def fire(state: State) -> list[Any] | None:
        for slot, allowed in needs:
            if state[slot] not in allowed:
                return None
        for slot, element in oldest:
            if not state[slot] or state[slot][0] != element:
                return None
        for slot, element in absent:
            if element in state[slot]:
                return None
        if others is not None and not others(state):
            return None
        after = list(state)
        for slot, value in constants:
            after[slot] = value
        for write in writes:
            write(state, after)
        return after

    return fire


def known_value(expression: Expression, values: Mapping[int, int]) -> int | None:
    """The value of an expression over values read; None if a read is missing that decides."""
    try:
        return evaluate(expression, values)
    except KeyError:
        return None


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
        case rules.Enqueue(fifo, element):
            slot, number = layout.cell(fifo), layout.number(element)
            return _put_by(slot, lambda after: (*after[slot], number))
        case rules.Dequeue(fifo):
            slot = layout.cell(fifo)
            return _put_by(slot, lambda after: after[slot][1:])
        case rules.When(guards, updates):
            return _put_if(
                compile_guards(guards, layout), [_write(each, layout) for each in updates]
            )
        case _:
            assert_never(update)


def _put(place: int, value: object) -> Write:
    def put(_: State, after: list[Any]) -> None:
        after[place] = value

    return put


def _put_if(hold: Holds, writes: Sequence[Write]) -> Write:
    def put(before: State, after: list[Any]) -> None:
        if hold(before):
            for write in writes:
                write(before, after)

    return put


def _move(source: int, target: int) -> Write:
    def move(before: State, after: list[Any]) -> None:
        after[target] = before[source]

    return move


def _put_by(place: int, function: Callable[[list[Any]], object]) -> Write:
    def put(_: State, after: list[Any]) -> None:
        after[place] = function(after)

    return put
