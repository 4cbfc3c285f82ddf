"""Tab. 1 of the RSP paper as data: each instruction is a short list of primitive effects.

RMW_L1 and RMW_L2 are our extension: INC_L1 and INC_L2 for any operation instead of addition alone;
so is INV_L2, of a machine of its own (docs/machine.md).

An effect speaks of a cache level, and of a reach: the executing thread's own cache or lock (WG),
all of its device (DV), or all of the system (SY). `x` is the instruction's location. An effect
whose reach is None has the reach that the instruction's operand names. The effects of an
instruction happen at once; of two that set the same thing the later one counts. It blocks unless
each `Await` holds in the state before.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum


class Level(Enum):
    """A level of the cache hierarchy: L1 of a work-group, L2 of a device (Fig. 3)."""

    L1 = "L1"
    L2 = "L2"


class Reach(Enum):
    """Which caches or locks an effect touches, seen from the executing thread.

    At L1, WG is the thread's own cache. At L2, which is one for a device, WG and DV are both the
    cache of the thread's own device.
    """

    WG = "WG"
    DV = "DV"
    SY = "SY"


class Lock(Enum):
    """The kinds of lock: a lockfile entry of a device for x, and the rmw lock of a work-group."""

    LOCATION = "lockfile"
    RMW = "rmw"


class Condition(Enum):
    """What an instruction may wait for at the entry of x in its own cache of a level."""

    VALID = "VALID"
    NOT_DIRTY = "not DIRTY"
    NOT_DIRTY_AND_INVALID = "not DIRTY and INV'D"


@dataclass(frozen=True)
class Await:
    """Block unless the own entry of x meets a condition, or every lock in reach is ready.

    what: a Condition, with a level; or a Lock, with a reach.
    """

    what: Condition | Lock
    level: Level | None = None
    reach: Reach | None = Reach.WG


@dataclass(frozen=True)
class ReadEntry:
    """Read x from the own cache of a level into the register."""

    level: Level


@dataclass(frozen=True)
class WriteEntry:
    """store(C, x, v) at the own cache of a level: C(x) := (v, DIRTY, VALID), and x is enqueued.

    v is the value of the instruction, in which an RMW finds what it has just read.
    """

    level: Level


@dataclass(frozen=True)
class Invalidate:
    """Make entries INV'D, whatever their hygiene: that of x, or all, in the caches in reach."""

    level: Level
    reach: Reach | None
    every: bool


@dataclass(frozen=True)
class Mark:
    """Enqueue the thread's flush marker in the fifo of each cache in reach."""

    level: Level
    reach: Reach | None


@dataclass(frozen=True)
class Acquire:
    """Every lock in reach becomes the executing thread's."""

    lock: Lock
    reach: Reach | None = Reach.WG


@dataclass(frozen=True)
class Release:
    """Every lock in reach becomes free, whoever held it."""

    lock: Lock
    reach: Reach | None = Reach.WG


Effect = Await | ReadEntry | WriteEntry | Invalidate | Mark | Acquire | Release


@dataclass(frozen=True)
class Mnemonic:
    """An instruction of the assembly language: its name, its operands, and its effects.

    operands: any of "r" (register), "x" (location), "s" (a reach out of `reaches`).
    operator: of one that reads and writes, the one operator of a source operation that it can do;
    None if it can do any.
    """

    name: str
    operands: str
    effects: tuple[Effect, ...]
    reaches: tuple[Reach, ...] = ()
    operator: str | None = None

    @property
    def reads(self) -> bool:
        """Whether it delivers a value into its register."""
        return any(isinstance(effect, ReadEntry) for effect in self.effects)

    @property
    def writes(self) -> bool:
        """Whether it writes a value to its location."""
        return any(isinstance(effect, WriteEntry) for effect in self.effects)


InstructionSet = Mapping[str, Mnemonic]


def _table(*mnemonics: Mnemonic) -> InstructionSet:
    return {mnemonic.name: mnemonic for mnemonic in mnemonics}


_L1, _L2 = Level.L1, Level.L2
_WG, _DV, _SY = Reach.WG, Reach.DV, Reach.SY

_AT_L1 = (Await(Lock.RMW), Await(Condition.VALID, _L1), ReadEntry(_L1), WriteEntry(_L1))
_AT_L2 = (
    Await(Lock.RMW),
    Await(Condition.NOT_DIRTY, _L1),
    Await(Lock.LOCATION),
    Await(Condition.VALID, _L2),
    Invalidate(_L1, _WG, every=False),
    Invalidate(_L2, _SY, every=False),
    ReadEntry(_L2),
    WriteEntry(_L2),
)

RSP = _table(
    Mnemonic("LD", "rx", (Await(Condition.VALID, _L1), ReadEntry(_L1))),
    Mnemonic("ST", "rx", (WriteEntry(_L1),)),
    Mnemonic("INC_L1", "rx", _AT_L1, operator="+"),
    Mnemonic("INC_L2", "rx", _AT_L2, operator="+"),
    Mnemonic("RMW_L1", "rx", _AT_L1),
    Mnemonic("RMW_L2", "rx", _AT_L2),
    Mnemonic("FLU_L1", "s", (Mark(_L1, None),), (_WG, _DV, _SY)),
    Mnemonic("FLU_L2", "s", (Mark(_L2, None),), (_DV, _SY)),
    Mnemonic("INV_L1", "s", (Invalidate(_L1, None, every=True),), (_WG, _DV, _SY)),
    Mnemonic("LK_L2", "x", (Await(Lock.LOCATION), Acquire(Lock.LOCATION))),
    Mnemonic("UL_L2", "x", (Release(Lock.LOCATION),)),
    Mnemonic("LK_rmw", "s", (Await(Lock.RMW, reach=None), Acquire(Lock.RMW, None)), (_DV, _SY)),
    Mnemonic("UL_rmw", "s", (Release(Lock.RMW, None),), (_DV, _SY)),
)
"""Tab. 1, row by row, and RMW_L1 and RMW_L2."""

RSP_ST_WAITS = {
    **RSP,
    **_table(Mnemonic("ST", "rx", (Await(Condition.NOT_DIRTY_AND_INVALID, _L1), WriteEntry(_L1)))),
}
"""The variant of an earlier draft: ST blocks while its entry is DIRTY and INV'D."""

RSP_INV_L2 = {
    **RSP,
    **_table(Mnemonic("INV_L2", "s", (Invalidate(_L2, None, every=True),), (_DV, _SY))),
}
"""The variant for several devices: INV_L2 does to L2s what INV_L1 does to L1s."""
