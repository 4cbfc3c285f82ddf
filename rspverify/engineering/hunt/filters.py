"""Programs that need not be decided, and why (docs/engineering.md has the proofs).

All are argued for the model `opencl-rsp` and for programs without a race.
"""

from __future__ import annotations

from enum import IntEnum

from rspverify.assembly import Acquire, Lock, Reach, Release
from rspverify.engineering.hunt.races import races
from rspverify.engineering.hunt.shape import Shape, Step, Thread
from rspverify.engineering.hunt.tables import Tables
from rspverify.scheme import Scheme


class Sort(IntEnum):
    """What a program without a race is to a hunt."""

    ALONE = 0
    """No location that is written is accessed from two work-groups: no scheme can break it whose
    rows store once."""
    LARGER = 1
    """It cannot be broken unless a smaller program of the space is, by a scheme whose rows give
    back what they lock."""
    GUARDED = 2
    """It has an `if` without which it does not race either, and cannot be broken unless that
    program is, or a smaller one."""
    CORE = 3
    """It must be decided."""


def sort_of(shape: Shape, tables: Tables) -> Sort:
    """What a program without a race is to a hunt."""
    groups: dict[int, set[tuple[int, int]]] = {}
    threads: dict[int, set[int]] = {}
    written: set[int] = set()
    for number, (device, group, steps) in enumerate(shape.threads):
        for step in steps:
            groups.setdefault(step[1], set()).add((device, group))
            threads.setdefault(step[1], set()).add(number)
            if tables.writes[step[0]]:
                written.add(step[1])
    if not tables.space.again and all(len(groups[each]) == 1 for each in written):
        return Sort.ALONE
    if not all(each in written and len(threads[each]) > 1 for each in groups) or not _joined(
        list(threads.values()), len(shape.threads)
    ):
        return Sort.LARGER
    return Sort.GUARDED if has_idle_test(shape, tables) else Sort.CORE


def has_idle_test(shape: Shape, tables: Tables) -> bool:
    """Whether some `if` could be left out without a race."""
    for number, thread in enumerate(shape.threads):
        for place, step in enumerate(thread[2]):
            if step[2] >= 0:
                bare = Step(step[0], step[1])
                steps = (*thread[2][:place], bare, *thread[2][place + 1 :])
                threads = (
                    *shape.threads[:number],
                    Thread(thread[0], thread[1], steps),
                    *shape.threads[number + 1 :],
                )
                if not races(Shape(threads, shape.atomic), tables):
                    return True
    return False


def _joined(together: list[set[int]], count: int) -> bool:
    """Whether sets of threads that overlap, directly or not, join all threads."""
    reached = set(together[0])
    while True:
        more = reached.union(*(each for each in together if each & reached))
        if more == reached:
            return len(reached) == count
        reached = more


def gives_back(scheme: Scheme) -> bool:
    """Whether each row frees exactly the locks that it has taken itself, and holds none at its end.

    Then no thread ever frees a lock of another. A row that takes a kind of lock while it holds one
    does not count: locks are not counted, so that the first of two that frees it frees it for all,
    and the second may free that of another thread.
    """
    for row in scheme.rows:
        held: dict[Lock, Reach | None] = {}
        for template in row.code:
            for effect in template.mnemonic.effects:
                if isinstance(effect, Acquire):
                    if effect.lock in held:
                        return False
                    held[effect.lock] = template.reach
                elif isinstance(effect, Release):
                    if effect.lock not in held or held.pop(effect.lock) is not template.reach:
                        return False
        if held:
            return False
    return True


def stores_again(scheme: Scheme) -> bool:
    """Whether some row stores again what its operation has written.

    Then another store of the same work-group may come in between, and be lost.
    """
    return any(sum(each.mnemonic.writes for each in row.code) > 1 for row in scheme.rows)
