"""What the environment of a machine can always do, so that it keeps nobody waiting for ever.

Where a machine *drains*, all that its environment can do helps, and then nothing more happens: a
deadlock is told from one state, without looking at what may follow. Entries that no lock can keep
from being flushed and fetched *rest*: a search may take these steps to have happened
(docs/proofs.md, «Progress»).
"""

from __future__ import annotations

from msgspec import Struct

from rspverify.machine import rules
from rspverify.machine.machine import Machine
from rspverify.machine.relevance import deciding_locations
from rspverify.machine.rendezvous import of_arrivals
from rspverify.machine.rules import AnyBit, Bit, Guard, InstructionRule, Ready, Rule, StepRule, Word
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
    if isinstance(rule, InstructionRule):  # Of one that never happens nothing else is asked.
        return rule.never or all(
            _is_own(it, rule) or of_arrivals(it) or _wants_entry(it, machine) for it in rule.guards
        )
    if rule.holders:
        return False
    others = [it for it in rule.guards if not isinstance(it, Ready)]
    match machine.shapes.shape(rule):
        case Shape.CLEARS:
            return others == [rules.holds(bit) for bit in rule.cleared]
        case Shape.LEAVES:
            waits = [it for it in rule.guards if not isinstance(it, rules.Oldest)]
            return all(_wants_clean(it, machine) for it in waits)
        case Shape.LOSES:
            return all(_kept_with_value(it, machine) for it in others)
        case _:
            return all(_wants_entry(it, machine) for it in others)


def _is_own(guard: Guard, rule: InstructionRule) -> bool:
    """Whether it wants a lock, or the markers gone that the thread itself has set."""
    if isinstance(guard, rules.Without):
        own = rules.Marker(rule.instruction.thread)
        return guard.elements is not None and set(guard.elements) == {own}
    return isinstance(guard, Ready)


def _wants_clean(guard: Guard, machine: Machine) -> bool:
    """Whether it wants a bit false that steps clear, which need nothing but locks for it."""
    if not isinstance(guard, AnyBit):
        return False
    return all(not value and bit in machine.shapes.clearing for bit, value in guard.bits)


def _wants_entry(guard: Guard, machine: Machine) -> bool:
    """Whether it wants entries VALID, or not DIRTY, or one of them so, and steps bring that about.

    These steps need nothing more than locks, and entries of which the same is asked.
    """
    if not isinstance(guard, AnyBit):
        return False
    shapes = machine.shapes
    dirty = {entry.dirty for entry in shapes.entries.values()}
    if not all(bit in shapes.entries if value else bit in dirty for bit, value in guard.bits):
        return False
    by_value = {True: shapes.refreshing, False: shapes.clearing}
    return any(bit in by_value[value] for bit, value in guard.bits)


def _taken_away(rule: StepRule, machine: Machine) -> list[Entry]:
    entries = machine.shapes.entries
    return [entries[bit] for bit in rule.sets(False) if bit in entries]


def _kept_with_value(guard: Guard, machine: Machine) -> bool:
    """Whether it holds for every value that counts and need not go anywhere."""
    if _wants_clean(guard, machine):
        return True
    if not isinstance(guard, AnyBit) or guard.only is None or not guard.only[1]:
        return False
    bit, _ = guard.only
    setting = {rule.key for rule in machine.rules if bit in rule.sets(True)}
    return any(
        {rule.key for rule in machine.rules if valid in rule.sets(True)} <= setting
        for valid in machine.shapes.entries
        if valid.structure.place == bit.structure.place and valid.location == bit.location
    )


# ---- Locks that may shut an entry ----------------------------------------------------------------


def locks_of(machine: Machine, bit: Bit) -> list[Ready]:
    """What an entry's bit waits for: the locks that its flush or its fetch needs.

    Of a fetch that wants another entry VALID, also what that waits for.
    """
    shapes = machine.shapes
    found: dict[Ready, None] = {}
    bits = [bit]
    for each in bits:  # It grows by those that are waited for.
        for step in (*shapes.clearing.get(each, ()), *shapes.refreshing.get(each, ())):
            found |= dict.fromkeys(it for it in step.guards if isinstance(it, Ready))
            for wanted, value in step.literals:
                if wanted not in bits and (wanted in shapes.entries) is value:
                    bits.append(wanted)
    return list(found)


def losses_last(machine: Machine) -> bool:
    """Whether an entry may be lost and not fetched again.

    A lock that only those may hold whom it lets pass keeps nobody from fetching.
    """
    whole = _evicting(machine)
    losing = [it for it in whole.steps if whole.shapes.shape(it) is Shape.LOSES]
    lost = [entry.valid for rule in losing for entry in _taken_away(rule, whole)]
    return _any_shut(machine, lost)


def never_shut(machine: Machine) -> bool:
    """Whether no lock that anyone may hold keeps an entry from being flushed and fetched."""
    entries = machine.shapes.entries.values()
    bits = [bit for entry in entries for bit in (entry.valid, entry.dirty) if bit is not None]
    return drains(machine) and not _any_shut(machine, bits)


def _any_shut(machine: Machine, bits: list[Bit]) -> bool:
    """Whether somebody may hold a lock that one of the entries waits for, and keep it from that."""
    held = {
        (lock, holder)
        for code in machine.code
        for rule in code
        for lock, holder in rule.holders.items()
        if holder is not None
    }
    waits = [it for bit in bits for it in locks_of(machine, bit)]
    return any(
        it.lock == lock and holder not in it.threads for it in waits for lock, holder in held
    )


def _evicting(machine: Machine) -> Machine:
    return machine if machine.evict else replace(machine, evict=True)


# ---- Entries that rest ---------------------------------------------------------------------------


class Kept(Struct, frozen=True):
    """An entry of a location that no other cache has, with the steps that flush and fetch it."""

    entry: Entry
    flush: StepRule
    fetch: StepRule


class Resting(Struct, frozen=True):
    """Entries that keep nobody waiting, and of which nobody sees when they are flushed.

    idle: the locations whose values decide nothing, all of their entries.
    """

    idle: frozenset[str] = frozenset()
    kept: tuple[Kept, ...] = ()

    def of(self, location: str | None) -> bool:
        """Whether entries of a location are among them."""
        return location in self.idle or any(it.entry.value.location == location for it in self.kept)


NOTHING_RESTS = Resting()
"""Where every step is told."""


def resting(machine: Machine) -> Resting:
    """These entries; none where a lock may keep an entry from being flushed or fetched."""
    if not never_shut(machine):
        return NOTHING_RESTS
    deciding = deciding_locations(machine.program)
    concerned = list(map(_locations_of, machine.rules))
    alone = [x for x in machine.locations if not any(x in it and len(it) > 1 for it in concerned)]
    idle = frozenset(x for x in alone if x not in deciding)
    kept = (_kept(machine, x) for x in alone if x not in idle)
    return Resting(idle, tuple(it for it in kept if it is not None))


def _locations_of(rule: Rule) -> set[str | None]:
    """The locations whose entries a rule wants so or so, and its own."""
    wanted = {bit.location for bit, _ in rule.literals}
    if wanted and isinstance(rule, InstructionRule) and rule.instruction.location is not None:
        wanted.add(rule.instruction.location)
    return wanted


def _kept(machine: Machine, x: str) -> Kept | None:
    """The one entry of a location that instructions read and write, where its only steps take the
    value from memory and bring it there, and nothing else."""
    cells = (it for code in machine.code for rule in code for it in (*rule.looks, *rule.changes))
    used = {it for it in cells if isinstance(it, Word) and it.location == x}
    entry = machine.shapes.of_value.get(used.pop()) if len(used) == 1 else None
    memory = machine.memory(x)
    if entry is None or entry.dirty is None or memory is None:
        return None
    flushes = machine.shapes.clearing.get(entry.dirty, [])
    fetches = machine.shapes.refreshing.get(entry.valid, [])
    down, up = rules.Copy(memory, entry.value), rules.Copy(entry.value, memory)
    if [it.takes for it in flushes] != [[down]] or [it.takes for it in fetches] != [[up]]:
        return None
    return Kept(entry, flushes[0], fetches[0])
