"""The groupings of threads, and the families on several devices."""

from __future__ import annotations

import pytest

from rspverify.generate.annotations import chosen_annotations
from rspverify.generate.family import DEVICE_FAMILIES, chosen
from rspverify.generate.grouping import groupings, groupings_on_devices
from rspverify.litmus.reader import read_program
from rspverify.programs.litmus_test import LitmusTest, Thread, litmus_test
from rspverify.source import Source


def placed(places: tuple[tuple[int, int], ...]) -> LitmusTest:
    return litmus_test(Thread(place, ()) for place in places)


@pytest.mark.parametrize(("threads", "count"), [(1, 1), (2, 2), (3, 5), (4, 15), (5, 52)])
def test_groupings_are_all_partitions(threads: int, count: int) -> None:
    found = list(groupings(threads))
    assert len(set(found)) == len({placed(each).grouping for each in found}) == count
    for each in found:
        (workgroups,) = placed(each).workgroups
        assert tuple(thread.place for thread in placed(each).threads) == each
        assert sorted(sum(workgroups, ())) == list(range(threads))
        assert list(workgroups) == sorted(map(tuple, map(sorted, workgroups)))


@pytest.mark.parametrize(("threads", "count"), [(1, 0), (2, 1), (3, 7), (4, 45)])
def test_groupings_on_devices(threads: int, count: int) -> None:
    """As many as pairs of a partition and a coarser one that has two parts or more."""
    found = list(groupings_on_devices(threads))
    assert len(set(found)) == len({placed(each).grouping for each in found}) == count
    for each in found:
        devices = placed(each).workgroups
        assert tuple(thread.place for thread in placed(each).threads) == each
        assert len(devices) > 1
        assert sorted(sum(sum(devices, ()), ())) == list(range(threads))


@pytest.mark.parametrize("name", sorted(DEVICE_FAMILIES))
def test_families_on_devices_are_read_as_they_are_placed(name: str) -> None:
    """With two of the five scopes that are usual there: each operation has its own."""
    family = chosen(name, chosen_annotations(["DV.R", "ALL"]))[""]
    titles = set()
    for number, test in enumerate(family.tests()):
        assert test.title not in titles
        titles.add(test.title)
        if number % 50 == 0:
            program = read_program(Source(test.file, test.text))
            assert len({thread.device for thread in program.threads}) == test.title.count("--") + 1
    assert len(titles) == sum(count for _, count in family.counts())
