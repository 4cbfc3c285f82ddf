"""Which instructions empty caches and wait, told from their effects and never by a name.

Those that write back go from the nearest cache to the farthest, as what leaves one is in the next;
those that invalidate the other way round, as a cache is filled from the next.
"""

from __future__ import annotations

from collections.abc import Iterator

from rspverify.architecture.architecture import (
    REACH,
    All,
    Architecture,
    CellKind,
    Condition,
    Effect,
    Element,
    Enter,
    Holds,
    InSpace,
    IsIn,
    IsSwitched,
    Lacks,
    Leave,
    MarkerOf,
    Mnemonic,
    SetTo,
    Sort,
    cells_of,
)


def waits(machine: Architecture) -> list[Mnemonic]:
    """What does nothing but wait until something is empty, or false."""
    return [it for it in _distinct(machine) if _only_waits(it)]


def write_backs(machine: Architecture) -> list[Mnemonic]:
    """What brings out all that a cache has, nearest first: a marker goes through its fifo, or a
    later step waits for each line.
    """
    found = [it for it in _distinct(machine) if _empties(it, machine) and _writes_back(it)]
    return sorted(found, key=lambda it: machine.places.index(place_of(it, machine)))


def invalidations(machine: Architecture) -> list[Mnemonic]:
    """What drops all that a cache has, at once or later, farthest first."""
    found = [it for it in _distinct(machine) if _empties(it, machine) and _lost(it)]
    return sorted(found, key=lambda it: -machine.places.index(place_of(it, machine)))


def place_of(mnemonic: Mnemonic, machine: Architecture) -> str:
    """The kind of place of the farthest cache that an instruction empties or waits for."""
    cells = cells_of((mnemonic.conditions, mnemonic.effects, mnemonic.later))
    return max(
        (it.kind.place for it in cells if it.kind.sort is not Sort.LOCK), key=machine.places.index
    )


def completes(wait: Mnemonic, begun: Mnemonic) -> bool:
    """Whether one waits for what the other puts somewhere."""
    entered = {it.where.kind for it in begun.plain_effects if isinstance(it, Enter)}
    return not entered.isdisjoint(it.kind for it in cells_of(wait.conditions))


def does_the_same(one: Mnemonic, other: Mnemonic) -> bool:
    """Whether two are one instruction but for their names."""
    return _deeds(one) == _deeds(other)


def _deeds(it: Mnemonic) -> tuple[object, ...]:
    return it.conditions, it.effects, it.later, it.reaches


def _distinct(machine: Architecture) -> list[Mnemonic]:
    """The instructions that access nothing and name no location, of those that do the same one."""
    found: list[Mnemonic] = []
    for each in machine.instructions.values():
        plain = {*each.operands} <= {REACH} and not (each.reads or each.writes)
        if plain and not any(does_the_same(each, it) for it in found):
            found.append(each)
    return found


def _only_waits(it: Mnemonic) -> bool:
    leaves = [*_leaves(it.conditions)]
    return (
        not it.effects
        and not it.later
        and all(
            isinstance(each, Lacks | IsSwitched) or (isinstance(each, Holds) and not each.value)
            for each in leaves
        )
        and any(not isinstance(each, IsSwitched) for each in leaves)
    )


def _empties(it: Mnemonic, machine: Architecture) -> bool:
    """Whether it waits for nothing at first, and does nothing but to empty caches. A bit that has
    to be false in the end, as DIRTY, is not dropped like that: it is what is to be written back.
    """
    needed = {each.kind for each in cells_of(machine.complete)}
    return (
        all(isinstance(each, IsSwitched) for each in it.conditions)
        and all(_is_emptying(each) for each in it.plain_effects)
        and needed.isdisjoint(_lost(it))
    )


def _is_emptying(effect: Effect) -> bool:
    match effect:
        case SetTo(bit, False):
            return bit.location is not None
        case Enter(_, element):
            return element in (MarkerOf(None), Element.SELF)
        case _:
            return isinstance(effect, Leave)


def _lost(it: Mnemonic) -> list[CellKind]:
    return [each.bit.kind for each in it.plain_effects if isinstance(each, SetTo)]


def _writes_back(it: Mnemonic) -> bool:
    """Whether it leaves a marker, or a later step waits for more than to be in a pool itself."""
    marks = any(
        isinstance(each, Enter) and each.element == MarkerOf(None) for each in it.plain_effects
    )
    awaited = _leaves(tuple(each for step in it.later for each in step.conditions))
    return marks or any(not isinstance(each, IsIn | IsSwitched | InSpace) for each in awaited)


def _leaves(conditions: tuple[Condition, ...]) -> Iterator[Condition]:
    for each in conditions:
        if isinstance(each, All):
            yield from _leaves(each.conditions)
        else:
            yield each
