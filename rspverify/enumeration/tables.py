"""What a search asks of the operations of a space again and again, as lists of bits."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import assert_never

from rspverify.enumeration.packed import PackedAccess, PackedTest, PackedThread
from rspverify.enumeration.space import Space
from rspverify.litmus.program import Kind, Order, Scope
from rspverify.programs.litmus_test import Access, Place

_RELEASE = (Order.RELEASE, Order.ACQ_REL, Order.SEQ_CST)
_ACQUIRE = (Order.ACQUIRE, Order.ACQ_REL, Order.SEQ_CST)


class Tables:
    """What operations do, by their numbers: reads, writes (if it succeeds), surely_writes (it need
    not), plain, adds; cas: it is a compare-exchange; brings: it writes a value of its own.

    kept: whether what it reads is used. releases, acquires: by their orders; fence, seq_cst.
    inclusive: whether the scopes of two are, by the distance of their threads and their numbers;
    within: the same in one thread.
    """

    def __init__(self, space: Space) -> None:
        accesses = space.accesses
        self.space = space
        self.reads = [each.reads for each in accesses]
        self.writes = [each.writes for each in accesses]
        self.plain = [each.plain for each in accesses]
        self.cas = [each.compares for each in accesses]
        self.brings = [each.brings for each in accesses]
        self.adds = [each.kind is Kind.RMW and not each.brings for each in accesses]
        self.surely_writes = [each.writes and not each.compares for each in accesses]
        self.kept = [each.register is not None for each in accesses]
        self.fence = [each.kind is Kind.FENCE for each in accesses]
        self.seq_cst = [each.order is Order.SEQ_CST for each in accesses]
        self.releases = [each.order in _RELEASE and each.kind is not Kind.LOAD for each in accesses]
        self.acquires = [
            each.order in _ACQUIRE and each.kind is not Kind.STORE for each in accesses
        ]
        self.within = [
            [not {one.scope, other.scope} & {None, Scope.WI} for other in accesses]
            for one in accesses
        ]
        self.inclusive = [
            [[inclusive(one, other, apart) for other in accesses] for one in accesses]
            for apart in range(3)
        ]

    def weaker(self, one: int, other: int) -> bool:
        """Whether an operation does what another does, is tested and synchronises no more, and
        reaches no further.

        Of two that are alike the one with the lesser number is the weaker one.
        """
        alike = (self.reads, self.writes, self.plain, self.adds, self.cas, self.fence)
        synchronises = (self.releases, self.acquires, self.seq_cst)
        sides = (self.kept, *synchronises, *self.within, *chain(*self.inclusive))
        return (
            one != other
            and all(each[one] == each[other] for each in alike)
            and all(each[one] <= each[other] for each in sides)
            and (one < other or any(each[one] != each[other] for each in sides))
        )

    def conflicting(self, one: PackedAccess, other: PackedAccess, apart: int) -> bool:
        """Whether two accesses of two threads race unless something orders them."""
        return (
            one[1] == other[1]
            and (self.writes[one[0]] or self.writes[other[0]])
            and not self.inclusive[apart][one[0]][other[0]]
        )

    def surely_conflicting(self, one: PackedAccess, other: PackedAccess, apart: int) -> bool:
        """The same, whatever a compare-exchange finds."""
        writes = self.surely_writes[one[0]] or self.surely_writes[other[0]]
        return writes and self.conflicting(one, other, apart)

    def suspects(self, packed: PackedTest) -> list[tuple[tuple[int, int], tuple[int, int]]]:
        """The pairs of accesses, by thread and place, that race unless something orders them."""
        threads = packed.threads
        return [
            ((first, i), (second, j))
            for second, there in enumerate(threads)
            for first, here in enumerate(threads[:second])
            for i, one in enumerate(here[2])
            for j, other in enumerate(there[2])
            if self.conflicting(one, other, distance(here, there))
        ]


def distance(one: PackedThread | Place, other: PackedThread | Place) -> int:
    """0 if two threads, or their places, are in one work-group, 1 if in two of one device, 2 if on
    two devices."""
    return 0 if one[:2] == other[:2] else 1 if one[0] == other[0] else 2


def guarded_from(accesses: Sequence[PackedAccess]) -> int:
    """The place of the first access that an `if` covers; the number of accesses if none is."""
    return next((place for place, access in enumerate(accesses) if access[2] >= 0), len(accesses))


def inclusive(first: Access, second: Access, apart: int) -> bool:
    """Whether their scopes are inclusive (`incl` of the RSP paper, §3), at a distance."""
    if first.plain or second.plain:
        return False
    there, back = _reaches(first, apart), _reaches(second, apart)
    return (there and back) or (first.remote and there) or (second.remote and back)


def _reaches(one: Access, apart: int) -> bool:
    """Whether its scope, seen from its own place, has an event of another thread so far away in it
    (`incl1`). Each thread is alone in its sub-group."""
    match one.scope:
        case None:
            raise AssertionError(f"{one.name} has no scope")
        case Scope.WI | Scope.SG:
            return False
        case Scope.WG:
            return apart == 0
        case Scope.DV:
            return apart <= 1
        case Scope.ALL:
            return True
        case _:
            assert_never(one.scope)
