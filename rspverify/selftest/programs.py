"""Random litmus tests: small concurrent idioms with suitable scopes, and operations at random.

Of operations chosen at random almost every program races, and of racy programs there is nothing
to say. So most programs are told as a story: a message passed on through flags, which guard the
data, or atomics of a few locations; at scopes that include each other, but for slips.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence

from msgspec import Struct

from rspverify.litmus.program import Kind, Order, Scope
from rspverify.programs.litmus_test import STRONG, Access, LitmusTest, Place, Thread, litmus_test
from rspverify.records import replace
from rspverify.value import Binary, Constant, Expression, Read, Select, Unary

_ANY_ORDER = {
    Kind.LOAD: (Order.RELAXED, Order.ACQUIRE, Order.SEQ_CST),
    Kind.STORE: (Order.RELAXED, Order.RELEASE, Order.SEQ_CST),
    Kind.RMW: tuple(each for each in Order if each is not Order.CONSUME),
}
_KINDS = (Kind.LOAD, Kind.LOAD, Kind.STORE, Kind.STORE, Kind.RMW)
_PUBLISHING = (Kind.STORE, Kind.STORE, Kind.RMW)
_SLIP = 0.03
"""How often a scope is chosen without regard to who else accesses the location."""


class Size(Struct, frozen=True):
    """How large a random program may be.

    threads, workgroups, devices, locations: at most so many, except that at least min_threads and
    min_devices; operations: at most so many in a thread, and in the program (total); extra: at
    most so many instructions beside the accesses, in a program made of instructions.
    """

    threads: int = 4
    workgroups: int = 3
    devices: int = 2
    locations: int = 2
    operations: int = 3
    total: int = 5
    extra: int = 7
    min_threads: int = 1
    min_devices: int = 1


def random_places(rng: random.Random, size: Size) -> list[Place]:
    """The place of each thread; devices and the work-groups of each have no gaps."""
    threads = rng.randint(size.min_threads, size.threads)
    most = min(size.devices, threads, size.workgroups)
    devices = rng.randint(min(size.min_devices, most), most)
    groups = rng.randint(devices, max(devices, min(size.workgroups, threads)))
    device_of = [*range(devices), *(rng.randrange(devices) for _ in range(groups - devices))]
    rank: list[Place] = []
    for place, device in enumerate(device_of):
        rank.append((device, device_of[:place].count(device)))
    members = [*range(groups), *(rng.randrange(groups) for _ in range(threads - groups))]
    rng.shuffle(members)
    return [rank[member] for member in members]


def random_counts(rng: random.Random, threads: int, size: Size) -> list[int]:
    """How many operations each thread has: at least one, as long as there are enough."""
    counts = [1 if thread < size.total else 0 for thread in range(threads)]
    more = max(0, size.total - threads)
    for _ in range(max(rng.randint(0, more), rng.randint(0, more))):
        thread = rng.randrange(threads)
        if counts[thread] < size.operations:
            counts[thread] += 1
    return counts


def random_test(rng: random.Random, size: Size) -> LitmusTest:
    """A litmus test that most schemes can compile, and that more often than not is race-free."""
    places = _spread(rng, size)
    story = rng.random()
    if story < 0.12 or len(places) == 1:
        near = (Scope.WG, Scope.DV)
        scopes = near if _devices(places) == 1 else (Scope.WI, *near, Scope.ALL)
        return wild_test(rng, size, scopes=scopes, weak=False, places=places)
    message = story < 0.66
    test = _Message(rng, size, places).test() if message else _atomics(rng, size, places)
    return _with_copies(rng, test, size) if rng.random() < 0.25 else test


def _with_copies(rng: random.Random, test: LitmusTest, size: Size) -> LitmusTest:
    """A test in which another thread, or each, does what one does: threads can be exchanged."""
    fitting = [it.accesses for it in test.threads if it.accesses and not _writes_plainly(it)]
    if not fitting:
        return test
    copied = rng.choice(fitting)
    chosen = range(len(test.threads)) if rng.random() < 0.4 else [len(test.threads) - 1]
    while len(copied) * len(chosen) > size.total:
        copied = copied[:-1]
    threads = (
        Thread(thread.place, copied) if number in chosen else thread
        for number, thread in enumerate(test.threads)
    )
    return test.with_threads(threads)


def _writes_plainly(thread: Thread) -> bool:
    """Whether a copy would race with it, wherever it runs."""
    return any(it.kind is Kind.STORE and it.plain for it in thread.accesses)


def _spread(rng: random.Random, size: Size) -> list[Place]:
    """Places, seldom all in one work-group: there nothing can go wrong."""
    if rng.random() < 0.93:
        size = replace(size, min_threads=max(2, size.min_threads))
    draws = [random_places(rng, size) for _ in range(3)]
    return max(draws, key=lambda places: len(set(places)) / len(places))


def wild_test(
    rng: random.Random,
    size: Size,
    *,
    scopes: Sequence[Scope],
    weak: bool,
    places: Sequence[Place] | None = None,
) -> LitmusTest:
    """Threads that load, store and add at random, with `if`s now and then.

    weak: also orders that do not synchronise or that do more than the paper's, and plain accesses
    to atomic locations.
    """
    if places is None:
        places = random_places(rng, size)
    names = ("x", "y")[: rng.randint(1, size.locations)]
    atomic = {x: rng.random() < 0.7 for x in names}
    counts = random_counts(rng, len(places), size)
    initial = {x: _initial(rng) for x in names}
    threads = []
    for place, count in zip(places, counts, strict=True):
        writer = _Writer(rng)
        for _ in range(count):
            x = rng.choice(names)
            plain = not atomic[x] or (weak and rng.random() < 0.1)
            kind = rng.choice((Kind.LOAD, Kind.STORE) if plain else _KINDS)
            value = writer.value()
            if plain:
                writer.add(kind, x, value)
                continue
            scope = rng.choice(scopes)
            order = None
            if weak and rng.random() < 0.4:
                order = rng.choice(_ANY_ORDER[kind])
            writer.add(kind, x, value, (scope, rng.random() < 0.3), order=order)
        threads.append(Thread(place, tuple(writer.accesses)))
    return litmus_test(threads, [x for x in names if atomic[x]], initial)


def _initial(rng: random.Random) -> int:
    return rng.choice((0, 0, 0, 1))


def _devices(places: Sequence[Place]) -> int:
    return len({device for device, _ in places})


Reach = tuple[Scope | None, bool]
"""The scope of an operation, and whether it is remote."""
PLAIN: Reach = (None, False)


class _Writer:
    """Writes the operations of one thread, and knows which registers it has."""

    def __init__(self, rng: random.Random) -> None:
        self._rng = rng
        self.registers: list[int] = []
        self.accesses: list[Access] = []

    def value(self) -> Expression:
        """A small number, or something of a register."""
        rng = self._rng
        number = rng.choice((1, 1, 2))
        if not self.registers or rng.random() < 0.7:
            return Constant(number)
        register = Read(rng.choice(self.registers))
        more = Binary("+", register, Constant(number))
        return rng.choice((register, more, Select(register, Constant(1), Constant(2))))

    def condition(self) -> Expression:
        """A condition on a register; there must be one."""
        register, one = Read(self._rng.choice(self.registers)), Constant(1)
        equal, unequal = Binary("==", register, one), Binary("!=", register, one)
        return self._rng.choice((equal, unequal, register, Unary("!", register)))

    def add(
        self,
        kind: Kind,
        location: str,
        value: Expression,
        reach: Reach = PLAIN,
        guards: tuple[Expression, ...] | None = None,
        order: Order | None = None,
    ) -> None:
        """One operation more; without guards given it has one now and then."""
        if guards is None:
            guards = ()
            while self.registers and len(guards) < 2 and self._rng.random() < 0.35:
                guards = (*guards, self.condition())
        written = None if kind is Kind.LOAD else value
        register = None if kind is Kind.STORE else len(self.registers)
        if reach != PLAIN:
            order = order or STRONG[kind]
        operator = "+" if kind is Kind.RMW else None
        self.accesses.append(
            Access(kind, location, written, register, order, *reach, guards, operator)
        )
        if register is not None:
            self.registers.append(register)


class _Scopes:
    """Scopes such that the atomics of each location include each other, but for slips.

    Either all are as wide as need be, or one work-group keeps to its own scope and all others are
    remote.
    """

    def __init__(self, rng: random.Random, places: Sequence[Place]) -> None:
        self._rng = rng
        self._places = places
        widest = Scope.ALL if _devices(places) > 1 else Scope.DV
        self._widest = Scope.WG if len(set(places)) == 1 else widest
        self._owners: dict[str, Place | None] = {}

    def at(self, thread: int, location: str) -> Reach:
        """The reach of an atomic."""
        rng = self._rng
        if location not in self._owners:
            self._owners[location] = rng.choice(self._places) if rng.random() < 0.4 else None
        owner = self._owners[location]
        if rng.random() < _SLIP:
            return rng.choice((Scope.WG, Scope.DV)), rng.random() < 0.3
        if owner is None:
            return self._widest, rng.random() < 0.15
        if self._places[thread] == owner:
            return Scope.WG, rng.random() < 0.1
        return self._widest, True


class _Message:
    """Message passing: data, a flag that says they are there, and readers who look at it first."""

    def __init__(self, rng: random.Random, size: Size, places: Sequence[Place]) -> None:
        self._rng = rng
        self._places = places
        self._scopes = _Scopes(rng, places)
        self._writers = [_Writer(rng) for _ in places]
        self._data_is_atomic = rng.random() < 0.15
        self._left = size.total

    def test(self) -> LitmusTest:
        """The writer is P0; each other thread reads the flag, and the data or the next flag."""
        rng, last = self._rng, len(self._places) - 1
        chain = last > 1 and rng.random() < 0.5
        data = ["x", "w"] if rng.random() < 0.15 and not chain else ["x"]
        for x in data:
            self._data(0, Kind.STORE if rng.random() < 0.9 else Kind.LOAD, x, ())
        self._flag(0, rng.choice(_PUBLISHING), "y", ())
        flag = "y"
        for thread in range(1, last + 1):
            if self._left < 2:
                break
            self._flag(thread, rng.choice((Kind.LOAD, Kind.LOAD, Kind.RMW)), flag, ())
            seen = (self._seen(thread),)
            if chain and thread < last:
                flag = f"y{thread}"
                self._flag(thread, rng.choice(_PUBLISHING), flag, seen)
            else:
                kind = Kind.LOAD if rng.random() < 0.8 else Kind.STORE
                self._data(thread, kind, rng.choice(data), seen)
        if self._left and rng.random() < 0.3:
            self._flag(rng.randint(0, last), rng.choice(_KINDS), "y", None)
        return _test(self._places, self._writers, ["x", "w"] if self._data_is_atomic else [])

    def _seen(self, thread: int) -> Expression:
        """That the flag was up when the thread read it; seldom something else."""
        if self._rng.random() < 0.05:
            return self._writers[thread].condition()
        return Binary("==", Read(self._writers[thread].registers[-1]), Constant(1))

    def _flag(self, thread: int, kind: Kind, x: str, guards: tuple[Expression, ...] | None) -> None:
        self._left -= 1
        self._writers[thread].add(kind, x, Constant(1), self._scopes.at(thread, x), guards)

    def _data(self, thread: int, kind: Kind, x: str, guards: tuple[Expression, ...]) -> None:
        self._left -= 1
        writer = self._writers[thread]
        value = Constant(5 + thread) if self._rng.random() < 0.7 else writer.value()
        reach = self._scopes.at(thread, x) if self._data_is_atomic else PLAIN
        writer.add(kind, x, value, reach, guards)


def _atomics(rng: random.Random, size: Size, places: Sequence[Place]) -> LitmusTest:
    """Increments, stores and loads of one location or two: atomicity, coherence, buffering."""
    scopes = _Scopes(rng, places)
    names = ("x", "y")[: 1 if rng.random() < 0.6 else size.locations]
    kinds = (*_KINDS, *(Kind.RMW,) * rng.choice((0, 3, 6)))
    writers = [_Writer(rng) for _ in places]
    for thread, count in enumerate(random_counts(rng, len(places), size)):
        for _ in range(count):
            x = rng.choice(names)
            value: Expression = Constant(10 if len(names) == 1 else 1)
            if rng.random() < 0.5:
                value = writers[thread].value()
            reach = scopes.at(thread, x)
            kind = rng.choice(kinds)
            writers[thread].add(kind, x, Constant(1) if kind is Kind.RMW else value, reach)
    used = {each.location for writer in writers for each in writer.accesses}
    return _test(places, writers, names, {x: _initial(rng) for x in names if x in used})


def _test(
    places: Sequence[Place],
    writers: Sequence[_Writer],
    atomic: Sequence[str],
    initial: Mapping[str, int] | None = None,
) -> LitmusTest:
    """What was written, without threads that do nothing."""
    threads = zip(places, writers, strict=True)
    wrote = (Thread(place, tuple(it.accesses)) for place, it in threads if it.accesses)
    return litmus_test(wrote, atomic, initial)


def smaller(size: Size, devices: int) -> Size:
    """A size with exactly so many devices; several make a machine state much larger."""
    if devices == 1:
        return replace(size, devices=1, min_devices=1)
    least = max(devices, size.min_threads)
    return replace(size, devices=devices, min_devices=devices, min_threads=least)
