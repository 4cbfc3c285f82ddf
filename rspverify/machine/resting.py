"""Entries that keep nobody waiting for ever, and of which nobody sees when they are flushed.

Whoever waits for such an entry to be VALID or CLEAN waits for steps that can always happen, and
that change nothing which anybody else waits for. So a search may take these steps to have happened
(docs/proofs.md, «Progress»).
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from rspverify.machine.draining import never_shut
from rspverify.machine.machine import Machine
from rspverify.machine.relevance import deciding_locations
from rspverify.machine.rules import Bit, Copy, InstructionRule, Rule, StepRule, Word
from rspverify.machine.shapes import Entry


class Kept(Struct, frozen=True):
    """An entry of a location that no other cache has, with the steps that flush and fetch it."""

    location: str | None
    dirty: Bit
    valid: Bit
    flush: StepRule
    fetch: StepRule


class Resting(Struct, frozen=True):
    """Such entries. idle: the locations whose values decide nothing, all of their entries."""

    idle: frozenset[str] = frozenset()
    kept: tuple[Kept, ...] = ()

    def of(self, location: str | None) -> bool:
        """Whether entries of a location are among them."""
        return location in self.idle or any(it.location == location for it in self.kept)


NOTHING_RESTS = Resting()
"""Where every step is told."""


def resting(machine: Machine) -> Resting:
    """These entries; none where a lock may keep an entry from being flushed or fetched."""
    if not never_shut(machine):
        return NOTHING_RESTS
    deciding = deciding_locations(machine.program)
    alone = [x for x in machine.locations if _is_alone(machine, x)]
    idle = frozenset(x for x in alone if x not in deciding)
    kept = (_kept(machine, x) for x in alone if x not in idle)
    return Resting(idle, tuple(it for it in kept if it is not None))


def _is_alone(machine: Machine, x: str) -> bool:
    """Whether what concerns the entries of a location concerns no others."""
    return not any(x in about and len(about) > 1 for about in map(_about, machine.rules))


def _about(rule: Rule) -> set[str | None]:
    """The locations whose entries a rule wants so or so, and its own."""
    wanted = {bit.location for bit, _ in rule.literals}
    if wanted and isinstance(rule, InstructionRule) and rule.instruction.location is not None:
        wanted.add(rule.instruction.location)
    return wanted


def _kept(machine: Machine, x: str) -> Kept | None:
    """The one entry of a location that instructions read and write, where they do nothing else."""
    used = {word for code in machine.code for rule in code for word in _words(rule, x)}
    entries = machine.shapes.of_value
    if len(used) != 1 or not used <= entries.keys():
        return None
    (entry,) = (entries[word] for word in used)
    return _with_steps(machine, entry, machine.memory(x))


def _words(rule: InstructionRule, x: str) -> Iterator[Word]:
    for cell in (*rule.looks, *rule.changes):
        if isinstance(cell, Word) and cell.location == x:
            yield cell


def _with_steps(machine: Machine, entry: Entry, memory: Word | None) -> Kept | None:
    if entry.dirty is None or memory is None:
        return None
    flushes = machine.shapes.clearing.get(entry.dirty, [])
    fetches = machine.shapes.refreshing.get(entry.valid, [])
    if len(flushes) != 1 or len(fetches) != 1:
        return None
    down, up = flushes[0].takes, fetches[0].takes
    if down != [Copy(memory, entry.value)] or up != [Copy(entry.value, memory)]:
        return None
    return Kept(entry.value.location, entry.dirty, entry.valid, flushes[0], fetches[0])
