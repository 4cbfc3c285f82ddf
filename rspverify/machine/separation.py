"""Whether what is done at one location leaves no trace at another.

docs/engineering.md, «What need not be decided», has the argument.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import chain
from typing import assert_never

from rspverify.architecture import Architecture
from rspverify.machine.entries import never
from rspverify.machine.machine import everywhere
from rspverify.machine.rules import (
    AnyBit,
    Bit,
    Dequeue,
    Element,
    Enqueue,
    Fifo,
    Guard,
    InstructionRule,
    Issued,
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
from rspverify.records import replace


@lru_cache
def locations_are_apart(architecture: Architecture) -> bool:
    """Whether the accesses of a location can be left out of any execution, with all that belongs to
    them.

    Each rule is about one location, but for counters, which are only waited for to be empty, and
    queues of several locations, in which an access only waits for its own turn; what names no
    location only waits, or takes away, at once or later, what may be lost at any time.
    """
    machine = replace(everywhere(architecture), evict=True)
    lost = {rule.takes_away for rule in machine.steps}
    idle = {it.instruction.index for code in machine.code for it in code if never(it)}
    rules = [
        it for it in machine.rules if it.instruction is None or it.instruction.index not in idle
    ]
    ending = machine.ending
    return (
        all(_waits(it) or _is_about_one(it) or _takes_away(it, lost) for it in rules)
        and all(
            _asks_for_none(guard, _own(it), sure)
            for it in rules
            for guard, sure in _guards(it.guards, it.updates)
        )
        and not any(isinstance(it, Ready | Oldest) for it in ending)
        and not any(
            value or machine.starts_true(bit)
            for guard in ending
            if isinstance(guard, AnyBit)
            for bit, value in guard.bits
        )
    )


def _waits(rule: Rule) -> bool:
    """Whether it is an instruction that names no location and only waits."""
    if not isinstance(rule, InstructionRule):
        return False
    return rule.instruction.location is None and not rule.updates


def _is_about_one(rule: Rule) -> bool:
    """Whether it is a step of the machine, or an access with its steps, and all that it looks at or
    changes is of one location, but for its own place in pools and queues."""
    it = rule.instruction
    if it is not None and it.location is None:
        return False
    found = _locations(rule)
    mine = all(bit.index == _own(rule) for bit in _entered(rule))
    return mine and _queues_itself(rule) and len(found) == 1 and None not in found


def _queues_itself(rule: Rule) -> bool:
    """Whether only its own instruction comes into queues of several locations, and goes in turn."""
    own = _own(rule)
    for it in plain(rule.updates):
        if isinstance(it, Enqueue) and it.fifo.location is None:
            if not _is(it.element, own):
                return False
        if isinstance(it, Dequeue) and it.fifo.location is None:
            turns = [g for g in rule.guards if isinstance(g, Oldest) and g.fifo == it.fifo]
            if not turns:
                return False
    return True


def _is(element: Element, own: int | None) -> bool:
    return isinstance(element, Issued) and element.index == own


def _takes_away(rule: Rule, lost: set[Bit | None]) -> bool:
    """Whether it is an instruction without a location, or a later step of it, that only makes bits
    false that a step may make false at any time, and comes into pools and goes out itself: by a
    step for a location out of those of that location alone."""
    it = rule.instruction
    if it is None or it.location is not None or any(isinstance(g, Oldest) for g in rule.guards):
        return False
    own = _entered(rule)
    spoken = _locations(rule) | {bit.location for bit in own}
    return (
        all(bit.index == it.index for bit in own)
        and (isinstance(rule, InstructionRule) or not own or len(spoken) == 1)
        and all(
            isinstance(update, SetBit)
            and (isinstance(update.bit, Member) or (not update.value and update.bit in lost))
            for update in rule.updates
        )
    )


def _own(rule: Rule) -> int | None:
    """The index of the instruction that it is of."""
    return None if rule.instruction is None else rule.instruction.index


def _entered(rule: Rule) -> list[Member]:
    """The places in pools that it changes."""
    changed = [it.bit for it in plain(rule.updates) if isinstance(it, SetBit)]
    return [bit for bit in changed if isinstance(bit, Member)]


def _asks_for_none(guard: Guard, own: int | None, sure: bool) -> bool:
    """Whether it asks for no lock, and of what is in pools, the own instruction left out, only that
    it is not there; and of a queue of several locations only whether it is its own turn, or that
    others are not there. sure: the rule needs the guard; of any other it matters, too, where it
    fails.
    """
    match guard:
        case AnyBit(bits):
            others = [(bit, it) for bit, it in bits if isinstance(bit, Member) and bit.index != own]
            return not any(value or not sure for _, value in others)
        case Oldest(fifo, element):
            return fifo.location is not None or (sure and _is(element, own))
        case Without(fifos):
            return sure or all(it.location is not None for it in fifos)
        case Ready():
            return False
        case _:
            assert_never(guard)


def _locations(rule: Rule) -> set[str | None]:
    """The locations of what it looks at or changes; None is of what has none, pools and queues left
    out."""
    found: set[str | None] = set()
    if rule.instruction is not None and rule.instruction.location is not None:
        found.add(rule.instruction.location)
    cells = chain.from_iterable(map(cells_of, (*rule.guards, *rule.updates)))
    return found.union(
        it.location for it in cells if it.location or not isinstance(it, Member | Fifo)
    )


def _guards(
    guards: Iterable[Guard], updates: Iterable[Update], *, sure: bool = True
) -> Iterator[tuple[Guard, bool]]:
    """Guards, and those of what happens only under conditions; whether the rule needs them."""
    for guard in guards:
        yield guard, sure
    for each in updates:
        if isinstance(each, When):
            yield from _guards(each.guards, each.updates, sure=False)
