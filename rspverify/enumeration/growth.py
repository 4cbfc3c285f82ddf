"""Programs of a space, one operation after the other, each once up to symmetry.

A program grows by an operation at the end of a thread. Of all programs that a program may have
grown from, the least in the order of encodings is its parent, so that the children of different
parents are different programs, and parents can be worked on in any order and at the same time
(B. D. McKay, Isomorph-free exhaustive generation, 1998).

Only programs without a race grow: a race of a program is one of all that it grows into.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from rspverify.enumeration.packed import (
    NONE,
    PackedAccess,
    PackedTest,
    PackedThread,
    canonical,
    encoded,
)
from rspverify.enumeration.races import races
from rspverify.enumeration.tables import Tables, distance, guarded_from

Value = tuple[int, int, int]
"""A value: thread and place of the store that it is of, and the increments since."""


@dataclass
class Grown:
    """What came of extending programs by an operation.

    children: those without a race, encoded, in no order. barren: those with one, where they must
    grow all the same. racy: extensions that were found to race, counted before symmetry, so that
    one program may count several times.
    """

    children: list[bytes] = field(default_factory=list)
    barren: list[bytes] = field(default_factory=list)
    racy: int = 0


class Growth:
    """Extends programs of a space.

    judge: whether a program races where that is not `races`, for other models; then racy programs
    grow, too, as it is not known whether their children race.
    """

    def __init__(self, tables: Tables, judge: Callable[[PackedTest], bool] | None = None) -> None:
        self._tables = tables
        self._space = tables.space
        self._judge = judge

    def children(self, parent: PackedTest, known: Callable[[bytes], bool], threads: int) -> Grown:
        """The programs whose parent this is that have so many threads.

        known: whether a program as large as the parent grows, by its encoding.
        """
        grown = Grown()
        own = encoded(parent)
        met: set[bytes] = set()
        suspicious = bool(self._tables.suspects(parent))
        for packed, thread in self._extended(parent, new=threads > len(parent.threads)):
            suspected = False if self._judge else self._suspicion(packed, thread)
            accepted = None if suspected is None else self._accepted(packed, own, known)
            if accepted is None:
                grown.racy += 1
            if not accepted:
                continue
            child = canonical(packed)
            key = encoded(child)
            if key in met:
                continue
            met.add(key)
            last = packed.threads[thread][2][-1]
            unsure = suspected or (suspicious and self._tables.writes[last[0]])
            racy = self._judge(child) if self._judge else unsure and races(child, self._tables)
            if not racy:
                grown.children.append(key)
                continue
            grown.racy += 1
            if self._judge:
                grown.barren.append(key)
        return grown

    def _suspicion(self, packed: PackedTest, thread: int) -> bool | None:
        """Whether the last access of a thread may race with another; None if it surely does."""
        tables = self._tables
        here = packed.threads[thread]
        accesses = here[2]
        last = accesses[-1]
        free = guarded_from(accesses) == len(accesses)
        found = False
        for other, there in enumerate(packed.threads):
            if other == thread:
                continue
            apart = distance(here, there)
            first_guarded = guarded_from(there[2])
            for place, access in enumerate(there[2]):
                if tables.conflicting(last, access, apart):
                    surely = tables.surely_conflicting(last, access, apart)
                    if surely and free and place < first_guarded:
                        return None
                    found = True
        return found

    def _accepted(
        self, packed: PackedTest, own: bytes, known: Callable[[bytes], bool]
    ) -> bool | None:
        """Whether `own` is the parent of a program; None if one that it has grown from races."""
        least = own
        for before in reductions(packed, self._tables):
            key = encoded(canonical(before))
            if key == own:
                continue
            if not known(key):
                return None
            if key < least:
                least = key
        return least == own

    def _extended(self, parent: PackedTest, *, new: bool) -> Iterator[tuple[PackedTest, int]]:
        """The program with another access at the end of a thread, or in a new thread."""
        threads = parent.threads
        if new:
            starts = [(len(threads), PackedThread(*place, ())) for place in self._places(parent)]
        else:
            starts = [(number, thread) for number, thread in enumerate(threads) if thread[2]]
        for number, (device, group, accesses) in starts:
            for access, atomic in self._accesses(parent, NONE if new else number):
                longer = PackedThread(device, group, (*accesses, access))
                after = (*threads[:number], longer, *threads[number + 1 :])
                grown = PackedTest(after, atomic)
                if self._tables.cas[access[0]]:
                    yield from ((each, number) for each in self._expecting(grown, number))
                else:
                    yield grown, number

    def _expecting(self, packed: PackedTest, number: int) -> Iterator[PackedTest]:
        """The program with each value that the last access of a thread may expect."""
        device, group, accesses = packed.threads[number]
        last, tables = accesses[-1], self._tables
        done = [len(thread[2]) for thread in packed.threads]
        for expected in expected_values(packed, tables, done, number, len(accesses) - 1):
            access = PackedAccess(*last[:6], *expected)
            thread = PackedThread(device, group, (*accesses[:-1], access))
            yield packed.with_thread(number, thread)

    def _places(self, parent: PackedTest) -> Iterator[tuple[int, int]]:
        """Where a new thread may run: in a work-group that is there, or in the next one."""
        used = {thread[:2] for thread in parent.threads}
        devices = 1 + max((device for device, _ in used), default=NONE)
        yield from sorted(used)
        if len(used) < self._space.workgroups:
            for device in range(devices):
                yield device, sum(1 for each in used if each[0] == device)
            if devices < self._space.devices:
                yield devices, 0

    def _accesses(
        self, parent: PackedTest, number: int
    ) -> Iterator[tuple[PackedAccess, tuple[bool, ...]]]:
        """The accesses that a thread may go on with (NONE: a new one), and what is atomic then."""
        tables, space = self._tables, self._space
        tests = [(NONE, NONE, NONE, 0), *(self._tests(parent, number) if number >= 0 else ())]
        count = len(parent.atomic)
        with_new = [(*parent.atomic, each) for each in (False, True)]
        for operation, plain in enumerate(tables.plain):
            if tables.fence[operation]:
                for test in tests:
                    yield PackedAccess(operation, NONE, *test), parent.atomic
                continue
            for location in range(min(count + 1, space.locations)):
                for atomic in with_new if location == count else [parent.atomic]:
                    if plain != atomic[location] or (plain and space.mixed):
                        for test in tests:
                            yield PackedAccess(operation, location, *test), atomic

    def _tests(self, parent: PackedTest, number: int) -> Iterator[tuple[int, int, int, int]]:
        """The tests of an `if` that may begin at the end of a thread: a read, and a value."""
        most = self._space.guards
        if most is not None and most <= sum(
            access[2] >= 0 for thread in parent.threads for access in thread[2]
        ):
            return
        accesses = parent.threads[number][2]
        tested = {access[2] for access in accesses}
        done = [len(thread[2]) for thread in parent.threads]
        for place, access in enumerate(accesses):
            if self._tables.cas[access[0]] and place not in tested:
                yield place, *access[6:]
            elif self._tables.kept[access[0]] and place not in tested:
                for value in values(parent, self._tables, done, number, place):
                    yield place, *value


def reductions(packed: PackedTest, tables: Tables) -> Iterator[PackedTest]:
    """The programs of the space that a program may have grown from: without one last access."""
    for number, (device, group, accesses) in enumerate(packed.threads):
        last = (number, len(accesses) - 1)
        if any(
            last in (access[3:5], access[6:8]) for thread in packed.threads for access in thread[2]
        ):
            continue
        if len(accesses) > 1:
            shorter = PackedThread(device, group, accesses[:-1])
            before = packed.with_thread(number, shorter)
        else:
            before = _without(packed, number)
        if not tables.writes[accesses[-1][0]] or can_be_made(before, tables):
            yield before


def _without(packed: PackedTest, number: int) -> PackedTest:
    """A test without one thread, whose stores no `if` of another asks for."""
    threads = []
    for other, (device, group, accesses) in enumerate(packed.threads):
        if other != number:
            if any(it[3] > number or it[6] > number for it in accesses):
                accesses = tuple(
                    it._replace(of=it[3] - (it[3] > number), expects=it[6] - (it[6] > number))
                    for it in accesses
                )
            threads.append(PackedThread(device, group, accesses))
    return PackedTest(tuple(threads), packed.atomic)


# ---- which values an `if` may test: those that its read can have, as far as one can see ----------


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
