"""Whether what is done at one location leaves no trace at another.

docs/engineering.md, «What need not be decided», has the argument.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator
from dataclasses import replace
from functools import lru_cache
from itertools import chain
from typing import assert_never

from rspverify.architecture import Architecture
from rspverify.machine.entries import never
from rspverify.machine.machine import everywhere
from rspverify.machine.rules import (
    AnyBit,
    Bit,
    Guard,
    InstructionRule,
    Member,
    Oldest,
    Ready,
    Rule,
    SetBit,
    Update,
    When,
    Without,
    cells_of,
    plain,
)


@lru_cache
def locations_are_apart(architecture: Architecture) -> bool:
    """Whether the accesses of a location in global memory can be left out of any execution, with
    all that belongs to them.

    Each rule is about one location, but for counters, which are only waited for to be empty; what
    names no location only waits, or takes away, at once or later, what may be lost at any time.
    """
    machine = replace(everywhere(architecture), evict=True)
    lost = {rule.takes_away for rule in machine.steps}
    idle = {it.instruction.index for code in machine.code for it in code if never(it)}
    rules = [
        it
        for it in machine.rules
        if not _is_of(it, machine.program.spaces)
        and (it.instruction is None or it.instruction.index not in idle)
    ]
    ending = machine.ending
    return (
        all(_is_about_one(it) or _takes_away(it, lost) for it in rules)
        and all(_asks_for_none(guard) for it in rules for guard in _guards(it.guards, it.updates))
        and not any(isinstance(it, Ready | Oldest) for it in ending)
        and not any(
            value or machine.starts_true(bit)
            for guard in ending
            if isinstance(guard, AnyBit)
            for bit, value in guard.bits
        )
    )


def _is_about_one(rule: Rule) -> bool:
    """Whether all that it looks at or changes is of one location, but for its place in pools."""
    if isinstance(rule, InstructionRule) and rule.instruction.location is None:
        return not rule.updates
    own = None if rule.instruction is None else rule.instruction.index
    changed = [it.bit for it in plain(rule.updates) if isinstance(it, SetBit)]
    if any(isinstance(bit, Member) and bit.index != own for bit in changed):
        return False
    found = _locations(rule)
    return len(found) == 1 and None not in found


def _is_of(rule: Rule, locations: Container[str]) -> bool:
    """Whether it is about some of these locations alone."""
    found = {it for it in _locations(rule) if it is not None}
    return bool(found) and all(it in locations for it in found)


def _takes_away(rule: Rule, lost: set[Bit | None]) -> bool:
    """Whether it is an instruction without a location, or a later step of it, that only makes bits
    false that a step may make false at any time, and comes into pools and goes out itself."""
    it = rule.instruction
    if it is None or it.location is not None or any(isinstance(g, Oldest) for g in rule.guards):
        return False
    return all(
        isinstance(update, SetBit)
        and (
            (isinstance(update.bit, Member) and update.bit.index == it.index)
            or (not update.value and update.bit in lost)
        )
        for update in rule.updates
    )


def _asks_for_none(guard: Guard) -> bool:
    """Whether what it asks of pools is that something is not in them, and it asks for no lock."""
    match guard:
        case AnyBit(bits):
            return not any(value and isinstance(bit, Member) for bit, value in bits)
        case Oldest() | Without():
            return True
        case Ready():
            return False
        case _:
            assert_never(guard)


def _locations(rule: Rule) -> set[str | None]:
    """The locations of what it looks at or changes; None is of what has none."""
    found: set[str | None] = set()
    if isinstance(rule, InstructionRule) and rule.instruction.location is not None:
        found.add(rule.instruction.location)
    cells = chain.from_iterable(map(cells_of, (*rule.guards, *rule.updates)))
    return found | {it.location for it in cells if not isinstance(it, Member)}


def _guards(guards: Iterable[Guard], updates: Iterable[Update]) -> Iterator[Guard]:
    """Guards, and those of what happens only under conditions."""
    yield from guards
    for each in updates:
        if isinstance(each, When):
            yield from _guards(each.guards, each.updates)
