"""A test of a space packed into tuples of small numbers, and its canonical form.

It is what enumeration works on: quick to make, to compare and to keep. naming.py makes a LitmusTest
of it. An access is a kind of access, by its number in the space, and a location; the value that a
store writes has no number here: it is its own. So tests that differ only in how threads,
work-groups, devices, locations or values are called have one canonical form.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import groupby, islice, permutations, product
from typing import NamedTuple

NONE = -1


class PackedAccess(NamedTuple):
    """One access. An `if` may begin before it, and then covers the rest of its thread.

    operation: the place of its kind among the operations of the space. location: NONE of a fence.
    tests: the place in the thread of the read whose value the `if` tests; NONE if none begins.
    of, at: the thread and the place in it of the store whose value it must be, both NONE for the
    initial value. plus: how many increments that value must have had since. expects, expects_at,
    expects_plus: the value that a compare-exchange expects, in the same way.
    """

    operation: int
    location: int
    tests: int = NONE
    of: int = NONE
    at: int = NONE
    plus: int = 0
    expects: int = NONE
    expects_at: int = NONE
    expects_plus: int = 0


_access: Callable[[tuple[int, ...]], PackedAccess] = partial(tuple.__new__, PackedAccess)
"""An access of all its nine numbers, in a third of the time."""


class PackedThread(NamedTuple):
    """A thread: its device, its work-group on that, and its accesses."""

    device: int
    group: int
    accesses: tuple[PackedAccess, ...]


class PackedTest(NamedTuple):
    """A test. atomic: of each location, whether it is declared atomic. local: the locations of
    local memory, ascending; each is accessed by one work-group alone."""

    threads: tuple[PackedThread, ...]
    atomic: tuple[bool, ...]
    local: tuple[int, ...] = ()

    @property
    def size(self) -> int:
        """How many accesses it has."""
        return sum(len(thread.accesses) for thread in self.threads)

    @property
    def operations(self) -> set[int]:
        """The operations that it has, by their numbers in the space."""
        return {it.operation for thread in self.threads for it in thread.accesses}

    def with_operations(self, operations: Iterable[Iterable[int]]) -> PackedTest:
        """The same with other operations, those of each thread in their order."""
        threads = tuple(
            PackedThread(
                *thread[:2],
                tuple(it._replace(operation=to) for it, to in zip(thread[2], its, strict=True)),
            )
            for thread, its in zip(self.threads, operations, strict=True)
        )
        return self._replace(threads=threads)

    def with_thread(self, number: int, thread: PackedThread) -> PackedTest:
        """The same with another thread in the place of one."""
        threads = (*self.threads[:number], thread, *self.threads[number + 1 :])
        return PackedTest(threads, self.atomic, self.local)


EMPTY = PackedTest((), ())


def canonical(test: PackedTest) -> PackedTest:
    """The one test that stands for all that differ from this in names alone."""
    return min([_named(test, order) for order in _orders(test.threads)])


def symmetric(test: PackedTest) -> bool:
    """Whether other names of threads make the same test."""
    named = [_named(test, order) for order in _orders(test.threads)]
    return named.count(min(named)) > 1


def _orders(threads: Sequence[PackedThread]) -> Iterator[Sequence[int]]:
    """Orders of the threads, by what no renaming changes; all of those that this leaves open."""
    ranks = [[(s[0], s[2], s[5], s[8]) for s in thread[2]] for thread in threads]
    ranked = sorted(range(len(threads)), key=lambda each: (-len(ranks[each]), ranks[each]))
    ties = [list(same) for _, same in groupby(ranked, key=lambda each: ranks[each])]
    if len(ties) == len(ranked):
        yield ranked
        return
    for choice in product(*(permutations(each) for each in ties)):
        yield [thread for part in choice for thread in part]


def _named(test: PackedTest, order: Sequence[int]) -> PackedTest:
    """A test with its threads in an order, and everything named as it first occurs."""
    numbers = {old: new for new, old in enumerate(order)}
    numbers[NONE] = NONE
    locations: dict[int, int] = {NONE: NONE}
    devices: dict[int, int] = {}
    groups: dict[tuple[int, int], int] = {}
    counts: dict[int, int] = {}
    threads = []
    for old in order:
        device, group, accesses = test.threads[old]
        on = devices.setdefault(device, len(devices))
        if (device, group) not in groups:
            groups[device, group] = counts.get(device, 0)
            counts[device] = counts.get(device, 0) + 1
        found = []
        for operation, location, tests, of, at, plus, expects, expects_at, more in accesses:
            place = locations.setdefault(location, len(locations) - 1)
            of, expects = numbers[of], numbers[expects]
            found.append(
                _access((operation, place, tests, of, at, plus, expects, expects_at, more))
            )
        threads.append(PackedThread(on, groups[device, group], tuple(found)))
    named = [each for each in locations if each != NONE]
    local = tuple(sorted([locations[each] for each in test.local])) if test.local else ()
    return PackedTest(tuple(threads), tuple([test.atomic[each] for each in named]), local)


def encoded(test: PackedTest) -> bytes:
    """A test as a few bytes, the same for equal tests alone: all its numbers, and one more each."""
    numbers = [len(test.threads), len(test.atomic), *test.atomic, len(test.local), *test.local]
    for device, group, accesses in test.threads:
        numbers += (device, group, len(accesses))
        for access in accesses:
            numbers += access
    return bytes([each + 1 for each in numbers])


def decoded(data: bytes) -> PackedTest:
    """The test of some bytes."""
    rest = iter([each - 1 for each in data])

    def taken(count: int) -> tuple[int, ...]:
        return tuple(islice(rest, count))

    count, locations = taken(2)
    atomic = tuple(map(bool, taken(locations)))
    local = taken(next(rest))
    threads = []
    for _ in range(count):
        device, group, length = taken(3)
        accesses = tuple([_access(taken(9)) for _ in range(length)])
        threads.append(PackedThread(device, group, accesses))
    return PackedTest(tuple(threads), atomic, local)
