"""Which values an `if` may test: those that its read can have, as far as one can see at once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rspverify.enumeration.packed import NONE, PackedTest
from rspverify.enumeration.tables import Tables

Test = tuple[int, int, int]
"""A value: thread and place of the store that it is of, and the increments since."""


def values(
    shape: PackedTest, tables: Tables, done: Sequence[int], number: int, place: int
) -> Iterator[Test]:
    """The values that a read of a thread may be tested for, when so much of each thread is there.

    None if no other thread writes to the location, as the read has one value then. Otherwise the
    initial value, unless the own thread has stored there before; the values of the stores of other
    threads, and that of its own last store before the read; each with as many increments as there
    are, but for those of its own thread that come after the read or before that store, and with no
    fewer than its own thread surely adds.
    """
    location = shape.threads[number][2][place][1]
    elsewhere: list[Test] = []
    added = written = 0
    for thread, (_, _, steps) in enumerate(shape.threads):
        if thread == number:
            continue
        for at in range(done[thread]):
            step = steps[at]
            if step[1] == location and tables.writes[step[0]]:
                written += 1
                if tables.adds[step[0]]:
                    added += 1
                else:
                    elsewhere.append((thread, at, 0))
    if not written:
        return
    base, since, before = (NONE, NONE), 0, 0
    for at, step in enumerate(shape.threads[number][2][:place]):
        if step[1] == location and tables.writes[step[0]]:
            if tables.adds[step[0]]:
                since += 1
                before += 1
            else:
                base, since = (number, at), 0
    for plus in range(since, since + added + 1):
        yield *base, plus
    for thread, at, _ in elsewhere:
        for plus in range(before + added + 1):
            yield thread, at, plus


def can_be_made(shape: PackedTest, tables: Tables) -> bool:
    """Whether a shape can grow, step by step, so that each `if` tests one of these values.

    More steps of other threads only add values, so that any order that gets on is good enough.
    """
    lengths = [len(thread[2]) for thread in shape.threads]
    done = [0] * len(lengths)
    moved = True
    while moved:
        moved = False
        for number, (_, _, steps) in enumerate(shape.threads):
            while done[number] < lengths[number]:
                step = steps[done[number]]
                value = (step[3], step[4], step[5])
                if step[2] >= 0 and value not in set(values(shape, tables, done, number, step[2])):
                    break
                done[number] += 1
                moved = True
    return done == lengths
