"""Whether a test races under `opencl-rsp`, by brute force: the model, without barriers, on so few
events.

This is the quick form of `Questions.race` for the programs of a space, by which it is tested. First
the interleavings: two conflicting accesses that may both come next, and whose scopes are not
inclusive, race, as whatever orders them would go through an edge from one to the other. Only where
none has such a pair, executions are enumerated: how far each thread gets, rf, and mo.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import permutations, product

from rspverify.enumeration.packed import PackedAccess, PackedTest
from rspverify.enumeration.tables import Tables, distance

Base = tuple[int, int]
Value = tuple[Base, int]
"""The store that it is of, by thread and place, and the increments since."""
Synchronisation = tuple[int, int, bool]
"""A release, an acquire, and whether what they synchronise by is in local memory."""

_INITIAL: Base = (-1, -1)


def races(packed: PackedTest, tables: Tables) -> bool:
    """Whether some consistent execution has a race."""
    suspects = tables.suspects(packed)
    return bool(suspects) and (
        _races_in_turn(packed, tables, suspects)
        or any(
            _Executions(packed, tables, ends).race(suspects)
            for ends in product(*(_ends(thread[2]) for thread in packed.threads))
        )
    )


def _races_in_turn(
    packed: PackedTest, tables: Tables, suspects: Sequence[tuple[Base, Base]]
) -> bool:
    """Whether some interleaving has two accesses next to each other that race."""
    pairs = set(suspects)
    threads = [thread[2] for thread in packed.threads]
    start = (
        (0,) * len(threads),
        ((_INITIAL, 0),) * len(packed.atomic),
        ((),) * len(threads),
    )
    stack: list[tuple[tuple[int, ...], tuple[Value, ...], tuple[tuple[Value | None, ...], ...]]]
    stack = [start]
    seen = set(stack)
    while stack:
        places, memory, read = stack.pop()
        ready = [
            (thread, place)
            for thread, place in enumerate(places)
            if place < len(threads[thread]) and _holds(threads[thread][place], read[thread])
        ]
        for number, second in enumerate(ready):
            for first in ready[:number]:
                if (first, second) in pairs and any(
                    _writes(threads[thread][place], memory, tables)
                    for thread, place in (first, second)
                ):
                    return True
        for thread, place in ready:
            access = threads[thread][place]
            found = memory[access[1]]
            after = memory
            if _writes(access, memory, tables):
                written = (
                    (found[0], found[1] + 1) if tables.adds[access[0]] else ((thread, place), 0)
                )
                after = (*memory[: access[1]], written, *memory[access[1] + 1 :])
            got = found if tables.reads[access[0]] else None
            state = (
                (*places[:thread], place + 1, *places[thread + 1 :]),
                after,
                (*read[:thread], (*read[thread], got), *read[thread + 1 :]),
            )
            if state not in seen:
                seen.add(state)
                stack.append(state)
    return False


def _writes(access: PackedAccess, memory: Sequence[Value], tables: Tables) -> bool:
    """Whether an access writes if it comes next: a compare-exchange finds what it expects."""
    if not tables.cas[access[0]]:
        return tables.writes[access[0]]
    return memory[access[1]] == _expected(access)


def _expected(access: PackedAccess) -> Value:
    """What a compare-exchange expects."""
    return (access[6], access[7]), access[8]


def _holds(access: PackedAccess, read: Sequence[Value | None]) -> bool:
    """Whether the `if` before an access lets it be executed, after what its thread has read."""
    return access[2] < 0 or read[access[2]] == ((access[3], access[4]), access[5])


def _ends(accesses: Sequence[PackedAccess]) -> list[int]:
    """How far a thread may get: to its end, or to an `if` whose test fails."""
    return [len(accesses), *(place for place, access in enumerate(accesses) if access[2] >= 0)]


class _Executions:
    """The executions in which each thread gets so far, one by one, until one has a race.

    Events are numbered thread by thread, -1 is any initial write. rf is by numbers, and hb has a
    row of bits for each event.
    """

    def __init__(self, packed: PackedTest, tables: Tables, ends: Sequence[int]) -> None:
        self._packed, self._tables, self._ends = packed, tables, ends
        self._events = [(thread, place) for thread, end in enumerate(ends) for place in range(end)]
        self._number = {event: index for index, event in enumerate(self._events)}
        self._accesses = [packed.threads[thread][2][place] for thread, place in self._events]
        self._writes = [at for at, access in enumerate(self._accesses) if tables.writes[access[0]]]
        self._releasing = [
            self._synchronising(at, tables.releases, before=True) for at in self._all
        ]
        self._acquiring = [
            self._synchronising(at, tables.acquires, before=False) for at in self._all
        ]

    @property
    def _all(self) -> range:
        return range(len(self._events))

    def _synchronising(self, at: int, wanted: Sequence[bool], *, before: bool) -> list[int]:
        """What synchronises where an access does: it, and the fences of its thread before or after
        it, as far as their orders say so."""
        thread, fence = self._events[at][0], self._tables.fence
        beside = range(at) if before else range(at + 1, len(self._events))
        fences = [
            it for it in beside if self._events[it][0] == thread and fence[self._accesses[it][0]]
        ]
        return [it for it in (at, *fences) if wanted[self._accesses[it][0]]]

    def race(self, suspects: Sequence[tuple[Base, Base]]) -> bool:
        """Whether one that is consistent has a race."""
        number = self._number
        pairs = [(number[a], number[b]) for a, b in suspects if a in number and b in number]
        return bool(pairs) and any(
            self._values_fit(rf) and self._some_order(rf, pairs, failing)
            for rf in self._sources()
            if (failing := self._failing(rf)) is not None
        )

    def _sources(self) -> Iterator[dict[int, int]]:
        """Every rf, whatever the values."""
        accesses, events = self._accesses, self._events
        reads = [at for at, access in enumerate(accesses) if self._tables.reads[access[0]]]
        sources = (
            [
                -1,
                *(
                    write
                    for write in self._writes
                    if accesses[write][1] == accesses[read][1]
                    and (events[write][0] != events[read][0] or write < read)
                ),
            ]
            for read in reads
        )
        for chosen in product(*sources):
            yield dict(zip(reads, chosen, strict=True))

    def _values_fit(self, rf: dict[int, int]) -> bool:
        """Whether the values that are read let each thread get exactly as far as it is to."""
        for thread, end in enumerate(self._ends):
            for place, access in enumerate(self._packed.threads[thread][2][: end + 1]):
                if access[2] >= 0:
                    found = self._value(self._number[thread, access[2]], rf)
                    passes = found == ((access[3], access[4]), access[5])
                    if found is None or passes != (place < end):
                        return False
        return True

    def _failing(self, rf: dict[int, int]) -> set[int] | None:
        """The compare-exchanges that fail; None if something reads from one that does."""
        found = {
            at
            for at, access in enumerate(self._accesses)
            if self._tables.cas[access[0]] and self._value(at, rf) != _expected(access)
        }
        return None if found.intersection(rf.values()) else found

    def _value(self, read: int, rf: dict[int, int]) -> Value | None:
        """What an event reads; None if that goes round in a circle."""
        for plus in range(len(self._events) + 1):
            source = rf[read]
            if source < 0:
                return _INITIAL, plus
            if source not in rf or self._tables.cas[self._accesses[source][0]]:
                return self._events[source], plus
            read = source
        return None

    def _some_order(
        self, rf: dict[int, int], pairs: Sequence[tuple[int, int]], failing: set[int]
    ) -> bool:
        """Whether some order of the writes makes it a consistent execution with a race."""
        by_location: dict[int, list[int]] = {}
        writes = [write for write in self._writes if write not in failing]
        pairs = [(a, b) for a, b in pairs if a in writes or b in writes]
        for write in writes:
            location = self._accesses[write][1]
            if self._packed.atomic[location]:
                by_location.setdefault(location, []).append(write)
        for orders in product(*(list(self._orders(each, rf)) for each in by_location.values())):
            hb = self._happens_before(orders, rf, failing)
            if self._consistent(hb, orders, rf, failing) and any(
                not hb[a] >> b & 1 and not hb[b] >> a & 1 for a, b in pairs
            ):
                return True
        return False

    def _orders(self, writes: Sequence[int], rf: dict[int, int]) -> Iterator[tuple[int, ...]]:
        """Orders of the writes to a location in which each increment comes right after its source,
        and which keep to the order within threads."""
        events = self._events
        for order in permutations(writes):
            before = -1
            for place, write in enumerate(order):
                if rf.get(write, before) != before or any(
                    later < write and events[later][0] == events[write][0]
                    for later in order[place + 1 :]
                ):
                    break
                before = write
            else:
                yield order

    def _happens_before(
        self, orders: Sequence[tuple[int, ...]], rf: dict[int, int], failing: set[int]
    ) -> list[int]:
        """hb without the initial writes: of both memories, where there is local memory."""
        synchronised = list(self._synchronised(orders, rf, failing))
        if not self._packed.local:
            edges = [(release, acquire) for release, acquire, _ in synchronised]
            return self._ordered(self._all, edges)
        fence, local = self._tables.fence, self._packed.local
        kinds = [self._accesses[at][0] for at in self._all]
        hb = [0] * len(self._events)
        for memory in (False, True):
            edges = [
                (release, acquire)
                for release, acquire, of in synchronised
                if of is memory or self._in_both(release, acquire)
            ]
            there = [
                at
                for at, access in enumerate(self._accesses)
                if fence[kinds[at]] or (access[1] in local) is memory
            ]
            found = self._ordered(there, edges)
            hb = [one | other for one, other in zip(hb, found, strict=True)]
        return hb

    def _in_both(self, a: int, b: int) -> bool:
        """Whether what synchronises these by one memory does so for the other: two seq_cst
        operations, or two fences, which are for both memories where there is local memory."""
        fence, seq_cst = self._tables.fence, self._tables.seq_cst
        kinds = self._accesses[a][0], self._accesses[b][0]
        return all(seq_cst[each] for each in kinds) or all(fence[each] for each in kinds)

    def _ordered(self, those: Sequence[int], edges: Sequence[tuple[int, int]]) -> list[int]:
        """What is after each event by the order of threads, of those events, and by edges."""
        events = self._events
        hb = [0] * len(events)
        for place, a in enumerate(those):
            for b in those[place + 1 :]:
                if events[a][0] == events[b][0]:
                    hb[a] |= 1 << b
        for a, b in edges:
            hb[a] |= 1 << b
        for middle in self._all:
            onward = hb[middle]
            for a in self._all:
                if hb[a] >> middle & 1:
                    hb[a] |= onward
        return hb

    def _synchronised(
        self, orders: Sequence[tuple[int, ...]], rf: dict[int, int], failing: set[int]
    ) -> Iterator[Synchronisation]:
        """What synchronises. A compare-exchange that fails is a relaxed load."""
        tables, threads, local = self._tables, self._packed.threads, self._packed.local
        events, accesses = self._events, self._accesses
        position = {write: (order, at) for order in orders for at, write in enumerate(order)}
        for read, source in rf.items():
            if source < 0 or source not in position or tables.plain[accesses[read][0]]:
                continue
            order, at = position[source]
            acquiring = [it for it in self._acquiring[read] if it not in failing]
            for first in range(at + 1):
                head = order[first]
                if tables.plain[accesses[head][0]] or events[head][0] == events[read][0]:
                    continue
                if all(
                    tables.rmw[accesses[each][0]] or events[each][0] == events[head][0]
                    for each in order[first + 1 : at + 1]
                ):
                    apart = distance(threads[events[head][0]], threads[events[read][0]])
                    inclusive = tables.inclusive[apart]
                    for release in self._releasing[head]:
                        for acquire in acquiring:
                            if inclusive[accesses[release][0]][accesses[acquire][0]]:
                                yield release, acquire, accesses[head][1] in local

    def _consistent(
        self,
        hb: Sequence[int],
        orders: Sequence[tuple[int, ...]],
        rf: dict[int, int],
        failing: set[int],
    ) -> bool:
        """Whether Hb, Coh, Rf, Narf, Rmw and Sc hold; of Rmw, what `_orders` has not seen to."""
        writes, atomic, accesses = self._tables.writes, self._packed.atomic, self._accesses
        if any(row >> event & 1 for event, row in enumerate(hb)):
            return False
        for read, source in rf.items():
            if source >= 0 and hb[read] >> source & 1:
                return False
            if not atomic[accesses[read][1]] and not self._visible(read, source, hb):
                return False
        rank = {-1: 0} | {write: 1 + at for order in orders for at, write in enumerate(order)}
        places = {}  # in mo, of what an event writes and reads
        for at, access in enumerate(accesses):
            if access[1] >= 0 and atomic[access[1]]:
                writing = writes[access[0]] and at not in failing
                touched = ([at] if writing else []) + ([rf[at]] if at in rf else [])
                places[at] = [rank[each] for each in touched]
        if any(
            hb[a] >> b & 1 and accesses[a][1] == accesses[b][1] and min(places[b]) < max(places[a])
            for a, b in product(places, repeat=2)
        ):
            return False
        return self._in_one_order(hb, orders, rf, failing)

    def _in_one_order(
        self,
        hb: Sequence[int],
        orders: Sequence[tuple[int, ...]],
        rf: dict[int, int],
        failing: set[int],
    ) -> bool:
        """Whether Sc holds: seq_cst operations with inclusive scopes are in one order."""
        tables, accesses = self._tables, self._accesses
        ordered = [at for at in self._all if tables.seq_cst[accesses[at][0]] and at not in failing]
        if len(ordered) < 2:
            return True
        before = list(hb)
        for order in orders:
            for at, write in enumerate(order):
                for later in order[at + 1 :]:
                    before[write] |= 1 << later
            for read, source in rf.items():
                if accesses[read][1] == accesses[order[0]][1]:
                    for later in order[order.index(source) + 1 if source >= 0 else 0 :]:
                        if later != read:
                            before[read] |= 1 << later
        fence = tables.fence

        def reached(a: int) -> int:
            """What a is SC-before, before fences are asked for: by itself, as a fence by all that
            its thread does after it."""
            after = self._after(a) if fence[accesses[a][0]] else []
            found = before[a]
            for each in after:
                found |= before[each]
            return found

        def sc_before(a: int, b: int, there: int) -> bool:
            ends = [b, *(self._before(b) if fence[accesses[b][0]] else [])]
            return any(there >> end & 1 for end in ends)

        edges: dict[int, list[int]] = {}
        for a in ordered:
            there = reached(a)
            for b in ordered:
                if a != b and self._inclusive(a, b) and sc_before(a, b, there):
                    edges.setdefault(a, []).append(b)
        return not _has_circle(edges)

    def _after(self, at: int) -> list[int]:
        return [it for it in self._all[at + 1 :] if self._events[it][0] == self._events[at][0]]

    def _before(self, at: int) -> list[int]:
        return [it for it in self._all[:at] if self._events[it][0] == self._events[at][0]]

    def _inclusive(self, a: int, b: int) -> bool:
        """Whether the scopes of two operations are, be they of one thread or of two."""
        one, other = self._accesses[a][0], self._accesses[b][0]
        if self._events[a][0] == self._events[b][0]:
            return self._tables.within[one][other]
        threads = self._packed.threads
        apart = distance(threads[self._events[a][0]], threads[self._events[b][0]])
        return self._tables.inclusive[apart][one][other]

    def _visible(self, read: int, source: int, hb: Sequence[int]) -> bool:
        """Whether a plain location is read from a write that happens before, with none between."""
        if source >= 0 and not hb[source] >> read & 1:
            return False
        return not any(
            hb[write] >> read & 1
            and (source < 0 or hb[source] >> write & 1)
            and self._accesses[write][1] == self._accesses[read][1]
            for write in self._writes
        )


def _has_circle(edges: dict[int, list[int]]) -> bool:
    """Whether edges lead from somewhere back there."""
    left = dict(edges)
    while left:
        ends = [a for a, there in left.items() if not any(b in left for b in there)]
        if not ends:
            return True
        for each in ends:
            del left[each]
    return False
