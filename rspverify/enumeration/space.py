"""A space of tests: the bounds, and the operations that programs are made of."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property, lru_cache

from msgspec import Struct

from rspverify.generate.annotations import possible, require_known
from rspverify.litmus.program import GLOBAL, Kind, Order
from rspverify.programs.assembly import instruction_access
from rspverify.programs.litmus_test import BOTH, SHORT_ORDERS, Access
from rspverify.programs.notation import access_named
from rspverify.records import replace
from rspverify.source import require
from rspverify.value import Constant

_KINDS = ("ld", "st", "inc")
KINDS = ("na", *_KINDS, "cas", "F")
"""Kinds of operations by name: plain, loads, stores, increments, compare-exchanges, fences."""
_REACHES = ("WG", "WG.R", "DV", "DV.R", "ALL", "ALL.R")
_ALL_REACHES = ("WI", "SG", *_REACHES)
_UNUSED = ".unused"

PLAIN = ("ld.na", "st.na")
ONE_DEVICE = (
    *PLAIN,
    *(f"{kind}.{reach}" for reach in ("WG", "DV", "DV.R") for kind in _KINDS),
)
"""The operations of Tab. 3, by the names that litmus/README.md gives them.

A remote operation of work-group scope is left out: to the model it is one that is not remote, and
Tab. 3 gives both one code (docs/proofs.md).
"""
DEVICES = (*ONE_DEVICE, *(f"{kind}.{reach}" for reach in ("ALL", "ALL.R") for kind in _KINDS))
"""The same with those of scope ALL, for programs on several devices."""


def _with_orders(kinds: Sequence[str], reaches: Sequence[str], orders: Iterable[str]) -> list[str]:
    """Operations in every scope with each of these orders that they can have, by their names."""
    return [
        access_named(f"{kind}.{order}.{reach}").name
        for order in orders
        for reach in reaches
        for kind in kinds
        if order in possible(kind, [order])
    ]


def both(name: str) -> str:
    """The same fence with the flags of both memories."""
    return f"{name}.{BOTH}"


NAMES = tuple(
    dict.fromkeys(
        [
            *PLAIN,
            *(f"{kind}.{reach}" for reach in _REACHES for kind in _KINDS),
            *_with_orders(_KINDS, _ALL_REACHES, SHORT_ORDERS),
            *(f"{it}{_UNUSED}" for it in _with_orders(["inc"], _ALL_REACHES, SHORT_ORDERS)),
            *_with_orders(["cas"], _ALL_REACHES, SHORT_ORDERS),
            *_with_orders(["F"], _ALL_REACHES, SHORT_ORDERS),
            *(both(it) for it in _with_orders(["F"], _ALL_REACHES, SHORT_ORDERS)),
        ]
    )
)
"""All operations that a space may have; `.unused` is a read-modify-write whose result nobody uses,
`.both` a fence of both memories.
"""


@lru_cache(maxsize=1024)
def access_of(name: str) -> Access:
    """The operation of a name, with a register where its result is used."""
    if (found := instruction_access(name) if ": " in name else None) is not None:
        return found
    access = access_named(name.removesuffix(_UNUSED))
    kept = access.reads and not name.endswith(_UNUSED)
    expected = Constant(0) if access.compares else None
    return replace(access, register=0 if kept else None, expected=expected)


def unused(name: str) -> str:
    """The same read-modify-write without a use of its result."""
    return f"{name}{_UNUSED}"


class Space(Struct, frozen=True, dict=True):
    """Bounds, each the most that a test may have, and the operations that tests are made of.

    events: operations. guards: `if`s, None for as many as there is room for. operations: names of
    NAMES. mixed: whether plain operations may access locations that are declared atomic. again:
    whether what one work-group does alone may go wrong, as where what was written is stored again.
    memories: where locations may be.
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
    memories: tuple[str, ...] = (GLOBAL,)

    @cached_property
    def accesses(self) -> tuple[Access, ...]:
        """The operations, in the order of their names here, as accesses of no location."""
        return tuple(map(access_of, self.operations))

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

    @property
    def has_seq_cst(self) -> bool:
        """Whether some access is seq_cst."""
        its = (it for it in self.accesses if it.kind is not Kind.FENCE)
        return any(access.order is Order.SEQ_CST for access in its)

    @property
    def has_fences(self) -> bool:
        """Whether some operation is a fence."""
        return any(access.kind is Kind.FENCE for access in self.accesses)

    def within(self, events: int) -> Space:
        """The same space with programs of so many operations at the most."""
        return replace(self, events=events)


def _shortest(name: str) -> str:
    """The name of an operation, without its order where that is the usual one."""
    plain = name.removesuffix(_UNUSED)
    try:
        return access_named(plain).name + name[len(plain) :]
    except ValueError:
        return name


def chosen_operations(names: Sequence[str] | None, devices: int) -> tuple[str, ...]:
    """The operations that are named, or those usual for so many devices. Raises InputError."""
    if not names:
        return ONE_DEVICE if devices == 1 else DEVICES
    names = [_shortest(name) for name in names]
    wrong = [name for name in names if name not in NAMES]
    known = ", ".join(NAMES[: len(PLAIN) + len(_KINDS) * len(_REACHES)])
    require(
        not wrong,
        f"an operation must be one of {known}, or one with an order or without a use, as "
        f"ld.rlx.DV, inc.sc.WG, inc.DV.unused, F.acq.DV, not {', '.join(wrong)}",
    )
    return tuple(name for name in NAMES if name in names)


def operations_of(
    scopes: Sequence[str], orders: Sequence[str], kinds: Sequence[str] = (), devices: int = 1
) -> tuple[str, ...]:
    """Operations of these kinds, the atomic ones of these scopes and orders. Raises InputError.

    scopes: as `WG`, `DV.R`; none for those that are not remote on so many devices. orders: as
    `rlx`; none for the usual one of each, of fences `ar`. kinds: of KINDS; none for plain
    operations, loads, stores and increments.
    """
    require_known("a kind of operations", kinds, KINDS)
    require_known("a scope", scopes, _ALL_REACHES)
    require_known("an order", orders, tuple(SHORT_ORDERS))
    scopes = scopes or (("WG", "DV") if devices == 1 else ("WG", "DV", "ALL"))
    wanted = kinds or ("na", *_KINDS)
    atomic = [kind for kind in wanted if kind != "na"]
    usual = [f"{kind}.ar" if kind == "F" else kind for kind in atomic]
    made = [f"{each}.{reach}" for reach in scopes for each in usual]
    made = _with_orders(atomic, scopes, orders) if orders else made
    return tuple(name for name in NAMES if name in (*(PLAIN if "na" in wanted else ()), *made))
