"""Tests that need not be decided, whatever the scheme, and why (docs/proofs.md proves it).

All is proved for one model and for tests without a race. The same proofs carry the quick form of
races (races.py), the scopes of tables.py, and the formulas of `hunt`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import IntEnum

from rspverify.enumeration.packed import NONE, PackedTest, PackedThread
from rspverify.enumeration.races import races
from rspverify.enumeration.tables import Tables

PROVED_FOR = "ee799bc69ff5aa48ecf9350df33008a0740dfaf92cc18aaf084ca45abcdd6969"
"""The meaning of the model that all of this is proved for (`MemoryModel.meaning_digest`).

It may only be changed with the proofs. Under any other model every test is asked about.
"""


class Sort(IntEnum):
    """What a test without a race is to whoever looks for one that breaks a scheme."""

    ALONE = 0
    """No location that is written is accessed from two work-groups: no scheme can break it whose
    rows store once."""
    LARGER = 1
    """It cannot be broken unless a smaller program of the space is, by a scheme whose rows give
    back what they lock: some location is accessed by one thread or never written, by no seq_cst
    operation, or the threads fall into parts that share nothing."""
    GUARDED = 2
    """It has an `if` without which it does not race either, and cannot be broken unless that
    program is, or a smaller one."""
    CORE = 3
    """It must be decided."""


def sort_of(packed: PackedTest, tables: Tables) -> Sort:
    """What a program without a race is to a hunt."""
    groups: dict[int, set[tuple[int, int]]] = {}
    threads: dict[int, set[int]] = {}
    written: set[int] = set()
    ordered: set[int] = set()
    for number, (device, group, accesses) in enumerate(packed.threads):
        for access in accesses:
            if access[1] == NONE:
                continue
            groups.setdefault(access[1], set()).add((device, group))
            threads.setdefault(access[1], set()).add(number)
            if tables.writes[access[0]]:
                written.add(access[1])
            if tables.seq_cst[access[0]]:
                ordered.add(access[1])
    if not tables.space.again and all(len(groups[each]) == 1 for each in written):
        return Sort.ALONE
    if tables.space.again and len(packed.threads) == len(groups) == 1 and written:
        return Sort.CORE
    noise = [it for it in groups if it not in written or len(threads[it]) == 1]
    if not set(noise) <= ordered or not _joined(list(threads.values()), len(packed.threads)):
        return Sort.LARGER
    return Sort.GUARDED if has_idle_if(packed, tables) else Sort.CORE


def in_turn(packed: PackedTest, tables: Tables) -> bool:
    """Whether fewer than two threads access two locations that another accesses, and one of both
    writes: program order and what is read and overwritten have no circle but within a location."""
    threads: dict[int, set[int]] = {}
    written: set[int] = set()
    for number, thread in enumerate(packed.threads):
        for access in thread.accesses:
            if access.location != NONE:
                threads.setdefault(access.location, set()).add(number)
                if tables.writes[access.operation]:
                    written.add(access.location)
    shared = [its for it, its in threads.items() if it in written and len(its) > 1]
    return sum(sum(at in its for its in shared) > 1 for at in range(len(packed.threads))) < 2


def strength_tells(atomic: Sequence[bool]) -> bool:
    """Whether, with these locations, a program races if one with stronger operations does
    (`Tables.weaker`), and otherwise allows whatever that one allows."""
    return sum(atomic) < 2 or all(atomic)


def without_idle_if(packed: PackedTest, tables: Tables) -> Iterator[PackedTest]:
    """A test without one of the `if`s that it need not have to be free of races, each in turn."""
    for number, thread in enumerate(packed.threads):
        for place, access in enumerate(thread[2]):
            if access[2] >= 0:
                bare = access._replace(tests=NONE, of=NONE, at=NONE, plus=0)
                accesses = (*thread[2][:place], bare, *thread[2][place + 1 :])
                fewer = packed.with_thread(number, PackedThread(thread[0], thread[1], accesses))
                if not races(fewer, tables):
                    yield fewer


def has_idle_if(packed: PackedTest, tables: Tables) -> bool:
    """Whether some `if` could be left out without a race."""
    return next(without_idle_if(packed, tables), None) is not None


def _joined(together: list[set[int]], count: int) -> bool:
    """Whether sets of threads that overlap, directly or not, join all threads."""
    reached = set(together[0]) if together else set()
    while True:
        more = reached.union(*(each for each in together if each & reached))
        if more == reached:
            return len(reached) == count
        reached = more
