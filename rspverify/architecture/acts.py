"""What an instruction does besides its access, told from its effects and never by a name.

Scheme engineering asks it: which instruction is needed, costs what, is at least as strong as which.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import Enum, auto
from functools import cache

from msgspec import Struct

from rspverify.architecture.architecture import (
    OPERAND,
    REACH,
    All,
    Architecture,
    CellAt,
    CellKind,
    Condition,
    CopyTo,
    Each,
    Effect,
    Either,
    Enter,
    Free,
    Holds,
    If,
    InSpace,
    IsIn,
    IsOldest,
    IsReady,
    IsSwitched,
    Lacks,
    Leave,
    Locations,
    MarkerOf,
    Mnemonic,
    Places,
    Read,
    SetTo,
    Take,
    Write,
)


class Deed(Enum):
    """The kinds of things that instructions do."""

    MARK = auto()
    """It puts the thread's marker into a fifo, and so waits for what is there."""
    LOSE = auto()
    """It makes a bit false, such as VALID."""
    TAKE = auto()
    FREE = auto()
    AWAIT = auto()
    """It waits for a lock."""
    DRAIN = auto()
    """It waits until a fifo or pool is empty, such as a counter of what is not complete."""
    OTHER = auto()


class Act(Struct, frozen=True):
    """One of the things that an instruction does: what, to which kind of cell, how far.

    reach: the kind of place that it is done in all of; REACH: in that of the operand. every: to all
    locations, not that of the instruction alone; space: of these, only to those of this memory.
    """

    deed: Deed
    kind: CellKind | None = None
    reach: str | None = None
    every: bool = False
    space: str | None = None

    def covers(self, other: Act) -> bool:
        """Whether it does, at one reach, all that another does."""
        same = (self.deed, self.kind) == (other.deed, other.kind)
        if not self.every:
            return same and not other.every
        return same and self.space in (None, other.space)

    def far(self, architecture: Architecture, operand: str | None) -> int:
        """How far it goes: 0 a thread alone, or one lock; more for each kind of place around."""
        reach = self.reach
        if reach == REACH:
            assert operand is not None
            reach = architecture.reaches[operand]
        return 0 if reach is None else architecture.places.index(reach)


@cache
def acts(mnemonic: Mnemonic) -> tuple[Act, ...]:
    """What an instruction does and waits for, in order; reads and writes are left out."""
    found = [*_awaited(mnemonic.conditions, {}), *_done(mnemonic.effects, {})]
    if mnemonic.later:
        found.append(Act(Deed.OTHER))
    return tuple(found)


Bound = Mapping[str, Places | Locations]


def _awaited(conditions: tuple[Condition, ...], bound: Bound) -> Iterator[Act]:
    for each in conditions:
        match each:
            case IsReady(lock):
                yield _act(Deed.AWAIT, lock, bound)
            case All(binder, inner):
                yield from _awaited(inner, {**bound, binder.variable: binder})
            case IsSwitched():
                pass
            case InSpace(location) if location == OPERAND:
                pass
            case Lacks(where, None, (), False, None):
                yield _act(Deed.DRAIN, where, bound)
            case Holds() | Either() | IsOldest() | Lacks() | IsIn() | InSpace():
                yield Act(Deed.OTHER)


def _done(effects: tuple[Effect, ...], bound: Bound) -> Iterator[Act]:
    for each in effects:
        match each:
            case SetTo(bit, False):
                yield _act(Deed.LOSE, bit, bound)
            case Enter(where, MarkerOf(None)):
                yield _act(Deed.MARK, where, bound)
            case Take(lock):
                yield _act(Deed.TAKE, lock, bound)
            case Free(lock):
                yield _act(Deed.FREE, lock, bound)
            case Each(binder, inner):
                yield from _done(inner, {**bound, binder.variable: binder})
            case Read() | Write():
                pass
            case SetTo() | Enter() | Leave() | CopyTo() | If():
                yield Act(Deed.OTHER)


def _act(deed: Deed, at: CellAt, bound: Bound) -> Act:
    reach: str | None = at.kind.place
    if at.place is not None:
        binder = bound[at.place]
        assert isinstance(binder, Places)
        if binder.other or binder.outside:
            return Act(Deed.OTHER)
        reach = binder.inside or SYSTEM
    if at.location is None or at.location == OPERAND:
        return Act(deed, at.kind, reach)
    binder = bound[at.location]
    assert isinstance(binder, Locations)
    return Act(deed, at.kind, reach, every=True, space=binder.space)


SYSTEM = "system"
"""The kind of place that everything is in."""
