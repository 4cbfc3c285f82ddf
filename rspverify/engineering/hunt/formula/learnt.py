"""What is learnt from a program that races: all that begin alike race, too."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from math import prod

from rspverify.engineering.hunt.formula.choices import (
    Choices,
    Condition,
    Picked,
    Slot,
    access_of,
    condition_of,
)
from rspverify.enumeration.lemmas import strength_tells
from rspverify.enumeration.packed import PackedAccess, PackedTest, PackedThread
from rspverify.enumeration.races import races
from rspverify.smt.term import Term, all_of, any_of

_TRIES = 1_000
"""So many programs are looked at to widen what one racy candidate excludes."""

Box = dict[Slot, tuple[set[Picked], set[Condition]]]
"""Some choices for the slots at the beginnings of threads."""


def racing_like(test: PackedTest, choices: Choices) -> Term:
    """That a program of the sketch begins like one that races, in a way that makes it race."""
    box = widened(racy_beginning(test, choices), choices)
    return all_of(
        any_of(choices.picked[slot][each] for each in picks)
        & any_of(choices.conditions[slot][each] for each in conditions)
        for slot, (picks, conditions) in box.items()
    )


def racy_beginning(test: PackedTest, choices: Choices) -> Box:
    """The accesses of the shortest beginnings of the threads that race by themselves.

    Whatever follows, the race stays: a consistent execution can be gone on with, each next access
    reading what is last, and no later access orders two earlier ones.
    """
    for ends in sorted(product(*(range(len(it.accesses) + 1) for it in test.threads)), key=sum):
        threads = [
            it._replace(accesses=it.accesses[:end])
            for it, end in zip(test.threads, ends, strict=True)
        ]
        if races(test._replace(threads=tuple(threads)), choices.tables):
            return {
                (number, place): ({choices.picked_of(access)}, {condition_of(access)})
                for number, thread in enumerate(threads)
                for place, access in enumerate(thread.accesses)
            }
    raise AssertionError("it races")


def widened(box: Box, choices: Choices) -> Box:
    """More choices for each slot, as long as every program of the box races.

    Where what is weaker than an operation races as well, only the strongest are looked at.
    """
    left = _TRIES
    stronger = _stronger(choices)

    def race(slot: Slot, picks: set[Picked], conditions: set[Condition]) -> bool:
        """Whether all do that have these in a slot, as long as not too many were looked at."""
        nonlocal left
        wider = {
            at: ({it for it in some if stronger[it].isdisjoint(some)}, tests)
            for at, (some, tests) in {**box, slot: (picks, conditions)}.items()
        }
        left -= prod(len(some) for sides in wider.values() for some in sides)
        return left >= 0 and all(races(each, choices.tables) for each in members(wider, choices))

    for slot, (picks, conditions) in box.items():
        for picked in sorted(choices.picked[slot], key=lambda it: len(stronger[it])):
            if picked not in picks and (
                not stronger[picked].isdisjoint(picks) or race(slot, {picked}, conditions)
            ):
                picks.add(picked)
        for condition in choices.conditions[slot]:
            if condition not in conditions and race(slot, picks, {condition}):
                conditions.add(condition)
    return box


def _stronger(choices: Choices) -> dict[Picked, set[Picked]]:
    """What is stronger than each operation at its location, where strength tells."""
    picks = {each for slot in choices.slots for each in choices.picked[slot]}
    if not strength_tells(choices.sketch.atomic):
        return {each: set() for each in picks}
    weaker = choices.tables.weaker
    return {a: {b for b in picks if a[1:] == b[1:] and weaker(a[0], b[0])} for a in picks}


def members(box: Box, choices: Choices) -> Iterator[PackedTest]:
    """The beginnings of programs in a box; those that no program of the sketch has are left out."""
    for chosen in product(*(product(*sides) for sides in box.values())):
        accesses = {
            slot: access_of(picked, condition)
            for slot, (picked, condition) in zip(box, chosen, strict=True)
        }
        if all(_well_formed(slot, accesses, choices) for slot in box):
            threads = tuple(
                PackedThread(*place, tuple(it for at, it in accesses.items() if at[0] == number))
                for number, place in enumerate(choices.sketch.places)
            )
            yield PackedTest(threads, choices.sketch.atomic, choices.sketch.local)


def _well_formed(slot: Slot, accesses: dict[Slot, PackedAccess], choices: Choices) -> bool:
    """Whether its `if` tests a read, for a store to the same location as far as it is there, or a
    compare-exchange for what it expects; and whether it expects what is alike."""
    access, tables = accesses[slot], choices.tables

    def may_be_in(location: int, of: Slot) -> bool:
        store = accesses.get(of)
        return store is None or (tables.brings[store.operation] and store.location == location)

    if not may_be_in(access.location, (access.expects, access.expects_at)):
        return False
    if access.tests < 0:
        return True
    read = accesses[slot[0], access.tests]
    if tables.cas[read.operation] and read[6:] != access[3:6]:
        return False
    return tables.kept[read.operation] and may_be_in(read.location, (access.of, access.at))
