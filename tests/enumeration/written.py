"""Tests in a line as packed tests, for spaces that have just their operations."""

from __future__ import annotations

from rspverify.enumeration.packed import NONE, PackedAccess, PackedTest, PackedThread
from rspverify.enumeration.space import Space, unused
from rspverify.litmus.program import Kind
from rspverify.programs.litmus_test import Access
from rspverify.programs.notation import read_notation
from rspverify.value import Binary, Constant, Read


def name_of(access: Access) -> str:
    kept = access.kind is not Kind.RMW or access.register is not None
    return access.name if kept else unused(access.name)


def made_by(value: int, stores: dict[int, tuple[int, int]]) -> tuple[int, int, int]:
    """The store that a value is of, and the increments since; of the initial one if it is of none."""
    return (*stores.get(value, (NONE, NONE)), 0 if value in stores else value)


def packed_line(line: str) -> tuple[PackedTest, Space]:
    """A line whose `if`s test for the value of a store, or for increments of the initial value."""
    test = read_notation(line)
    names = tuple(dict.fromkeys(map(name_of, test.accesses)))
    space = Space(events=len(test.accesses), operations=names, again=True)
    places = {x.name: number for number, x in enumerate(test.locations)}
    stores = {
        each.value.value: (number, place)
        for number, thread in enumerate(test.threads)
        for place, each in enumerate(thread.accesses)
        if each.brings and isinstance(each.value, Constant)
    }
    threads = []
    for thread in test.threads:
        accesses, guards = [], ()
        for each in thread.accesses:
            told: tuple[int, ...] = ()
            if each.guards != guards:
                guard = (guards := each.guards)[-1]
                assert isinstance(guard, Binary) and isinstance(guard.right, Constant)
                assert isinstance(guard.left, Read)
                registers = [it.register for it in thread.accesses]
                tested = registers.index(guard.left.index)
                if thread.accesses[tested].compares:
                    told = (tested, *accesses[tested][6:])
                else:
                    told = (tested, *made_by(guard.right.value, stores))
            number = names.index(name_of(each))
            it = PackedAccess(number, places.get(each.location or "", NONE), *told)
            if isinstance(each.expected, Constant):
                of, at, plus = made_by(each.expected.value, stores)
                it = it._replace(expects=of, expects_at=at, expects_plus=plus)
            accesses.append(it)
        threads.append(PackedThread(*thread.place, tuple(accesses)))
    atomic = tuple(it.atomic for it in test.locations)
    local = tuple(sorted(places[x] for x in test.local))
    return PackedTest(tuple(threads), atomic, local), space
