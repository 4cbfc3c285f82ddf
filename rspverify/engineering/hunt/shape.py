"""A program within a space, as small as can be: tuples of numbers, and their canonical form.

A shape has the threads, each with its place and its steps. A step is an operation, by its number in
the space, and its location; a value that a store writes has no number here: it is its own. So two
programs that differ only in how threads, work-groups, devices, locations or values are called have
one canonical shape.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby, permutations, product
from typing import NamedTuple

NONE = -1


class Step(NamedTuple):
    """One operation. An `if` may begin before it, and then covers the rest of its thread.

    tests: the place in the thread of the read whose value the `if` tests; NONE if none begins.
    of, at: the thread and the place in it of the store whose value it must be, both NONE for the
    initial value. plus: how many increments that value must have had since.
    """

    operation: int
    location: int
    tests: int = NONE
    of: int = NONE
    at: int = NONE
    plus: int = 0


class Thread(NamedTuple):
    """A thread: its device, its work-group on that, and its steps."""

    device: int
    group: int
    steps: tuple[Step, ...]


class Shape(NamedTuple):
    """A program. atomic: of each location, whether it is declared atomic."""

    threads: tuple[Thread, ...]
    atomic: tuple[bool, ...]

    @property
    def size(self) -> int:
        """How many operations it has."""
        return sum(len(thread.steps) for thread in self.threads)


EMPTY = Shape((), ())


def canonical(shape: Shape) -> Shape:
    """The one shape that stands for all that differ from this in names alone."""
    orders = _orders(shape.threads)
    first = next(orders)
    best = _named(shape, first)
    for order in orders:
        found = _named(shape, order)
        if found < best:
            best = found
    return best


def _orders(threads: Sequence[Thread]) -> Iterator[Sequence[int]]:
    """Orders of the threads, by what no renaming changes; all of those that this leaves open."""
    ranks = [[(s[0], s[2], s[5]) for s in thread[2]] for thread in threads]
    ranked = sorted(range(len(threads)), key=lambda each: (-len(ranks[each]), ranks[each]))
    ties = [list(same) for _, same in groupby(ranked, key=lambda each: ranks[each])]
    if len(ties) == len(ranked):
        yield ranked
        return
    for choice in product(*(permutations(each) for each in ties)):
        yield [thread for part in choice for thread in part]


def _named(shape: Shape, order: Sequence[int]) -> Shape:
    """A shape with its threads in an order, and everything named as it first occurs."""
    numbers = {old: new for new, old in enumerate(order)}
    numbers[NONE] = NONE
    locations: dict[int, int] = {}
    devices: dict[int, int] = {}
    groups: dict[tuple[int, int], int] = {}
    counts: dict[int, int] = {}
    threads = []
    for old in order:
        device, group, steps = shape.threads[old]
        on = devices.setdefault(device, len(devices))
        if (device, group) not in groups:
            groups[device, group] = counts.get(device, 0)
            counts[device] = counts.get(device, 0) + 1
        found = []
        for operation, location, tests, of, at, plus in steps:
            place = locations.setdefault(location, len(locations))
            found.append(Step(operation, place, tests, numbers[of], at, plus))
        threads.append(Thread(on, groups[device, group], tuple(found)))
    return Shape(tuple(threads), tuple([shape.atomic[each] for each in locations]))


def encoded(shape: Shape) -> bytes:
    """A shape as a few bytes, the same for equal shapes alone."""
    found = bytearray([len(shape.threads), len(shape.atomic), *shape.atomic])
    for device, group, steps in shape.threads:
        found += bytes((device, group, len(steps)))
        for operation, location, tests, of, at, plus in steps:
            if tests == NONE:
                found += bytes((operation, location, 0))
            else:
                found += bytes((operation, location, 1 + tests, 1 + of, 1 + at, plus))
    return bytes(found)


def decoded(data: bytes) -> Shape:
    """The shape of some bytes."""
    count, locations = data[0], data[1]
    atomic = tuple([bool(each) for each in data[2 : 2 + locations]])
    place = 2 + locations
    threads = []
    for _ in range(count):
        device, group, length = data[place : place + 3]
        place += 3
        steps = []
        for _ in range(length):
            operation, location, tests = data[place : place + 3]
            place += 3
            if tests:
                of, at, plus = data[place : place + 3]
                place += 3
                steps.append(Step(operation, location, tests - 1, of - 1, at - 1, plus))
            else:
                steps.append(Step(operation, location))
        threads.append(Thread(device, group, tuple(steps)))
    return Shape(tuple(threads), atomic)
