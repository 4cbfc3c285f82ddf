"""The notation of shapes, groupings, and the text of a test."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rspverify.generate import (
    DEVICE_FAMILIES,
    Access,
    Grouping,
    groupings,
    groupings_on_devices,
    litmus_text,
    read_shape,
)
from rspverify.litmus import read_program
from rspverify.source import Source


def test_a_shape() -> None:
    assert read_shape("st.na x 5; inc.DV.R y || r0=ld.s y; if r0==1: r1=ld.na x") == (
        (Access("st", "na", "x", 5), Access("inc", "DV.R", "y")),
        (Access("ld", "s", "y", None, "r0"), Access("ld", "na", "x", None, "r1", ("r0", 1))),
    )


@pytest.mark.parametrize("text", ["st.na x", "ld.na x 1", "load.na x", "st x 1", "if r0: inc.WG x"])
def test_what_is_not_in_the_notation(text: str) -> None:
    with pytest.raises(ValueError, match=re.escape(text)):
        read_shape(text)


@pytest.mark.parametrize(("threads", "count"), [(1, 1), (2, 2), (3, 5), (4, 15), (5, 52)])
def test_groupings_are_all_partitions(threads: int, count: int) -> None:
    found = list(groupings(threads))
    assert len(set(found)) == len({each.suffix for each in found}) == count
    for each in found:
        assert sorted(sum(each.workgroups, ())) == list(range(threads))
        assert list(each.workgroups) == sorted(map(tuple, map(sorted, each.workgroups)))


@pytest.mark.parametrize(("threads", "count"), [(1, 0), (2, 1), (3, 7), (4, 45)])
def test_groupings_on_devices(threads: int, count: int) -> None:
    """As many as pairs of a partition and a coarser one that has two parts or more."""
    found = list(groupings_on_devices(threads))
    assert len(found) == len({each.suffix for each in found}) == count
    for each in found:
        assert sorted(sum(each.workgroups, ())) == list(range(threads))
        assert each.devices is not None and len(each.devices) > 1
        assert sorted(sum(each.devices, ())) == list(range(len(each.workgroups)))


def test_suffixes_of_devices() -> None:
    two = Grouping(((0, 2), (1,), (3,)), ((0, 2), (1,)))
    assert two.suffix == "@02-3--1"
    assert two.tree == (
        "(system (device (work_group P0 P2) (work_group P3)) (device (work_group P1)))"
    )


@pytest.mark.parametrize("name", sorted(DEVICE_FAMILIES))
def test_families_on_devices_are_read_as_they_are_placed(name: str) -> None:
    titles = set()
    for number, test in enumerate(DEVICE_FAMILIES[name].tests()):
        assert test.title not in titles
        titles.add(test.title)
        if number % 250 == 0:
            program = read_program(Source(test.file, test.text))
            assert len({thread.device for thread in program.threads}) == test.title.count("--") + 1
    assert len(titles) == sum(count for _, count in DEVICE_FAMILIES[name].counts())


def test_suffixes() -> None:
    assert Grouping(((0,), (1,))).suffix == ""
    assert Grouping(((0, 2), (1,))).suffix == "@02-1"
    assert Grouping(((0, 2), (1,))).tree == "(device (work_group P0 P2) (work_group P1))"


REACHES = st.sampled_from(("WG", "DV", "ALL", "WG.R", "DV.R", "ALL.R"))
ACCESSES = st.builds(
    lambda kind, reach, location, value, number: Access(
        kind,
        reach,
        location,
        value if kind == "st" else None,
        None if kind == "st" else f"r{number}",
    ),
    st.sampled_from(("st", "ld", "inc")),
    REACHES,
    st.sampled_from("xyz"),
    st.integers(0, 9),
    st.integers(0, 9),
)


@given(st.lists(ACCESSES, min_size=1, max_size=6, unique_by=lambda each: each.register or each))
def test_what_is_written_is_read_back(thread: list[Access]) -> None:
    text = litmus_text("T", (tuple(thread),), Grouping(((0,),)))
    operations = read_program(Source("T", text)).threads[0].operations
    names = {"load": "ld", "store": "st", "rmw": "inc"}
    read = [
        (names[each.kind.value], f"{each.scope.value}{'.R' * each.remote}", each.location)
        for each in operations
        if each.scope
    ]
    assert read == [(each.kind, each.reach, each.location) for each in thread]
    values = [each.value.value for each in operations if names[each.kind.value] == "st"]
    assert values == [each.value for each in thread if each.kind == "st"]
