"""Rules as functions on concrete states, made once per machine so that a search is fast."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, assert_never

from rspverify.machine import rules
from rspverify.machine.rules import AnyBit, Guard, Oldest, Ready, Rule, Update, Without
from rspverify.machine.state import Layout, State
from rspverify.value import Constant, Expression, evaluate

Fire = Callable[[State], list[Any] | None]
"""From a state to the one after the rule, or None where the rule may not fire."""

Holds = Callable[[Sequence[Any]], bool]
"""Whether guards hold in a state."""

_Value = Callable[[State, list[Any]], object]
"""The new value of a place, by the state before, and the state after as far as it is known."""

_Write = tuple[int, _Value, Holds | None]
"""A place, its new value, and the condition under which it has it."""


def _allowed(guard: AnyBit | Ready, layout: Layout) -> list[tuple[int, frozenset[object]]]:
    """A guard as the places of a state and what they may hold, one of which must be so."""
    match guard:
        case AnyBit(bits):
            return [(layout.cell(bit), frozenset({value})) for bit, value in bits]
        case Ready(lock, threads):
            return [(layout.cell(lock), frozenset({-1, *(each.thread for each in threads)}))]
        case _:
            assert_never(guard)


def compile_guards(guards: Iterable[Guard], layout: Layout) -> Holds:
    """Guards as a function that says whether all hold."""
    needs: list[tuple[int, frozenset[object]]] = []
    choices: list[list[tuple[int, frozenset[object]]]] = []
    oldest: list[tuple[int, int]] = []
    absent: list[tuple[int, int]] = []
    without: list[tuple[int, frozenset[int] | None]] = []
    for guard in guards:
        match guard:
            case AnyBit() | Ready():
                found = _allowed(guard, layout)
                if len(found) == 1:
                    needs += found
                else:
                    choices.append(found)
            case Oldest(fifo, element):
                oldest.append((layout.cell(fifo), layout.number(element)))
            case Without(fifos, elements):
                unwanted = None if elements is None else frozenset(map(layout.number, elements))
                for slot in map(layout.cell, fifos):
                    if unwanted is not None and len(unwanted) == 1:
                        absent += [(slot, only) for only in unwanted]
                    else:
                        without.append((slot, unwanted))
            case _:
                assert_never(guard)

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
        for either in choices:
            if not any(state[slot] in allowed for slot, allowed in either):
                return False
        for slot, unwanted in without:
            found = state[slot]
            if found and (unwanted is None or not unwanted.isdisjoint(found)):
                return False
        return True

    return hold


def compile_rule(rule: Rule, layout: Layout) -> Fire:
    """The rule as a function. An instruction's place in program order is not its business."""
    hold = compile_guards(rule.guards, layout)
    bits = [it for it in rule.changes.values() if isinstance(it, rules.SetBit)]
    constants = [] if rule.conditional else [(layout.cell(it.bit), it.value) for it in bits]
    writes = [
        write
        for is_read in (True, False)
        for it in rule.updates
        if isinstance(it, rules.Deliver) is is_read
        if rule.conditional or not isinstance(it, rules.SetBit)
        for write in _writes(it, layout)
    ]

    def fire(state: State) -> list[Any] | None:
        if not hold(state):
            return None
        after = list(state)
        for slot, constant in constants:
            after[slot] = constant
        for slot, value, condition in writes:
            if condition is None or condition(state):
                after[slot] = value(state, after)
        return after

    return fire


def known_value(expression: Expression, values: Mapping[int, int]) -> int | None:
    """The value of an expression over values read; None if a read is missing that decides."""
    try:
        return evaluate(expression, values)
    except KeyError:
        return None


def _writes(update: Update, layout: Layout, guards: Sequence[Guard] = ()) -> Iterator[_Write]:
    """The places that an update changes where guards hold before."""
    if isinstance(update, rules.When):
        for each in update.updates:
            yield from _writes(each, layout, (*guards, *update.guards))
    else:
        yield (*_write(update, layout), compile_guards(guards, layout) if guards else None)


def _write(update: rules.Plain, layout: Layout) -> tuple[int, _Value]:
    match update:
        case rules.SetBit(bit, value):
            return layout.cell(bit), lambda *_: value
        case rules.SetLock(lock, holder):
            thread = -1 if holder is None else holder.thread
            return layout.cell(lock), lambda *_: thread
        case rules.Assign(target, Constant(value)):
            return layout.cell(target), lambda *_: value
        case rules.Assign(target, expression):
            return layout.cell(target), lambda _, after: evaluate(expression, layout.values(after))
        case rules.Copy(target, source):
            place = layout.cell(source)
            return layout.cell(target), lambda before, _: before[place]
        case rules.Deliver(register, source):
            place = layout.cell(source)
            return layout.read(register), lambda before, _: before[place]
        case rules.Enqueue(fifo, element):
            slot, number = layout.cell(fifo), layout.number(element)
            return slot, lambda _, after: (*after[slot], number)
        case rules.Dequeue(fifo):
            slot = layout.cell(fifo)
            return slot, lambda _, after: after[slot][1:]
        case _:
            assert_never(update)
