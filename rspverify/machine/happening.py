"""What can happen in an execution, for the events engine: each instruction once, and few steps.

An entry is flushed at most once per write to it, and of the fetches of an entry only those matter
whose value somebody looks at (docs/events-encoding.md, claims 1 and 2). So every write has one
flush that may follow it, its own, and every look at a VALID entry one fetch that may precede it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from rspverify.machine.machine import Machine
from rspverify.machine.rules import (
    AnyBit,
    Assign,
    Cache,
    Copy,
    Enqueue,
    IsDirty,
    IsValid,
    Memory,
    Rule,
    SetBit,
    SetLock,
    Update,
    ValueOf,
)

Entry = tuple[Cache, str]


@dataclass(eq=False)
class Happening:
    """One firing of a rule, which may be absent from an execution.

    number: its place in `Happenings.all`. owner: of a flush the write that it flushes, of a fetch
    the look that it serves, of a dequeue what enqueued the location; None for an instruction.
    changes: what it sets, by cell. enqueues: what it puts into fifos, in order.
    """

    number: int
    rule: Rule
    owner: Happening | None
    changes: Mapping[object, Update] = field(init=False)
    enqueues: Sequence[Enqueue] = field(init=False)

    def __post_init__(self) -> None:
        self.changes = self.rule.changes
        self.enqueues = [it for it in self.rule.updates if isinstance(it, Enqueue)]

    @property
    def entry(self) -> Entry | None:
        """The cache entry of a step."""
        if self.rule.cache is None or self.rule.location is None:
            return None
        return self.rule.cache, self.rule.location

    def awaits_valid(self, entry: Entry) -> bool:
        """Whether it waits until an entry is VALID, whatever else holds."""
        return AnyBit(((IsValid(*entry), True),)) in self.rule.guards


class Happenings:
    """All that can happen when a machine runs its program.

    all: by number. instructions: in program order, thread by thread. flushes: write → its flushes,
    by entry. fetches: (look, entry) → its fetch. versions: word → what gives it a value. dirtying,
    invalidating: entry → what makes it DIRTY, INV'D. locking: lock → what sets it. known: pairs
    that can only happen in this order.
    """

    def __init__(self, machine: Machine) -> None:
        self.all: list[Happening] = []
        self.flushes: dict[tuple[Happening, Entry], Happening] = {}
        self.fetches: dict[tuple[Happening, Entry], Happening] = {}
        self.versions: dict[ValueOf | Memory, list[Happening]] = {}
        self.dirtying: dict[Entry, list[Happening]] = {}
        self.invalidating: dict[Entry, list[Happening]] = {}
        self.locking: dict[Any, list[Happening]] = {}
        self.known: list[tuple[int, int]] = []
        self._steps = {
            (rule.step, rule.cache, rule.location): rule
            for rule in machine.rules
            if rule.step in ("FLUSH", "FETCH", "DEQLOC")
        }
        self.code = [[self._add(rule, None) for rule in thread] for thread in machine.code]
        for thread in self.code:
            self._follow(thread)
        self.instructions = [each for thread in self.code for each in thread]
        place = 0
        while place < len(self.all):
            self._with_steps(self.all[place])
            place += 1

    def add_dequeue(self, enqueuing: Happening, entry: Entry) -> Happening:
        """One more: what a happening has put into the fifo of an entry's cache leaves it."""
        dequeue = self._add(self._steps["DEQLOC", *entry], enqueuing)
        self._follow((enqueuing, dequeue))
        return dequeue

    def _add(self, rule: Rule, owner: Happening | None) -> Happening:
        added = Happening(len(self.all), rule, owner)
        self.all.append(added)
        for update in added.changes.values():
            match update:
                case Assign(word, _) | Copy(word, _):
                    self.versions.setdefault(word, []).append(added)
                case SetBit(IsDirty(cache, x), True):
                    self.dirtying.setdefault((cache, x), []).append(added)
                case SetBit(IsValid(cache, x), False):
                    self.invalidating.setdefault((cache, x), []).append(added)
                case SetLock(lock, _):
                    self.locking.setdefault(lock, []).append(added)
        return added

    def _with_steps(self, happening: Happening) -> None:
        """Add the flushes of what it writes and the fetches of what it looks at."""
        for update in happening.changes.values():
            match update:
                case SetBit(IsDirty(cache, x), True):
                    flush = self._add(self._steps["FLUSH", cache, x], happening)
                    self.flushes[happening, (cache, x)] = flush
                    self._follow((happening, flush))
        for guard in happening.rule.guards:
            for bit, wanted in guard.bits if isinstance(guard, AnyBit) else ():
                if isinstance(bit, IsValid) and wanted:
                    entry = (bit.cache, bit.location)
                    if (happening, entry) not in self.fetches:
                        fetch = self._add(self._steps["FETCH", *entry], happening)
                        self.fetches[happening, entry] = fetch
                        self._follow((fetch, happening))

    def _follow(self, happenings: Sequence[Happening]) -> None:
        pairs = pairwise(happenings)
        self.known += [(first.number, second.number) for first, second in pairs]
