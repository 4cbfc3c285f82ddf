"""Which programs a hunt ranges over: the bounds, and the operations that programs are made of."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from rspverify.litmus.program import Kind, Order, Scope
from rspverify.source import InputError, Problem

_KINDS = {"ld": Kind.LOAD, "st": Kind.STORE, "inc": Kind.RMW}
_ORDERS = {Kind.LOAD: Order.ACQUIRE, Kind.STORE: Order.RELEASE, Kind.RMW: Order.ACQ_REL}
_REACHES = ("WG", "WG.R", "DV", "DV.R", "ALL", "ALL.R")

PLAIN = ("ld.na", "st.na")
ONE_DEVICE = (
    *PLAIN,
    *(f"{kind}.{reach}" for reach in ("WG", "DV", "DV.R") for kind in ("ld", "st", "inc")),
)
"""The operations of Tab. 3, by the names that litmus/rsp/README.md gives them.

A remote operation of work-group scope is left out: to the model it is one that is not remote, and
Tab. 3 gives both one code (docs/engineering.md).
"""
DEVICES = (*ONE_DEVICE, *(f"{kind}.{reach}" for reach in ("ALL", "ALL.R") for kind in _KINDS))
"""The same with those of scope ALL, for programs on several devices."""

NAMES = (*PLAIN, *(f"{kind}.{reach}" for reach in _REACHES for kind in _KINDS))
"""All operations that a space may have."""


@dataclass(frozen=True)
class Access:
    """What an operation is, its location and its value aside; order and scope: None if plain."""

    name: str
    kind: Kind
    order: Order | None
    scope: Scope | None
    remote: bool

    @property
    def plain(self) -> bool:
        """Whether it is no atomic operation."""
        return self.order is None

    @property
    def reads(self) -> bool:
        """Whether it reads."""
        return self.kind is not Kind.STORE

    @property
    def writes(self) -> bool:
        """Whether it writes."""
        return self.kind is not Kind.LOAD


def access(name: str) -> Access:
    """The operation of a name of NAMES."""
    short, _, reach = name.partition(".")
    kind = _KINDS[short]
    if reach == "na":
        return Access(name, kind, None, None, False)
    scope, _, remote = reach.partition(".")
    return Access(name, kind, _ORDERS[kind], Scope(scope), bool(remote))


@dataclass(frozen=True)
class Space:
    """The bounds of a hunt, each the most that a program may have.

    events: operations. guards: `if`s, None for as many as there is room for. operations: names of
    NAMES. mixed: whether plain operations may access locations that are declared atomic. again:
    whether schemes may store again what an operation has written, on which filters depend.
    """

    events: int = 4
    threads: int = 3
    workgroups: int = 3
    devices: int = 1
    locations: int = 2
    guards: int | None = None
    operations: tuple[str, ...] = ONE_DEVICE
    mixed: bool = False
    again: bool = False

    @cached_property
    def accesses(self) -> tuple[Access, ...]:
        """The operations, in the order of their names here."""
        return tuple(access(name) for name in self.operations)

    @property
    def bounds(self) -> dict[str, int]:
        """The bounds, by name, as verdicts name them."""
        found = {
            "events": self.events,
            "threads": self.threads,
            "work-groups": self.workgroups,
            "devices": self.devices,
            "locations": self.locations,
        }
        return found if self.guards is None else {**found, "guards": self.guards}

    @property
    def widest_value_step(self) -> int:
        """How far apart the values of stores are: further than increments can go."""
        return int(10 ** len(str(self.events)))

    def within(self, events: int) -> Space:
        """The same space with programs of so many operations at the most."""
        return Space(
            events,
            self.threads,
            self.workgroups,
            self.devices,
            self.locations,
            self.guards,
            self.operations,
            self.mixed,
            self.again,
        )


def chosen_operations(names: Sequence[str] | None, devices: int) -> tuple[str, ...]:
    """The operations that are named, or those usual for so many devices. Raises InputError."""
    if not names:
        return ONE_DEVICE if devices == 1 else DEVICES
    wrong = [name for name in names if name not in NAMES]
    if wrong:
        message = f"an operation must be one of {', '.join(NAMES)}, not {', '.join(wrong)}"
        raise InputError([Problem(None, message)])
    return _in_order(names)


def _in_order(names: Iterable[str]) -> tuple[str, ...]:
    wanted = set(names)
    return tuple(name for name in NAMES if name in wanted)


def inclusive(first: Access, second: Access, apart: int) -> bool:
    """Whether their scopes are inclusive (`incl` of the RSP paper, §3), at a distance.

    apart: 0 in one work-group, 1 in two of one device, 2 on two devices.
    """
    if first.plain or second.plain:
        return False
    there, back = _reaches(first, apart), _reaches(second, apart)
    return (there and back) or (first.remote and there) or (second.remote and back)


def _reaches(one: Access, apart: int) -> bool:
    """Whether its scope, seen from its own place, has an event so far away in it (`incl1`)."""
    return apart <= {Scope.WG: 0, Scope.DV: 1, Scope.ALL: 2}[one.scope or Scope.WG]
