"""Which values an `if` may test: those that its read can have, as far as one can see at once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rspverify.enumeration.packed import NONE, PackedTest
from rspverify.enumeration.tables import Tables

Value = tuple[int, int, int]
"""A value: thread and place of the store that it is of, and the increments since."""


def values(
    packed: PackedTest, tables: Tables, done: Sequence[int], number: int, place: int
) -> Iterator[Value]:
    """The values that a read of a thread may be tested for, when so much of each thread is there.

    None if no other thread writes to the location, as the read has one value then. Otherwise the
    initial value, unless the own thread has stored there before; the values of the stores of other
    threads, and that of its own last store before the read; those of compare-exchanges, which may
    have failed, wherever they are but after the read; each with as many increments as there
    are, but for those of its own thread that come after the read or before that store, and with no
    fewer than its own thread surely adds.
    """
    location = packed.threads[number][2][place][1]
    elsewhere: list[Value] = []
    added = written = 0
    for thread, (_, _, accesses) in enumerate(packed.threads):
        if thread == number:
            continue
        for at in range(done[thread]):
            access = accesses[at]
            if access[1] == location and tables.writes[access[0]]:
                written += 1
                if tables.adds[access[0]]:
                    added += 1
                else:
                    elsewhere.append((thread, at, 0))
    if not written:
        return
    base, since, before = (NONE, NONE), 0, 0
    for at, access in enumerate(packed.threads[number][2][:place]):
        if access[1] == location and tables.writes[access[0]]:
            if tables.adds[access[0]]:
                since += 1
                before += 1
            elif tables.cas[access[0]]:
                elsewhere.append((number, at, 0))
            else:
                base, since = (number, at), 0
    for plus in range(since, since + added + 1):
        yield *base, plus
    for thread, at, _ in elsewhere:
        for plus in range(before + added + 1):
            yield thread, at, plus


def expected_values(
    packed: PackedTest, tables: Tables, done: Sequence[int], number: int, place: int
) -> Iterator[Value]:
    """The values that a compare-exchange may expect: the initial one, and those it can find."""
    initial = (NONE, NONE, 0)
    yield initial
    yield from (it for it in values(packed, tables, done, number, place) if it != initial)


def can_be_made(packed: PackedTest, tables: Tables) -> bool:
    """Whether a test can grow, bit by bit, so that each `if` tests one of these values.

    More accesses of other threads only add values, so that any order that gets on is good enough.
    """
    lengths = [len(thread[2]) for thread in packed.threads]
    done = [0] * len(lengths)
    moved = True
    while moved:
        moved = False
        for number, (_, _, accesses) in enumerate(packed.threads):
            while done[number] < lengths[number]:
                access = accesses[done[number]]
                tested = accesses[access[2]]
                if access[2] >= 0 and (
                    access[3:6] != tested[6:]
                    if tables.cas[tested[0]]
                    else access[3:6] not in values(packed, tables, done, number, access[2])
                ):
                    break
                if tables.cas[access[0]] and access[6:] not in expected_values(
                    packed, tables, done, number, done[number]
                ):
                    break
                done[number] += 1
                moved = True
    return done == lengths
