"""What is learnt from a program that races: all that begin alike race, too."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from math import prod

from rspverify.engineering.hunt.formula.choices import Choices, Picked, Slot, Test, test_of
from rspverify.enumeration.packed import PackedAccess, PackedTest, PackedThread
from rspverify.enumeration.races import races
from rspverify.smt import Term, all_of, any_of

_TRIES = 1_000
"""So many programs are looked at to widen what one racy candidate excludes."""

Box = dict[Slot, tuple[set[Picked], set[Test]]]
"""Some choices for the slots at the beginnings of threads."""


def racing_like(shape: PackedTest, choices: Choices) -> Term:
    """That a program of the frame begins like one that races, in a way that makes it race."""
    return within(widened(racy_beginning(shape, choices), choices), choices)


def just(shape: PackedTest, choices: Choices) -> Term:
    """That a program of the frame is this one."""
    return within(point(shape, [len(thread.accesses) for thread in shape.threads]), choices)


def within(box: Box, choices: Choices) -> Term:
    """That a program of the frame is in a box."""
    return all_of(
        any_of(choices.picked[slot][each] for each in picks)
        & any_of(choices.tests[slot][each] for each in tests)
        for slot, (picks, tests) in box.items()
    )


def racy_beginning(shape: PackedTest, choices: Choices) -> Box:
    """The steps of the shortest beginnings of the threads that race by themselves.

    Whatever follows, the race stays: a consistent execution can be gone on with, each next step
    reading what is last, and no later step orders two earlier ones.
    """
    lengths = [len(thread.accesses) for thread in shape.threads]
    for ends in sorted(product(*(range(n + 1) for n in lengths)), key=sum):
        if races(_cut(shape, ends), choices.tables):
            return point(shape, list(ends))
    raise AssertionError("it races")


def _cut(shape: PackedTest, ends: tuple[int, ...]) -> PackedTest:
    threads = [
        PackedThread(it.device, it.group, it.accesses[:end])
        for it, end in zip(shape.threads, ends, strict=True)
    ]
    return PackedTest(tuple(threads), shape.atomic)


def point(shape: PackedTest, ends: Sequence[int]) -> Box:
    """The box of just one beginning: so many steps of each thread."""
    found: Box = {}
    for number, (thread, end) in enumerate(zip(shape.threads, ends, strict=True)):
        for place, step in enumerate(thread.accesses[:end]):
            found[number, place] = ({(step.operation, step.location)}, {test_of(step)})
    return found


def widened(box: Box, choices: Choices) -> Box:
    """More choices for each slot, as long as every program of the box races."""
    tries = 0
    for slot in list(box):
        for side, others in ((0, choices.picked[slot]), (1, choices.tests[slot])):
            for choice in others:
                if choice in box[slot][side]:
                    continue
                picks, tests = box[slot]
                only: tuple[set[Picked], set[Test]] = (
                    ({choice}, tests) if side == 0 else (picks, {choice})  # type: ignore[arg-type]
                )
                wider = {**box, slot: only}
                tries += prod(len(some) for parts in wider.values() for some in parts)
                if tries > _TRIES:
                    return box
                those = members(wider, choices)
                if all(races(each, choices.tables) for each in those):
                    box[slot][side].add(choice)  # type: ignore[arg-type]
    return box


def members(box: Box, choices: Choices) -> Iterator[PackedTest]:
    """The beginnings of programs in a box; those that no program of the frame has are left out."""
    slots = list(box)
    groups = choices.frame.groups
    for chosen in product(*(product(*box[slot]) for slot in slots)):
        steps = {s: PackedAccess(*p, *(t or ())) for s, (p, t) in zip(slots, chosen, strict=True)}
        if all(_well_formed(slot, steps, choices) for slot in slots):
            threads = tuple(
                PackedThread(0, group, tuple(step for (t, _), step in steps.items() if t == number))
                for number, group in enumerate(groups)
            )
            yield PackedTest(threads, choices.frame.atomic)


def _well_formed(slot: Slot, steps: dict[Slot, PackedAccess], choices: Choices) -> bool:
    """Whether its test is of a read, and of a store to the same location as far as it is there."""
    step, tables = steps[slot], choices.tables
    if step.tests < 0:
        return True
    read, store = steps[slot[0], step.tests], steps.get((step.of, step.at))
    if not tables.reads[read.operation]:
        return False
    if store is None:
        return True
    return tables.stores[store.operation] and store.location == read.location
