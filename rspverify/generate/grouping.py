"""The groupings of threads into the work-groups of one device: the partitions of a set."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True)
class Grouping:
    """Threads by work-group; both in ascending order, work-groups by their first thread."""

    workgroups: tuple[tuple[int, ...], ...]

    @property
    def suffix(self) -> str:
        """What a title says of it (litmus/README.md): `@01-2`, or nothing if each is alone."""
        if all(len(each) == 1 for each in self.workgroups):
            return ""
        return "@" + "-".join("".join(map(str, each)) for each in self.workgroups)

    @property
    def tree(self) -> str:
        """It as a scope tree of herd's."""
        groups = (" ".join(f"P{thread}" for thread in each) for each in self.workgroups)
        return f"(device {' '.join(f'(work_group {each})' for each in groups)})"


def groupings(threads: int) -> Iterator[Grouping]:
    """Every grouping of so many threads, each once (Bell numbers: 1, 2, 5, 15, …)."""
    for places in _places(threads):
        members = (
            tuple(thread for thread, place in enumerate(places) if place == group)
            for group in range(max(places, default=-1) + 1)
        )
        yield Grouping(tuple(members))


def _places(threads: int) -> Iterator[tuple[int, ...]]:
    """The work-group of each thread; a work-group is new or has a thread before."""
    if threads == 0:
        yield ()
        return
    for before in _places(threads - 1):
        for group in range(max(before, default=-1) + 2):
            yield (*before, group)
