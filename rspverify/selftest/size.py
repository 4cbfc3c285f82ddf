"""How large a random program may be, and where its threads run."""

from __future__ import annotations

import random

from msgspec import Struct

from rspverify.programs.litmus_test import Place


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
