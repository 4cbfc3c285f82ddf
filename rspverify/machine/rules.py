"""Tab. 1 and Tab. 2 spelled out for one compiled program: cells, and rules that change them.

An instruction's effects (assembly/instruction.py) and the steps of a cache level become rules over
named cells. The engines interpret these rules and know nothing else about the machine.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from rspverify.assembly import Instruction, ThreadId
from rspverify.value import Expression


@dataclass(frozen=True)
class Cache:
    """A cache: L1 of work-group (device, workgroup), or L2 of a device where workgroup is None."""

    device: int
    workgroup: int | None

    @property
    def level(self) -> int:
        """1 or 2."""
        return 2 if self.workgroup is None else 1

    def __str__(self) -> str:
        return f"L{self.level} d{self.device}" + (f" w{self.workgroup}" if self.level == 1 else "")


@dataclass(frozen=True)
class ValueOf:
    """The value of a cache entry."""

    cache: Cache
    location: str


@dataclass(frozen=True)
class IsDirty:
    """Whether a cache entry is DIRTY."""

    cache: Cache
    location: str


@dataclass(frozen=True)
class IsValid:
    """Whether a cache entry is present and VALID."""

    cache: Cache
    location: str


@dataclass(frozen=True)
class IsPresent:
    """Whether a cache has an entry. Absent ones are neither DIRTY nor VALID; only EVICT looks."""

    cache: Cache
    location: str


@dataclass(frozen=True)
class Memory:
    """The value of a location in global memory."""

    location: str


@dataclass(frozen=True)
class LocationLock:
    """The lockfile entry of a location on a device."""

    device: int
    location: str


@dataclass(frozen=True)
class RmwLock:
    """The rmw lock of a work-group."""

    device: int
    workgroup: int


LockCell = LocationLock | RmwLock
Bit = IsDirty | IsValid | IsPresent
Word = ValueOf | Memory
Cell = Bit | Word | LockCell


@dataclass(frozen=True)
class Marker:
    """FLUSH(d,w,t): the flush marker of a thread."""

    thread: ThreadId


Element = str | Marker
"""What a fifo holds: locations and markers."""


@dataclass(frozen=True)
class AnyBit:
    """Guard: one of these bits has this value."""

    bits: tuple[tuple[Bit, bool], ...]


@dataclass(frozen=True)
class Ready:
    """Guard: a lock is free, or held by one of these threads."""

    lock: LockCell
    threads: frozenset[ThreadId]


@dataclass(frozen=True)
class Oldest:
    """Guard: the oldest element of a fifo is this one."""

    cache: Cache
    element: Element


Guard = AnyBit | Ready | Oldest


@dataclass(frozen=True)
class SetBit:
    """A bit becomes true or false."""

    bit: Bit
    value: bool


@dataclass(frozen=True)
class Copy:
    """A word becomes what another word was before the rule."""

    target: Word
    source: Word


@dataclass(frozen=True)
class Deliver:
    """What a word was before the rule becomes the value of read number `register`."""

    register: int
    source: Word


@dataclass(frozen=True)
class Assign:
    """A word becomes the value of an expression over values read, this rule's read included."""

    target: Word
    value: Expression


@dataclass(frozen=True)
class SetLock:
    """A lock gets a holder, or becomes free."""

    lock: LockCell
    holder: ThreadId | None


@dataclass(frozen=True)
class Enqueue:
    """An element goes to the young end of a fifo."""

    cache: Cache
    element: Element


@dataclass(frozen=True)
class Dequeue:
    """The oldest element of a fifo leaves it."""

    cache: Cache


Update = SetBit | Copy | Deliver | Assign | SetLock | Enqueue | Dequeue


@dataclass(frozen=True)
class Rule:
    """One kind of step: it may fire where its guards hold, and changes what its updates name.

    instruction: of an instruction rule; such a rule also waits for its place in program order,
    fires at most once, and waits until none of its thread's markers is in any fifo.
    step, cache, location: of an environment rule: EVICT, FLUSH, FETCH, DEQLOC or DEQMARKER.
    Guards and the right sides of updates see the state before the rule; of two updates of one cell
    the later one counts.
    """

    guards: tuple[Guard, ...]
    updates: tuple[Update, ...]
    instruction: Instruction | None = None
    step: str = ""
    cache: Cache | None = None
    location: str | None = None
    marker: Marker | None = None

    @cached_property
    def changes(self) -> Mapping[object, Update]:
        """The updates that count, by the cell, or ("read", register), that they set."""
        found: dict[object, Update] = {}
        for update in self.updates:
            match update:
                case SetBit(cell, _) | SetLock(cell, _) | Copy(cell, _) | Assign(cell, _):
                    found[cell] = update
                case Deliver(register, _):
                    found["read", register] = update
        return found

    @property
    def key(self) -> tuple[object, ...]:
        """What the rule is called, the same in every machine that runs the same program."""
        index = None if self.instruction is None else self.instruction.index
        return (index, self.step, self.cache, self.location, self.marker)

    @property
    def dequeues(self) -> bool:
        """Whether it is DEQLOC or DEQMARKER."""
        return self.step.startswith("DEQ")
