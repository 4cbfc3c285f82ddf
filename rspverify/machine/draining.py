"""Whether a machine drains: all that its environment can do helps, and then nothing more happens.

For such machines a deadlock is told from one state, without looking at what may follow
(docs/proofs.md, «Progress»). For any other it is told from the whole graph of states.
"""

from __future__ import annotations

from collections.abc import Mapping

from rspverify.machine.machine import Machine
from rspverify.machine.rendezvous import of_arrivals
from rspverify.machine.rules import (
    AnyBit,
    Bit,
    Element,
    Guard,
    InstructionRule,
    Lock,
    Marker,
    Oldest,
    Ready,
    Rule,
    StepRule,
    Without,
)
from rspverify.machine.shapes import Entry, Shape
from rspverify.records import replace


def drains(machine: Machine) -> bool:
    """Whether flushing, dequeuing and then fetching all that can be is the best that can happen."""
    whole = _evicting(machine)
    shapes = whole.shapes
    if shapes.unknown is not None:
        return False
    if any(bit not in shapes.clearing for bit in whole.final()):
        return False  # Nobody says that it becomes false.
    ways = [*shapes.clearing.values(), *shapes.refreshing.values()]
    if any(len(steps) > 1 for steps in ways):
        return False  # One lock more may keep only one of them from happening.
    return all(_helps(whole, rule) for rule in whole.rules)


def _helps(machine: Machine, rule: Rule) -> bool:
    shapes = machine.shapes
    if isinstance(rule, InstructionRule):  # Of one that never happens nothing else is asked.
        return rule.never or all(
            _is_own(it, rule) or of_arrivals(it) or _wants_entry(it, machine) for it in rule.guards
        )
    if rule.holders:
        return False
    match shapes.shape(rule):
        case Shape.CLEARS:
            (bit,) = rule.cleared
            others = [it for it in rule.guards if it != AnyBit(((bit, True),))]
            return all(isinstance(it, Ready) for it in others)
        case Shape.LEAVES:
            return all(isinstance(it, Oldest) or _wants_clean(it, machine) for it in rule.guards)
        case Shape.LOSES:
            kept = all(_kept_with_value(it, machine) for it in rule.guards)
            return kept and all(_spares_dirty(it, rule) for it in _taken_away(rule, machine))
        case _:
            return all(isinstance(it, Ready) or _wants_entry(it, machine) for it in rule.guards)


def _is_own(guard: Guard, rule: InstructionRule) -> bool:
    """Whether it wants a lock, or the markers gone that the thread itself has set."""
    if isinstance(guard, Without):
        return guard.elements == frozenset[Element]({Marker(rule.instruction.thread)})
    return isinstance(guard, Ready)


def _wants_clean(guard: Guard, machine: Machine) -> bool:
    """Whether it wants a bit false that steps clear, which need nothing but locks for it."""
    if not isinstance(guard, AnyBit):
        return False
    return all(not value and bit in machine.shapes.clearing for bit, value in guard.bits)


def _wants_entry(guard: Guard, machine: Machine) -> bool:
    """Whether it wants an entry VALID, or not DIRTY, or either, and steps bring that about.

    These steps need nothing more than locks, and entries of which the same is asked.
    """
    if not isinstance(guard, AnyBit):
        return False
    shapes = machine.shapes
    dirty = {entry.dirty for entry in shapes.entries.values()}
    if not all(bit in shapes.entries if value else bit in dirty for bit, value in guard.bits):
        return False
    if len(guard.bits) > 1 and not all(
        (shapes.entries[bit].dirty, False) in guard.bits for bit, value in guard.bits if value
    ):
        return False  # Each of two entries may be lost, as long as the other one is there.
    by_value = {True: shapes.refreshing, False: shapes.clearing}
    return any(bit in by_value[value] for bit, value in guard.bits)


def _taken_away(rule: StepRule, machine: Machine) -> list[Entry]:
    entries = machine.shapes.entries
    return [entries[bit] for bit in rule.sets(False) if bit in entries]


def _spares_dirty(entry: Entry, rule: StepRule) -> bool:
    """Whether a step leaves an entry alone while it is DIRTY."""
    return entry.dirty is None or AnyBit(((entry.dirty, False),)) in rule.guards


def _kept_with_value(guard: Guard, machine: Machine) -> bool:
    """Whether it holds for every value that counts and need not go anywhere."""
    if isinstance(guard, Ready):
        return True
    if _wants_clean(guard, machine):
        return True
    if not isinstance(guard, AnyBit) or len(guard.bits) != 1 or not guard.bits[0][1]:
        return False
    ((bit, _),) = guard.bits
    setting = {rule.key for rule in machine.rules if bit in rule.sets(True)}
    return any(
        {rule.key for rule in machine.rules if valid in rule.sets(True)} <= setting
        for valid in machine.shapes.entries
        if valid.structure == bit.structure and valid.location == bit.location
    )


def locks_of(machine: Machine, bit: Bit) -> list[Ready]:
    """What an entry's bit waits for: the locks that its flush or its fetch needs.

    Of a fetch that wants another entry VALID, also what that waits for.
    """
    shapes = machine.shapes
    found: dict[Ready, None] = {}
    bits = [bit]
    for each in bits:  # It grows by those that are waited for.
        for step in (*shapes.clearing.get(each, ()), *shapes.refreshing.get(each, ())):
            found |= dict.fromkeys(_locks(step))
            for wanted, value in step.literals:
                if wanted not in bits and (wanted in shapes.entries) is value:
                    bits.append(wanted)
    return list(found)


def holders(machine: Machine) -> dict[Lock, frozenset[object]]:
    """The threads that may hold each lock."""
    found: dict[Lock, set[object]] = {}
    for code in machine.code:
        for rule in code:
            for lock, thread in rule.holders.items():
                if thread is not None:
                    found.setdefault(lock, set()).add(thread)
    return {lock: frozenset(threads) for lock, threads in found.items()}


def losses_last(machine: Machine) -> bool:
    """Whether an entry may be lost and not fetched again.

    A lock that only those may hold whom it lets pass keeps nobody from fetching.
    """
    held = holders(machine)
    return any(_may_be_shut(machine, entry.valid, held) for entry in losable(machine))


def never_shut(machine: Machine) -> bool:
    """Whether no lock that anyone may hold keeps an entry from being flushed and fetched."""
    held, entries = holders(machine), machine.shapes.entries.values()
    bits = [bit for entry in entries for bit in (entry.valid, entry.dirty) if bit is not None]
    return drains(machine) and not any(_may_be_shut(machine, bit, held) for bit in bits)


def _may_be_shut(machine: Machine, bit: Bit, held: Mapping[Lock, frozenset[object]]) -> bool:
    """Whether somebody may hold a lock that an entry waits for, and keep it from that."""
    return any(held.get(it.lock, frozenset()) - it.threads for it in locks_of(machine, bit))


def _locks(step: StepRule) -> list[Ready]:
    return [guard for guard in step.guards if isinstance(guard, Ready)]


def losable(machine: Machine) -> dict[Entry, StepRule]:
    """The entries that steps may take away, be these left out, and these steps."""
    whole = _evicting(machine)
    return {
        entry: rule
        for rule in whole.steps
        if whole.shapes.shape(rule) is Shape.LOSES
        for entry in _taken_away(rule, whole)
    }


def _evicting(machine: Machine) -> Machine:
    return machine if machine.evict else replace(machine, evict=True)
