"""A litmus test as it is written down: threads of accesses, their places, and the locations."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import groupby

from msgspec import Struct

from rspverify.litmus.program import GLOBAL, LOCAL, Kind, Location, Order, Scope
from rspverify.records import replace
from rspverify.value import Constant, Expression

Place = tuple[int, int]
"""A device, and a work-group of that device; both count from 0."""

STRONG = {Kind.LOAD: Order.ACQUIRE, Kind.STORE: Order.RELEASE, Kind.RMW: Order.ACQ_REL}
"""The orders of the paper's atomics: what an atomic has that names no order."""

SHORT_ORDERS = {
    "rlx": Order.RELAXED,
    "acq": Order.ACQUIRE,
    "rel": Order.RELEASE,
    "ar": Order.ACQ_REL,
    "sc": Order.SEQ_CST,
}
"""The orders by the names that titles of tests give them (litmus/all-orders/README.md)."""

_ORDER_NAMES = {order: name for name, order in SHORT_ORDERS.items()}

OPERATIONS: Mapping[str, tuple[Kind, str | None, str]] = {
    "ld": (Kind.LOAD, None, "atomic_load"),
    "st": (Kind.STORE, None, "atomic_store"),
    "inc": (Kind.RMW, "+", "atomic_fetch_add"),
    "add": (Kind.RMW, "+", "atomic_fetch_add"),
    "sub": (Kind.RMW, "-", "atomic_fetch_sub"),
    "or": (Kind.RMW, "|", "atomic_fetch_or"),
    "xor": (Kind.RMW, "^", "atomic_fetch_xor"),
    "and": (Kind.RMW, "&", "atomic_fetch_and"),
    "min": (Kind.RMW, "min", "atomic_fetch_min"),
    "max": (Kind.RMW, "max", "atomic_fetch_max"),
    "exch": (Kind.RMW, "exchange", "atomic_exchange"),
    "cas": (Kind.RMW, "compare_exchange", "atomic_compare_exchange_strong"),
    "F": (Kind.FENCE, None, "atomic_work_item_fence"),
}
"""The operations by their names in titles: kind, operator of an RMW (`inc` adds 1), C function."""

_NAMES = {(kind, operator): name for name, (kind, operator, _) in OPERATIONS.items()}

ONE = Constant(1)

BOTH = "both"
FENCED_MEMORIES = (BOTH, GLOBAL, LOCAL)
"""The memories that a fence may name, as in `F.acq.DV.both`."""


class Access(Struct, frozen=True):
    """One operation of a thread; a fence is one that accesses nothing.

    order, scope: None if it is plain. location: None of a fence. value: what a store writes, and
    the operand of an RMW. register: the number of the register that keeps what it reads (of a
    compare-exchange, whether it succeeds), if any does. guards: it is executed where none of them
    is 0, the outermost `if` first. operator: of an RMW, one of OPERATORS. expected: what a
    compare-exchange expects, or the location that has it; failure: the order of the load that it is
    where it fails; weak: whether it may fail although it finds that, which names and the notation
    leave out.
    memory: of a fence, one of FENCED_MEMORIES; where it is empty, the fence is for both memories if
    the test has local memory, and for global memory otherwise. instruction: what it is in a test in
    assembly, behind the language, as a table has it (rspverify/programs/assembly.py).

    In value and guards `Read(k)` stands for register k of the thread.
    """

    kind: Kind
    location: str | None = None
    value: Expression | None = None
    register: int | None = None
    order: Order | None = None
    scope: Scope | None = None
    remote: bool = False
    guards: tuple[Expression, ...] = ()
    operator: str | None = None
    expected: str | Constant | None = None
    failure: Order = Order.RELAXED
    weak: bool = False
    memory: str = ""
    instruction: str = ""

    @property
    def plain(self) -> bool:
        """Whether it is no atomic operation, and no fence."""
        return self.scope is None

    @property
    def reads(self) -> bool:
        """Whether it reads."""
        return self.kind.reads

    @property
    def writes(self) -> bool:
        """Whether it writes."""
        return self.kind.writes

    @property
    def compares(self) -> bool:
        """Whether it is a compare-exchange."""
        return self.operator == "compare_exchange"

    @property
    def brings(self) -> bool:
        """Whether what it writes is not made of what it reads."""
        return self.kind is Kind.STORE or self.operator in ("compare_exchange", "exchange")

    @property
    def locations(self) -> tuple[str, ...]:
        """What it looks at."""
        return tuple(each for each in (self.location, self.expected) if isinstance(each, str))

    def fenced(self, usual: frozenset[str]) -> frozenset[str]:
        """The memories that a fence orders. usual: those of fences of its test that name none."""
        match self.memory:
            case "":
                return usual
            case "both":
                return frozenset({GLOBAL, LOCAL})
            case memory:
                return frozenset({memory})

    @property
    def operation(self) -> str:
        """What it does, by its name in OPERATIONS."""
        adds_one = self.operator == "+" and self.value == ONE
        return "inc" if adds_one else _NAMES[self.kind, self.operator]

    @property
    def name(self) -> str:
        """What it is called in titles of tests: `st.na`, `ld.DV.R`, `cas.ar.acq.WG`; `MOVrx`."""
        if self.instruction:
            return re.sub(r"\W", "", self.instruction.partition(": ")[2])
        if self.scope is None:
            return f"{self.operation}.na"
        assert self.order is not None
        failing = "" if self.failure is Order.RELAXED else f".{_ORDER_NAMES[self.failure]}"
        usual = STRONG.get(self.kind) is self.order and not failing
        order = "" if usual else f".{_ORDER_NAMES[self.order]}{failing}"
        more = f"{'.R' if self.remote else ''}{'.' if self.memory else ''}{self.memory}"
        return f"{self.operation}{order}.{self.scope.value}{more}"


class Thread(Struct, frozen=True):
    """A thread: where it runs, and its accesses in program order."""

    place: Place
    accesses: tuple[Access, ...]


class LitmusTest(Struct, frozen=True):
    """A litmus test without title and final condition; thread i is called Pi. See `litmus_test`.

    locations: those that are accessed, in the order of their first accesses.
    """

    threads: tuple[Thread, ...]
    locations: tuple[Location, ...]

    @property
    def accesses(self) -> tuple[Access, ...]:
        """Every access, thread by thread."""
        return tuple(each for thread in self.threads for each in thread.accesses)

    def with_threads(self, threads: Iterable[Thread]) -> LitmusTest:
        """Other threads, to which locations are what they are here."""
        atomic = {x.name for x in self.locations if x.atomic}
        initial = {x.name: x.initial for x in self.locations}
        return litmus_test(threads, atomic, initial, self.local)

    @property
    def local(self) -> frozenset[str]:
        """The locations that are in local memory, by name."""
        return frozenset(x.name for x in self.locations if x.region == LOCAL)

    @property
    def fenced(self) -> frozenset[str]:
        """The memories that its fences order: both where it has local memory."""
        return frozenset({GLOBAL, LOCAL} if self.local else {GLOBAL})

    @property
    def workgroups(self) -> tuple[tuple[tuple[int, ...], ...], ...]:
        """The threads of each work-group of each device, by their numbers."""
        members: dict[int, dict[int, list[int]]] = {}
        for number, thread in enumerate(self.threads):
            device, group = thread.place
            members.setdefault(device, {}).setdefault(group, []).append(number)
        return tuple(tuple(map(tuple, groups.values())) for groups in members.values())

    @property
    def grouping(self) -> str:
        """What its title says of places (litmus/README.md): `@01-2`, `@0-1--2` for two devices.

        Nothing if all are on one device and each is alone.
        """
        devices = self.workgroups
        if len(devices) == 1 and all(len(group) == 1 for group in devices[0]):
            return ""
        return "@" + "--".join("-".join(map(_digits, groups)) for groups in devices)

    @property
    def name(self) -> str:
        """What its title says of it: the operations of each thread, and the grouping."""
        bodies = ("-".join(each.name for each in thread.accesses) for thread in self.threads)
        return "+".join(bodies) + self.grouping


def _digits(threads: Sequence[int]) -> str:
    """A work-group: `01`, but `9,10` and `10,` where a number has two digits."""
    if max(threads) < 10:
        return "".join(map(str, threads))
    return ",".join(map(str, threads)) + ("," if len(threads) == 1 else "")


def litmus_test(
    threads: Iterable[Thread],
    atomic: Collection[str] = (),
    initial: Mapping[str, int] | None = None,
    local: Collection[str] = (),
) -> LitmusTest:
    """A test: its devices and work-groups are numbered as threads mention them first.

    atomic: locations that are declared atomic even if no atomic access makes them so. initial:
    initial values that are not 0. local: locations in local memory.
    """
    given = tuple(threads)
    found = [each for thread in given for each in thread.accesses]
    atomics = {each.location for each in found if not each.plain}.union(atomic)
    locations = tuple(
        Location(
            name, name in atomics, LOCAL if name in local else GLOBAL, (initial or {}).get(name, 0)
        )
        for name in dict.fromkeys(name for each in found for name in each.locations)
    )
    devices: dict[int, dict[int, int]] = {}
    for device, group in (thread.place for thread in given):
        groups = devices.setdefault(device, {})
        groups.setdefault(group, len(groups))
    rank = {device: number for number, device in enumerate(devices)}
    placed = (
        replace(each, place=(rank[each.place[0]], devices[each.place[0]][each.place[1]]))
        for each in given
    )
    return LitmusTest(tuple(placed), locations)


class Branch(Struct, frozen=True):
    """Accesses that an `if` covers, and further `if`s in it."""

    condition: Expression
    body: tuple[Access | Branch, ...]


def blocks(accesses: Iterable[Access], depth: int = 0) -> Iterator[Access | Branch]:
    """The accesses of a thread, neighbours of which the same `if` is true under one `if`."""
    for guard, same in groupby(accesses, key=lambda it: it.guards[depth : depth + 1]):
        if guard:
            yield Branch(guard[0], tuple(blocks(same, depth + 1)))
        else:
            yield from same
