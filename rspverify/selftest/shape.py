"""How large a random program may be, and where its threads run."""

from __future__ import annotations

import random
from dataclasses import dataclass

Place = tuple[int, int]
"""A device, and a work-group of that device; both count from 0."""


@dataclass(frozen=True)
class Shape:
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


def random_places(rng: random.Random, shape: Shape) -> list[Place]:
    """The place of each thread; devices and the work-groups of each have no gaps."""
    threads = rng.randint(shape.min_threads, shape.threads)
    most = min(shape.devices, threads, shape.workgroups)
    devices = rng.randint(min(shape.min_devices, most), most)
    groups = rng.randint(devices, max(devices, min(shape.workgroups, threads)))
    device_of = [*range(devices), *(rng.randrange(devices) for _ in range(groups - devices))]
    rank: list[Place] = []
    for place, device in enumerate(device_of):
        rank.append((device, device_of[:place].count(device)))
    members = [*range(groups), *(rng.randrange(groups) for _ in range(threads - groups))]
    rng.shuffle(members)
    return [rank[member] for member in members]


def random_counts(rng: random.Random, threads: int, shape: Shape) -> list[int]:
    """How many operations each thread has: at least one, as long as there are enough."""
    counts = [1 if thread < shape.total else 0 for thread in range(threads)]
    more = max(0, shape.total - threads)
    for _ in range(max(rng.randint(0, more), rng.randint(0, more))):
        thread = rng.randrange(threads)
        if counts[thread] < shape.operations:
            counts[thread] += 1
    return counts
