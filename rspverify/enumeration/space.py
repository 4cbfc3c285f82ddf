"""A space of tests: the bounds, and the operations that programs are made of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from rspverify.programs import Access, access_named
from rspverify.source import require

_KINDS = ("ld", "st", "inc")
_REACHES = ("WG", "WG.R", "DV", "DV.R", "ALL", "ALL.R")

PLAIN = ("ld.na", "st.na")
ONE_DEVICE = (
    *PLAIN,
    *(f"{kind}.{reach}" for reach in ("WG", "DV", "DV.R") for kind in _KINDS),
)
"""The operations of Tab. 3, by the names that litmus/README.md gives them.

A remote operation of work-group scope is left out: to the model it is one that is not remote, and
Tab. 3 gives both one code (docs/engineering.md).
"""
DEVICES = (*ONE_DEVICE, *(f"{kind}.{reach}" for reach in ("ALL", "ALL.R") for kind in _KINDS))
"""The same with those of scope ALL, for programs on several devices."""

NAMES = (*PLAIN, *(f"{kind}.{reach}" for reach in _REACHES for kind in _KINDS))
"""All operations that a space may have."""


@dataclass(frozen=True)
class Space:
    """Bounds, each the most that a test may have, and the operations that tests are made of.

    events: operations. guards: `if`s, None for as many as there is room for. operations: names of
    NAMES. mixed: whether plain operations may access locations that are declared atomic. again:
    whether what one work-group does alone may go wrong, as where what was written is stored again.
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
        """The operations, in the order of their names here, as accesses of no location."""
        return tuple(access_named(name) for name in self.operations)

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
        return replace(self, events=events)


def chosen_operations(names: Sequence[str] | None, devices: int) -> tuple[str, ...]:
    """The operations that are named, or those usual for so many devices. Raises InputError."""
    if not names:
        return ONE_DEVICE if devices == 1 else DEVICES
    wrong = [name for name in names if name not in NAMES]
    require(not wrong, f"an operation must be one of {', '.join(NAMES)}, not {', '.join(wrong)}")
    return tuple(name for name in NAMES if name in names)
