"""The groupings of threads into work-groups, and of these into devices: partitions of a set."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

Parts = tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class Grouping:
    """Threads by work-group; both in ascending order, work-groups by their first thread.

    devices: the work-groups, by their places, of each device; None if all are on one.
    """

    workgroups: Parts
    devices: Parts | None = None

    @property
    def suffix(self) -> str:
        """What a title says of it (litmus/rsp/README.md): `@01-2`, `@0-1--2` for two devices.

        Nothing if all are on one device and each is alone.
        """
        if self.devices is None and all(len(each) == 1 for each in self.workgroups):
            return ""
        return "@" + "--".join(
            "-".join("".join(map(str, each)) for each in device) for device in self._by_device
        )

    @property
    def tree(self) -> str:
        """It as a scope tree of herd's."""
        devices = [f"(device {' '.join(map(_workgroup, each))})" for each in self._by_device]
        return devices[0] if len(devices) == 1 else f"(system {' '.join(devices)})"

    @property
    def _by_device(self) -> list[Parts]:
        if self.devices is None:
            return [self.workgroups]
        return [tuple(self.workgroups[place] for place in each) for each in self.devices]


def _workgroup(threads: tuple[int, ...]) -> str:
    return f"(work_group {' '.join(f'P{thread}' for thread in threads)})"


def groupings(threads: int) -> Iterator[Grouping]:
    """Every grouping of so many threads on one device, each once (Bell numbers: 1, 2, 5, 15, …)."""
    for workgroups in _partitions(threads):
        yield Grouping(workgroups)


def groupings_on_devices(threads: int) -> Iterator[Grouping]:
    """Every grouping of so many threads on two devices or more, each once."""
    for workgroups in _partitions(threads):
        for devices in _partitions(len(workgroups)):
            if len(devices) > 1:
                yield Grouping(workgroups, devices)


def _partitions(members: int) -> Iterator[Parts]:
    """Every partition of 0, 1, …, its parts in the order of their first members."""
    for places in _places(members):
        yield tuple(
            tuple(member for member, place in enumerate(places) if place == part)
            for part in range(max(places, default=-1) + 1)
        )


def _places(members: int) -> Iterator[tuple[int, ...]]:
    """The part of each member; a part is new or has a member before."""
    if members == 0:
        yield ()
        return
    for before in _places(members - 1):
        for part in range(max(before, default=-1) + 2):
            yield (*before, part)
