"""What a table must show for its proof: SYNC and ATOM, for pairs of its rows (docs/proof.md).

An obligation says that two operations, in different work-groups and inclusive, cannot run at
certain times. It is about the moments of their code alone: when each instruction is executed, when
the markers of each flush have left, when a write arrives in the L2, and one or two moments more.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import StrEnum
from functools import cached_property

from msgspec import Struct

from rspverify.proof.table import (
    FLUSH,
    INVALIDATE,
    L2_LOCK,
    RMW_LOCK,
    Operation,
    ProofTable,
    holds,
)
from rspverify.proof.times import Before, Clause, Times, find_times, not_after
from rspverify.scheme.orders import Op


class Kind(StrEnum):
    """What an obligation is for.

    SYNC: whoever reads a release sees what was written before it. ATOM: no write comes between
    what an RMW reads and what it writes.
    """

    SYNC = "SYNC"
    ATOM = "ATOM"


class Failure(Struct, frozen=True):
    """Times at which an obligation is broken: a name for each moment, in their order."""

    order: tuple[str, ...]


class Obligation(Struct, frozen=True):
    """What is to be shown of two operations of a table: the first writes what the second reads, or
    what is written before it."""

    kind: Kind
    first: Operation
    second: Operation

    def failure(self, table: ProofTable) -> Failure | None:
        """Times that break it; None if there are none, so that it is shown."""
        if self.kind is Kind.SYNC:
            breach = _SyncAfresh if table.looks_afresh else _Sync
            return breach(self, table).failure()
        if self.second.at_l2:  # It reads the L2 when it arrives there.
            return None
        return _OwnStore(self, table).failure() or _Fetch(self, table).failure()

    def __str__(self) -> str:
        """In words of the table."""
        first, second = self.first, self.second
        if self.kind is Kind.SYNC:
            return (
                f"{first} then {second}: what is written before the {first.kind.value} may be "
                f"unseen after the {second.kind.value} has read it"
            )
        return (
            f"{first} then {second}: the increment may read what was before the "
            f"{first.kind.value}, and be written after it"
        )


def obligations(table: ProofTable) -> Iterator[Obligation]:
    """All obligations of a table: for each two atomics that are inclusive in different work-groups.

    Within one work-group nothing depends on the table.
    """
    atomic = [it for it in table.operations if it.scope is not None]
    for first in (it for it in atomic if it.writes):
        for second in atomic:
            if second.reads and first.includes(second):
                yield Obligation(Kind.SYNC, first, second)
                if second.kind is Op.RMW:
                    yield Obligation(Kind.ATOM, first, second)


def failures(table: ProofTable) -> dict[Obligation, Failure]:
    """The obligations that a table does not meet, and times that break each."""
    return {it: how for it in obligations(table) if (how := it.failure(table)) is not None}


# ---- an operation that runs ----------------------------------------------------------------------


class _Moments:
    """The names of moments, each by its number."""

    def __init__(self) -> None:
        self.names: list[str] = []

    def new(self, name: str) -> int:
        self.names.append(name)
        return len(self.names) - 1


class _Run:
    """The moments of an operation.

    at: of each instruction; left: of each flush, when its markers have left; arrival: of what it
    writes, in the L2.
    """

    def __init__(self, operation: Operation, moments: _Moments) -> None:
        self.operation = operation
        name = f"the {operation.kind.value}"
        self.start = before = moments.new(f"{name} begins")
        self.clauses: list[Clause] = []
        self.at: list[int] = []
        self.left: dict[int, int] = {}
        for place, it in enumerate(operation.code):
            self.at.append(moments.new(f"{name}: {it}"))
            self.clauses.append((Before(before, self.at[-1]),))
            before = self.at[-1]
            if it.mnemonic.name == FLUSH:
                self.left[place] = moments.new(f"{name}: {it} is done")
                self.clauses.append((Before(before, self.left[place]),))
                before = self.left[place]
        self.end = moments.new(f"{name} ends")
        self.clauses.append((Before(before, self.end),))
        self.arrival = self.access
        if operation.writes and not operation.at_l2:
            self.arrival = moments.new(f"the {operation.kind.value} arrives in the L2")
            self.clauses.append((Before(self.access, self.arrival),))

    @property
    def access(self) -> int:
        return self.at[self.operation.access]

    def flushes(self, *, own: bool) -> list[tuple[int, int]]:
        """Those of its own L1, or of another one: when each is executed, and when it is done."""
        return [(self.at[it], self.left[it]) for it in self._reaching(FLUSH, own)]

    def invalidations(self, *, own: bool) -> list[int]:
        """Those of its own L1, or of another one."""
        return [self.at[it] for it in self._reaching(INVALIDATE, own)]

    def _reaching(self, name: str, own: bool) -> list[int]:
        return [
            place
            for place, it in enumerate(self.operation.code)
            if it.mnemonic.name == name and (own or it.reach != "WG")
        ]

    def holds(self, lock: tuple[str, str]) -> list[tuple[int, int]]:
        """From when to when it holds a lock; a lock that it keeps at least until its end."""
        return [
            (self.at[since], self.end if until is None else self.at[until])
            for since, until in holds(self.operation.code, lock)
        ]


def _outside(moment: int, held: Iterable[tuple[int, int]]) -> Iterator[Clause]:
    """A moment is at no time at which a lock is held."""
    for since, until in held:
        yield not_after(moment, since), not_after(until, moment)


def _apart(some: Iterable[tuple[int, int]], others: list[tuple[int, int]]) -> Iterator[Clause]:
    """A lock is not held twice at a time."""
    for since, until in some:
        for later, end in others:
            yield not_after(until, later), not_after(end, since)


def _drained(written: int, arrives: int, flushes: Iterable[tuple[int, int]]) -> Iterator[Clause]:
    """A write has arrived when a flush is done that came after it."""
    for executed, done in flushes:
        yield not_after(executed, written), Before(arrives, done)


def _valid(since: int, until: int, invalidations: Iterable[int]) -> Iterator[Clause]:
    """No invalidation is between two moments."""
    for each in invalidations:
        yield not_after(each, since), not_after(until, each)


# ---- what breaks an obligation -------------------------------------------------------------------


class _Breach:
    """Two operations on one location in different work-groups, at times that break an obligation.

    It holds of their moments what holds in every execution (docs/proof.md, Facts).
    """

    def __init__(self, obligation: Obligation, table: ProofTable) -> None:
        self.table, self.moments = table, _Moments()
        self.first = _Run(obligation.first, self.moments)
        self.second = _Run(obligation.second, self.moments)
        self.clauses = [*self.first.clauses, *self.second.clauses, *self._locks()]

    def failure(self) -> Failure | None:
        """Times at which all holds, if there are any."""
        clauses = [*self.clauses, *self.breach()]
        times = find_times(len(self.moments.names), clauses)
        return None if times is None else Failure(tuple(self._ordered(times)))

    def breach(self) -> Iterator[Clause]:
        """What breaks the obligation."""
        raise NotImplementedError

    def _ordered(self, times: Times) -> Iterator[str]:
        for moment in sorted(range(len(times)), key=lambda it: (times[it], it)):
            yield self.moments.names[moment]

    def _locks(self) -> Iterator[Clause]:
        first, second = self.first, self.second
        if self.table.rmw_locks_exclude:
            yield from _apart(first.holds(RMW_LOCK), second.holds(RMW_LOCK))
            for run, other in ((first, second), (second, first)):
                if other.operation.kind is Op.RMW:
                    yield from _outside(other.access, run.holds(RMW_LOCK))
        if self.table.l2_locks_exclude:
            yield from _apart(first.holds(L2_LOCK), second.holds(L2_LOCK))
            for run, other in ((first, second), (second, first)):
                if other.operation.writes:
                    yield from self.not_locked(other.arrival, run)

    def not_locked(self, moment: int, run: _Run) -> Iterator[Clause]:
        """Something reaches or leaves the L2, which an operation's lock of the location forbids."""
        if self.table.l2_locks_exclude:
            yield from _outside(moment, run.holds(L2_LOCK))

    @cached_property
    def first_flushes(self) -> list[tuple[int, int]]:
        """The flushes of the first operation's L1."""
        return self.first.flushes(own=True) + self.second.flushes(own=False)

    @cached_property
    def second_flushes(self) -> list[tuple[int, int]]:
        """Those of the second operation's L1."""
        return self.second.flushes(own=True) + self.first.flushes(own=False)

    @cached_property
    def second_invalidations(self) -> list[int]:
        """The invalidations of the second operation's L1."""
        return self.second.invalidations(own=True) + self.first.invalidations(own=False)


class _Got(_Breach):
    """The second operation gets what the first wrote from the L2."""

    def breach(self) -> Iterator[Clause]:
        first, second = self.first, self.second
        got = second.access
        if not second.operation.at_l2:
            got = self.moments.new("its value is fetched")
            yield (not_after(got, second.access),)
        yield (Before(first.arrival, got),)
        yield from self.not_locked(got, first)
        yield from _drained(first.access, first.arrival, self.first_flushes)


class _Sync(_Got):
    """No invalidation of the second operation's L1 comes after all has arrived that the first one's
    L1 had when that began."""

    def breach(self) -> Iterator[Clause]:
        yield from super().breach()
        first, second = self.first, self.second
        for each in self.second_invalidations:
            for executed, done in self.first_flushes:
                too_late, too_early = not_after(second.end, each), Before(each, first.start)
                flushed_earlier = Before(executed, first.start)
                yield too_late, too_early, flushed_earlier, Before(each, done)


class _SyncAfresh(_Got):
    """Of a table that looks afresh: something has not arrived when the second operation ends that
    the first one's L1 had when that began."""

    def breach(self) -> Iterator[Clause]:
        yield from super().breach()
        for executed, done in self.first_flushes:
            yield Before(executed, self.first.start), Before(self.second.end, done)


class _Overtaken(_Breach):
    """The first operation is written before the second, an RMW in its L1, which reads what was
    before it.

    The first is the first of the stores of its L1 that arrive together. If it is an RMW in its L1,
    that agreed with the L2 on the location at some moment, and has not been invalidated since.
    """

    def breach(self) -> Iterator[Clause]:
        first, second = self.first, self.second
        yield (Before(first.arrival, second.arrival),)
        yield from _drained(first.access, first.arrival, self.first_flushes)
        yield from _drained(second.access, second.arrival, self.second_flushes)
        if first.operation.kind is Op.RMW and not first.operation.at_l2:
            agreed = self.moments.new("the L1 of the first agrees with the L2")
            yield (not_after(agreed, first.access),)
            yield from self.not_locked(agreed, second)
            invalidations = first.invalidations(own=True) + second.invalidations(own=False)
            yield from _valid(agreed, first.access, invalidations)


class _OwnStore(_Overtaken):
    """The RMW reads a store of its own L1, which arrives no later than the first operation."""

    def breach(self) -> Iterator[Clause]:
        yield from super().breach()
        first, second = self.first, self.second
        stored = self.moments.new("an earlier store of the rmw's L1")
        arrives = self.moments.new("that store arrives in the L2")
        yield (Before(stored, second.access),)
        yield (Before(stored, arrives),)
        yield (Before(arrives, second.arrival),)
        yield (not_after(arrives, first.arrival),)
        yield (not_after(arrives, second.access),)
        yield from self.not_locked(arrives, first)
        yield from _drained(stored, arrives, self.second_flushes)
        yield from _valid(stored, second.access, self.second_invalidations)


class _Fetch(_Overtaken):
    """The RMW reads what was fetched before the first operation arrives."""

    def breach(self) -> Iterator[Clause]:
        yield from super().breach()
        first, second = self.first, self.second
        fetched = self.moments.new("its value is fetched")
        yield (Before(fetched, second.access),)
        yield (not_after(fetched, first.arrival),)
        yield from self.not_locked(fetched, first)
        yield from _valid(fetched, second.access, self.second_invalidations)
