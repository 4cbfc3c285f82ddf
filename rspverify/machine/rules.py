"""What Tab. 1 and Tab. 2 are spelled out in: cells, and rules that change them.

An instruction's effects (assembly/instruction.py) and the steps of a cache level become rules over
named cells. The engines interpret these rules and know nothing else about the machine.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import assert_never

from rspverify.assembly import Instruction, Level, ThreadId
from rspverify.value import Expression


@dataclass(frozen=True)
class Cache:
    """A cache: L1 of work-group (device, workgroup), or L2 of a device where workgroup is None."""

    device: int
    workgroup: int | None

    @property
    def level(self) -> Level:
        """Which of the levels it is at."""
        return Level.L2 if self.workgroup is None else Level.L1

    def __str__(self) -> str:
        group = "" if self.workgroup is None else f" w{self.workgroup}"
        return f"{self.level.value} d{self.device}{group}"


@dataclass(frozen=True)
class _OfEntry:
    """A part of a cache entry."""

    cache: Cache
    location: str

    @property
    def entry(self) -> Entry:
        """The entry that it is a part of."""
        return self.cache, self.location


class ValueOf(_OfEntry):
    """The value of a cache entry."""


class IsDirty(_OfEntry):
    """Whether a cache entry is DIRTY."""

    word = "DIRTY"


class IsValid(_OfEntry):
    """Whether a cache entry is present and VALID."""

    word = "VALID"


class IsPresent(_OfEntry):
    """Whether a cache has an entry. Absent ones are neither DIRTY nor VALID; only EVICT looks."""

    word = "present"


@dataclass(frozen=True)
class Memory:
    """The value of a location in global memory."""

    location: str


@dataclass(frozen=True)
class LocationLock:
    """The lockfile entry of a location on a device."""

    device: int
    location: str

    def __str__(self) -> str:
        return f"lock of {self.location} on d{self.device}"


@dataclass(frozen=True)
class RmwLock:
    """The rmw lock of a work-group."""

    device: int
    workgroup: int

    def __str__(self) -> str:
        return f"rmw d{self.device} w{self.workgroup}"


LockCell = LocationLock | RmwLock
Bit = IsDirty | IsValid | IsPresent
Word = ValueOf | Memory
Cell = Bit | Word | LockCell

Entry = tuple[Cache, str]
"""An entry of a cache, by its location."""


@dataclass(frozen=True)
class Marker:
    """FLUSH(d,w,t): the flush marker of a thread."""

    thread: ThreadId

    def __str__(self) -> str:
        return f"FLUSH({self.thread})"


Element = str | Marker
"""What a fifo holds: locations and markers."""


@dataclass(frozen=True)
class AnyBit:
    """Guard: one of these bits has this value."""

    bits: tuple[tuple[Bit, bool], ...]


def valid(entry: Entry) -> AnyBit:
    """Guard: an entry is VALID."""
    return AnyBit(((IsValid(*entry), True),))


def clean(entry: Entry) -> AnyBit:
    """Guard: an entry is CLEAN."""
    return AnyBit(((IsDirty(*entry), False),))


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


Wait = AnyBit | Ready
"""What an instruction may wait for."""

Guard = Wait | Oldest


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


Change = SetBit | Copy | Deliver | Assign | SetLock
Update = Change | Enqueue | Dequeue


class Step(StrEnum):
    """The steps of the environment (Tab. 2)."""

    FLUSH = "FLUSH"
    FETCH = "FETCH"
    EVICT = "EVICT"
    DEQLOC = "DEQLOC"
    DEQMARKER = "DEQMARKER"


@dataclass(frozen=True)
class _Rule:
    """It may fire where its guards hold, and changes what its updates name.

    Guards and the right sides of updates see the state before the rule; of two updates of one cell
    the later one counts.
    """

    guards: tuple[Guard, ...]
    updates: tuple[Update, ...]

    @cached_property
    def changes(self) -> Mapping[object, Change]:
        """The updates of cells that count, by the cell, or ("read", register), that they set."""
        found: dict[object, Change] = {}
        for update in self.updates:
            match update:
                case SetBit(cell, _) | SetLock(cell, _) | Copy(cell, _) | Assign(cell, _):
                    found[cell] = update
                case Deliver(register, _):
                    found["read", register] = update
                case Enqueue() | Dequeue():
                    pass
                case _:
                    assert_never(update)
        return found

    @cached_property
    def looks(self) -> list[Cell]:
        """The cells that decide whether it may fire, and those whose values it takes."""
        found: list[Cell] = []
        for guard in self.guards:
            match guard:
                case AnyBit(bits):
                    found += [bit for bit, _ in bits]
                case Ready(lock, _):
                    found.append(lock)
                case Oldest():
                    pass
                case _:
                    assert_never(guard)
        return [*found, *(update.source for update in self.takes)]

    @cached_property
    def takes(self) -> list[Copy | Deliver]:
        """The updates that take the value of a word."""
        return [update for update in self.changes.values() if isinstance(update, Copy | Deliver)]

    @cached_property
    def enqueues(self) -> tuple[Enqueue, ...]:
        """What it puts into fifos, in order."""
        return tuple(update for update in self.updates if isinstance(update, Enqueue))

    @cached_property
    def marks(self) -> list[Cache]:
        """The caches in whose fifos it puts a marker."""
        return [each.cache for each in self.enqueues if isinstance(each.element, Marker)]

    @cached_property
    def dequeues(self) -> bool:
        """Whether it takes an element out of a fifo, as DEQLOC and DEQMARKER do."""
        return any(isinstance(update, Dequeue) for update in self.updates)

    @cached_property
    def holders(self) -> dict[LockCell, ThreadId | None]:
        """The locks that it sets, and who holds each then."""
        return {it.lock: it.holder for it in self.changes.values() if isinstance(it, SetLock)}

    @cached_property
    def written(self) -> list[Entry]:
        """The entries that it makes DIRTY."""
        return [
            cell.entry
            for cell, update in self.changes.items()
            if isinstance(cell, IsDirty) and update == SetBit(cell, True)
        ]

    @cached_property
    def valid_entries(self) -> list[Entry]:
        """The entries that it wants VALID, be it as one of several ways to go on."""
        return [cell.entry for cell in self.looks if isinstance(cell, IsValid)]

    def awaits_valid(self, entry: Entry) -> bool:
        """Whether it waits until an entry is VALID, whatever else holds."""
        return valid(entry) in self.guards


@dataclass(frozen=True)
class InstructionRule(_Rule):
    """An instruction in its place.

    It also waits for its turn in program order, fires at most once, and waits until none of its
    thread's markers is in any fifo.
    """

    guards: tuple[Wait, ...]
    instruction: Instruction

    @cached_property
    def thread(self) -> int:
        """The number of its thread."""
        return self.instruction.thread.thread

    @property
    def key(self) -> object:
        """What tells it apart, the same in every machine that runs the same program."""
        return self.instruction.index

    def __str__(self) -> str:
        """By name: `LD r y`, `FLU_L1 DV`."""
        instruction = self.instruction
        reach = instruction.reach.value if instruction.reach else ""
        operands = {"r": "r", "x": instruction.location or "", "s": reach}
        parts = [operands[letter] for letter in instruction.mnemonic.operands]
        return " ".join([instruction.mnemonic.name, *parts])


@dataclass(frozen=True)
class StepRule(_Rule):
    """A step of the environment at a cache, and at the location or marker that it is about."""

    step: Step
    cache: Cache
    element: Element

    @property
    def entry(self) -> Entry:
        """The cache entry that it is about; not of a DEQMARKER."""
        assert isinstance(self.element, str)
        return self.cache, self.element

    @cached_property
    def key(self) -> object:
        """What tells it apart, the same in every machine that runs the same program."""
        return self.step, self.cache, self.element

    @property
    def name(self) -> str:
        """Its step and level: `FLUSH_L1`."""
        return f"{self.step}_{self.cache.level.value}"

    def __str__(self) -> str:
        """By name: `FLUSH_L1 x`, `DEQMARKER_L1 of P0`."""
        element = self.element
        where = f"of {element.thread}" if isinstance(element, Marker) else element
        return f"{self.name} {where}"


Rule = InstructionRule | StepRule
