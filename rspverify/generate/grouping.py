"""The groupings of threads into work-groups, and of these into devices: partitions of a set."""

from __future__ import annotations

from collections.abc import Iterator

from rspverify.programs.litmus_test import Place

Grouping = tuple[Place, ...]
"""The place of each thread; devices and work-groups are numbered as threads mention them first."""


def groupings(threads: int) -> Iterator[Grouping]:
    """Every grouping of so many threads on one device, each once (Bell numbers: 1, 2, 5, 15, …)."""
    for groups in _partitions(threads):
        yield tuple((0, group) for group in groups)


def groupings_on_devices(threads: int) -> Iterator[Grouping]:
    """Every grouping of so many threads on two devices or more, each once."""
    for groups in _partitions(threads):
        for devices in _partitions(max(groups, default=-1) + 1):
            if max(devices, default=0) > 0:
                yield tuple(
                    (devices[group], devices[:group].count(devices[group])) for group in groups
                )


def _partitions(members: int) -> Iterator[tuple[int, ...]]:
    """Every partition of so many members: the part of each, which is new or has one before."""
    if members == 0:
        yield ()
        return
    for before in _partitions(members - 1):
        for part in range(max(before, default=-1) + 2):
            yield (*before, part)
