"""Tests that are one up to the names of threads, work-groups, devices and locations."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations

from rspverify.programs.litmus_test import LitmusTest, Thread

Told = tuple[object, ...]
"""A test with names as they first occur."""


def first_of_alike(test: LitmusTest) -> Told:
    """What stands for all tests that differ from this one in names alone."""
    return min((_told(test, order) for order in permutations(test.threads)), key=repr)


def _told(test: LitmusTest, order: Sequence[Thread]) -> Told:
    """A test with its threads in an order."""
    known = {x.name: x for x in test.locations}
    locations: dict[str, int] = {}
    devices: dict[int, int] = {}
    groups: dict[tuple[int, int], int] = {}
    threads = []
    for thread in order:
        accesses = []
        for each in thread.accesses:
            places = [locations.setdefault(x, len(locations)) for x in each.locations]
            says = (str(each.value), each.register, tuple(map(str, each.guards)))
            accesses.append((each.name, *places, *says))
        device = devices.setdefault(thread.place[0], len(devices))
        group = groups.setdefault(thread.place, len(groups))
        threads.append((device, group, *accesses))
    declared = [known[x] for x in locations]
    return *threads, *((it.atomic, it.region, it.initial) for it in declared)
