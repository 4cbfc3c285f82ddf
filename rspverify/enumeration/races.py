"""Whether a test races under `opencl-rsp`, by brute force: the model of Fig. 2 on so few events.

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

_INITIAL: Base = (-1, -1)


def races(packed: PackedTest, tables: Tables) -> bool:
    """Whether some consistent execution has a race."""
    suspects = tables.suspects(packed)
    if not suspects:
        return False
    return races_in_turn(packed, tables, suspects) or _Executions(packed, tables, suspects).race()


def races_in_turn(
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
            if place < len(threads[thread]) and holds(threads[thread][place], read[thread])
        ]
        for number, second in enumerate(ready):
            for first in ready[:number]:
                if (first, second) in pairs:
                    return True
        for thread, place in ready:
            access = threads[thread][place]
            found = memory[access[1]]
            after = memory
            if tables.writes[access[0]]:
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


def holds(access: PackedAccess, read: Sequence[Value | None]) -> bool:
    """Whether the `if` before an access lets it be executed, after what its thread has read."""
    return access[2] < 0 or read[access[2]] == ((access[3], access[4]), access[5])


class _Executions:
    """The consistent executions of a test, one by one, until one has a race."""

    def __init__(
        self, packed: PackedTest, tables: Tables, suspects: Sequence[tuple[Base, Base]]
    ) -> None:
        self._shape = packed
        self._tables = tables
        self._suspects = suspects
        self._threads = [thread[2] for thread in packed.threads]

    def race(self) -> bool:
        """Whether some consistent execution has a race."""
        return any(self._race_where(ends) for ends in product(*map(self._ends, self._threads)))

    def _ends(self, accesses: Sequence[PackedAccess]) -> list[int]:
        """How far a thread may get: to its end, or to an `if` whose test fails."""
        return [len(accesses), *(place for place, access in enumerate(accesses) if access[2] >= 0)]

    def _race_where(self, ends: Sequence[int]) -> bool:
        """Whether there is a race where the threads get so far."""
        threads, tables = self._threads, self._tables
        events = [(thread, place) for thread, end in enumerate(ends) for place in range(end)]
        number = {event: index for index, event in enumerate(events)}
        pairs = [(number[a], number[b]) for a, b in self._suspects if a in number and b in number]
        if not pairs:
            return False
        accesses = [threads[thread][place] for thread, place in events]
        writes = [index for index, access in enumerate(accesses) if tables.writes[access[0]]]
        reads = [index for index, access in enumerate(accesses) if tables.reads[access[0]]]
        sources = [
            [
                -1,
                *(
                    write
                    for write in writes
                    if accesses[write][1] == accesses[read][1]
                    and (events[write][0] != events[read][0] or write < read)
                ),
            ]
            for read in reads
        ]
        for chosen in product(*sources):
            rf = dict(zip(reads, chosen, strict=True))
            if self._values_fit(events, accesses, number, rf, ends) and self._some_order(
                events, accesses, writes, rf, pairs
            ):
                return True
        return False

    def _values_fit(
        self,
        events: Sequence[Base],
        accesses: Sequence[PackedAccess],
        number: dict[Base, int],
        rf: dict[int, int],
        ends: Sequence[int],
    ) -> bool:
        """Whether the values that are read let each thread get exactly as far as it is to."""
        for thread, end in enumerate(ends):
            code = self._threads[thread]
            for place in range(min(end + 1, len(code))):
                access = code[place]
                if access[2] < 0:
                    continue
                found = self._value(number[thread, access[2]], events, accesses, rf)
                if found is None or (found == ((access[3], access[4]), access[5])) != (place < end):
                    return False
        return True

    def _value(
        self,
        read: int,
        events: Sequence[Base],
        accesses: Sequence[PackedAccess],
        rf: dict[int, int],
    ) -> Value | None:
        """What an event reads; None if that goes round in a circle."""
        plus = 0
        while True:
            source = rf[read]
            if source < 0:
                return _INITIAL, plus
            if source not in rf:
                return events[source], plus
            read, plus = source, plus + 1
            if plus > len(events):
                return None

    def _some_order(
        self,
        events: Sequence[Base],
        accesses: Sequence[PackedAccess],
        writes: Sequence[int],
        rf: dict[int, int],
        pairs: Sequence[tuple[int, int]],
    ) -> bool:
        """Whether some order of the writes makes it a consistent execution with a race."""
        by_location: dict[int, list[int]] = {}
        for write in writes:
            if self._shape.atomic[accesses[write][1]]:
                by_location.setdefault(accesses[write][1], []).append(write)
        lines = (self._lines(each, events, rf) for each in by_location.values())
        for orders in product(*map(list, lines)):
            rank = {-1: 0}
            for order in orders:
                rank |= {write: 1 + place for place, write in enumerate(order)}
            hb = self._happens_before(events, accesses, orders, rf)
            if self._consistent(hb, events, accesses, rf, rank) and any(
                not hb[a] >> b & 1 and not hb[b] >> a & 1 for a, b in pairs
            ):
                return True
        return False

    def _lines(
        self, writes: Sequence[int], events: Sequence[Base], rf: dict[int, int]
    ) -> Iterator[tuple[int, ...]]:
        """Orders of the writes to a location in which each increment comes right after its source,
        and which keep to the order within threads."""
        for order in permutations(writes):
            before = -1
            for place, write in enumerate(order):
                if rf.get(write, before) != before:
                    break
                if any(
                    later < write and events[later][0] == events[write][0]
                    for later in order[place + 1 :]
                ):
                    break
                before = write
            else:
                yield order

    def _happens_before(
        self,
        events: Sequence[Base],
        accesses: Sequence[PackedAccess],
        orders: Sequence[tuple[int, ...]],
        rf: dict[int, int],
    ) -> list[int]:
        """hb without the initial writes, a row of bits for each event."""
        tables, threads = self._tables, self._shape.threads
        count = len(events)
        hb = [0] * count
        for a in range(count):
            for b in range(a + 1, count):
                if events[a][0] == events[b][0]:
                    hb[a] |= 1 << b
        position = {write: (order, at) for order in orders for at, write in enumerate(order)}
        for read, source in rf.items():
            if source < 0 or source not in position or tables.plain[accesses[read][0]]:
                continue
            order, at = position[source]
            for first in range(at + 1):
                head = order[first]
                if tables.plain[accesses[head][0]] or events[head][0] == events[read][0]:
                    continue
                if all(
                    tables.adds[accesses[each][0]] or events[each][0] == events[head][0]
                    for each in order[first + 1 : at + 1]
                ):
                    apart = distance(threads[events[head][0]], threads[events[read][0]])
                    if tables.inclusive[apart][accesses[head][0]][accesses[read][0]]:
                        hb[head] |= 1 << read
        for middle in range(count):
            onward = hb[middle]
            for a in range(count):
                if hb[a] >> middle & 1:
                    hb[a] |= onward
        return hb

    def _consistent(
        self,
        hb: Sequence[int],
        events: Sequence[Base],
        accesses: Sequence[PackedAccess],
        rf: dict[int, int],
        rank: dict[int, int],
    ) -> bool:
        """Whether Hb, Coh, Rf, Narf and Rmw hold; of Rmw, what `_lines` has not seen to."""
        tables, atomic = self._tables, self._shape.atomic
        count = len(events)
        if any(hb[event] >> event & 1 for event in range(count)):
            return False
        for read, source in rf.items():
            if source >= 0 and hb[read] >> source & 1:
                return False
            if not atomic[accesses[read][1]] and not self._visible(read, source, hb, accesses):
                return False
        for a in range(count):
            location = accesses[a][1]
            if not atomic[location]:
                continue
            for b in range(count):
                if not hb[a] >> b & 1 or accesses[b][1] != location:
                    continue
                earlier = [a] if tables.writes[accesses[a][0]] else []
                earlier += [rf[a]] if a in rf else []
                later = [b] if tables.writes[accesses[b][0]] else []
                later += [rf[b]] if b in rf else []
                if any(rank[w] < rank[v] for v in earlier for w in later):
                    return False
        return True

    def _visible(
        self, read: int, source: int, hb: Sequence[int], accesses: Sequence[PackedAccess]
    ) -> bool:
        """Whether a plain location is read from a write that happens before, with none between."""
        if source >= 0 and not hb[source] >> read & 1:
            return False
        return not any(
            hb[write] >> read & 1
            and (source < 0 or hb[source] >> write & 1)
            and access[1] == accesses[read][1]
            and self._tables.writes[access[0]]
            for write, access in enumerate(accesses)
        )
