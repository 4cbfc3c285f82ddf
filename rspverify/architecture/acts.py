"""Acts of instructions besides their accesses, inferred from effects, never from names.

Scheme engineering asks: which instruction is needed, costs what, is at least as strong as which,
writes back, invalidates, waits."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import Enum, auto
from functools import cache

from msgspec import Struct

from rspverify.architecture import architecture as files
from rspverify.architecture.architecture import Architecture, CellAt, CellKind, Condition, Mnemonic
from rspverify.records import replace


class Deed(Enum):
    """The kinds of things that instructions do."""

    MARK = auto()
    """It puts the thread's marker into a fifo, and so waits for the elements there."""
    LOSE = auto()
    """It makes a bit false, such as VALID."""
    TAKE = auto()
    FREE = auto()
    AWAIT = auto()
    """It waits for a lock."""
    DRAIN = auto()
    """It waits until a fifo or pool is empty, such as a counter of incomplete accesses."""
    OTHER = auto()


class Act(Struct, frozen=True):
    """An act of an instruction: its deed, the kind of cell, and how far it reaches.

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
        if reach == files.REACH:
            assert operand is not None
            reach = architecture.reaches[operand]
        return 0 if reach is None else architecture.places.index(reach)


@cache
def acts(mnemonic: Mnemonic) -> tuple[Act, ...]:
    """The acts of an instruction, in order, except its reads and writes."""
    later = [Act(Deed.OTHER)] if mnemonic.later else []
    return (*_acts((*mnemonic.conditions, *mnemonic.effects), {}), *later)


Bound = Mapping[str, files.Places | files.Locations]


def _acts(parts: tuple[Condition | files.Effect, ...], bound: Bound) -> Iterator[Act]:
    for each in parts:
        match each:
            case files.All(binder, inner) | files.Each(binder, inner):
                yield from _acts(inner, {**bound, binder.variable: binder})
            case files.IsSwitched() | files.InSpace(files.OPERAND) | files.Read() | files.Write():
                pass
            case files.OfWidestScope():
                pass
            case files.IsReady(lock):
                yield _act(Deed.AWAIT, lock, bound)
            case files.Lacks(where, None, (), False, None):
                yield _act(Deed.DRAIN, where, bound)
            case files.SetTo(bit, False):
                yield _act(Deed.LOSE, bit, bound)
            case files.Enter(where, files.MarkerOf(None)):
                yield _act(Deed.MARK, where, bound)
            case files.Take(lock):
                yield _act(Deed.TAKE, lock, bound)
            case files.Free(lock):
                yield _act(Deed.FREE, lock, bound)
            case _:
                yield Act(Deed.OTHER)


def _act(deed: Deed, at: CellAt, bound: Bound) -> Act:
    reach: str | None = at.kind.place
    if at.place is not None:
        binder = bound[at.place]
        assert isinstance(binder, files.Places)
        if binder.other or binder.outside:
            return Act(Deed.OTHER)
        reach = binder.inside or SYSTEM
    if at.location is None or at.location == files.OPERAND:
        return Act(deed, at.kind, reach)
    binder = bound[at.location]
    assert isinstance(binder, files.Locations)
    return Act(deed, at.kind, reach, every=True, space=binder.space)


SYSTEM = "system"
"""The kind of place that everything is in."""


def waits(machine: Architecture) -> list[Mnemonic]:
    """The instructions that only wait until something is empty, or false."""
    return [it for it in _distinct(machine) if _only_waits(it)]


def write_backs(machine: Architecture) -> list[Mnemonic]:
    """The instructions that write a whole cache back, nearest first.

    Either a marker goes through its fifo, or a later step waits for each line.
    """
    found = [it for it in _distinct(machine) if _empties(it, machine) and _writes_back(it)]
    return sorted(found, key=lambda it: machine.places.index(place_of(it, machine)))


def invalidations(machine: Architecture) -> list[Mnemonic]:
    """The instructions that invalidate a whole cache, at once or later, farthest first."""
    found = [it for it in _distinct(machine) if _empties(it, machine) and _lost(it)]
    return sorted(found, key=lambda it: -machine.places.index(place_of(it, machine)))


def place_of(mnemonic: Mnemonic, machine: Architecture) -> str:
    """The kind of place of the farthest cache that an instruction empties or waits for."""
    cells = files.cells_of((mnemonic.conditions, mnemonic.effects, mnemonic.later))
    return max(
        (it.kind.place for it in cells if it.kind.sort is not files.Sort.LOCK),
        key=machine.places.index,
    )


def completes(wait: Mnemonic, begun: Mnemonic) -> bool:
    """Whether one waits until elements of the other have left a fifo or pool."""
    entered = {it.where.kind for it in begun.plain_effects if isinstance(it, files.Enter)}
    return not entered.isdisjoint(it.kind for it in files.cells_of(wait.conditions))


def does_the_same(one: Mnemonic, other: Mnemonic) -> bool:
    """Whether two are one instruction but for their names."""
    return replace(one, name=other.name, operands=other.operands) == other


def _distinct(machine: Architecture) -> list[Mnemonic]:
    """The instructions that access nothing and name no location, of those that do the same one."""
    found: list[Mnemonic] = []
    for each in machine.instructions.values():
        plain = {*each.operands} <= {files.REACH} and not (each.reads or each.writes)
        if plain and not any(does_the_same(each, it) for it in found):
            found.append(each)
    return found


def _only_waits(it: Mnemonic) -> bool:
    awaited = [*files.asked(it.conditions)]
    return (
        not it.effects
        and not it.later
        and all(
            isinstance(each, files.Lacks | files.IsSwitched)
            or (isinstance(each, files.Holds) and not each.value)
            for each in awaited
        )
        and any(not isinstance(each, files.IsSwitched) for each in awaited)
    )


def _empties(it: Mnemonic, machine: Architecture) -> bool:
    """Whether it waits for nothing at first, and does nothing but to empty caches. A bit that has
    to be false in the end, as DIRTY, is not dropped like that: it is what is to be written back.
    """
    needed = {each.kind for each in files.cells_of(machine.complete)}
    return (
        all(isinstance(each, files.IsSwitched) for each in it.conditions)
        and all(_is_emptying(each) for each in it.plain_effects)
        and needed.isdisjoint(_lost(it))
    )


def _is_emptying(effect: files.Effect) -> bool:
    match effect:
        case files.SetTo(bit, False):
            return bit.location is not None
        case files.Enter(_, element):
            return element in (files.MarkerOf(None), files.Element.SELF)
        case _:
            return isinstance(effect, files.Leave)


def _lost(it: Mnemonic) -> list[CellKind]:
    return [each.bit.kind for each in it.plain_effects if isinstance(each, files.SetTo)]


def _writes_back(it: Mnemonic) -> bool:
    """Whether it leaves a marker, or a later step waits for more than to be in a pool itself."""
    marks = files.MarkerOf(None) in files.within(it.plain_effects, files.MarkerOf)
    awaited = files.asked(each for step in it.later for each in step.conditions)
    plain = files.IsIn | files.IsSwitched | files.InSpace | files.OfWidestScope
    return marks or any(not isinstance(each, plain) for each in awaited)
