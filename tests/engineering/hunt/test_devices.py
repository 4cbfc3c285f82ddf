"""Formulas for programs on several devices, and for rows that store again: as program by program."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations, product

import pytest
from engineering.hunt.agreement import MODEL, said
from engineering.hunt.tables import scheme, short_of_all_devices, without

from rspverify.assembly.program import ThreadId
from rspverify.engineering.hunt.finding import By
from rspverify.engineering.hunt.formula import template
from rspverify.engineering.hunt.formula.sketch import Sketch, sketches
from rspverify.engineering.hunt.formula.template import parted
from rspverify.engineering.hunt.hunt import Hunt, HuntSetup
from rspverify.engineering.hunt.operations import hunting_space
from rspverify.enumeration.space import Space
from rspverify.judge.judge import Judge
from rspverify.scheme.row import Row
from rspverify.scheme.row import Template as RowTemplate
from rspverify.scheme.scheme import Scheme
from rspverify.soundness.settings import Settings


def on_devices(table: Scheme, *names: str, events: int = 2, locations: int = 2) -> Space:
    bounds = (events, 2, 2, 2, locations, None)
    return hunting_space(table, bounds, names, mixed=False)[0]


@pytest.mark.parametrize("lengths", [(1, 1), (1, 1, 1), (2, 1), (2, 1, 1), (1, 1, 1, 1)])
@pytest.mark.parametrize(("devices", "workgroups"), [(1, 4), (2, 2), (2, 4), (3, 3)])
def test_threads_are_put_on_devices_in_every_way(
    lengths: tuple[int, ...], devices: int, workgroups: int
) -> None:
    """Each way once, up to names: as many as there are by trying all names."""
    count = len(lengths)
    space = Space(
        devices=devices, workgroups=workgroups, locations=1, operations=("inc.DV",), again=True
    )
    found = [it.places for it in sketches(space, sum(lengths), count) if it.lengths == lengths]
    places = list(product(range(devices), range(workgroups)))
    ways = {
        _unnamed(each, lengths)
        for each in product(places, repeat=count)
        if len(set(each)) <= workgroups
    }
    assert len(found) == len(ways)
    assert {_unnamed(each, lengths) for each in found} == ways


def _unnamed(places: Sequence[tuple[int, int]], lengths: tuple[int, ...]) -> object:
    """Who is together with whom, under those names of equally long threads that make it least."""
    orders = permutations(range(len(lengths)))
    named = [
        [places[it] for it in order]
        for order in orders
        if tuple(lengths[it] for it in order) == lengths
    ]
    return min(tuple((a == b, a[0] == b[0]) for a, b in product(it, repeat=2)) for it in named)


def test_a_formula_of_one_device_alone_would_be_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Increments meet in the L2 that they share: nothing goes wrong where all threads are."""
    table = short_of_all_devices()
    space = on_devices(table, "inc.ALL", "st.ALL")
    assert said(space, table).broken == {
        "r0=inc.ALL x || r0=inc.ALL x @0--1",
        "st.ALL x 10 || r0=inc.ALL x @0--1",
    }
    monkeypatch.setattr(
        Sketch,
        "threads",
        property(lambda it: tuple(ThreadId(0, n, n) for n in (0, 1)[: len(it.places)])),
    )
    found = said(space, table)
    assert found.suspected != found.chosen


def test_a_formula_that_stores_once_would_be_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """An increment of the same work-group comes between the two stores of a row, and is lost."""
    table = without(scheme("proposed-multi-device"), "st.WG", "LK_rmw DV", "UL_rmw DV")
    space = on_devices(table, "st.WG", "inc.DV", locations=1)
    assert said(space, table).chosen == {"st.WG x 10 || r0=inc.DV x @01"}

    def once(row: Row) -> tuple[tuple[RowTemplate, ...], list[list[RowTemplate]]]:
        accesses, beside = parted(row)
        return accesses[:1], [beside[0], [it for each in beside[1:] for it in each]]

    monkeypatch.setattr(template, "parted", once)
    assert said(space, table).chosen != {"st.WG x 10 || r0=inc.DV x @01"}


def test_the_remote_load_without_locks_is_found_on_two_devices() -> None:
    """What a hunt program by program found in `proposed-multi-device` when it had no such locks."""
    table = without(scheme("proposed-multi-device"), "ld.ALL.R", "LK_rmw SY", "UL_rmw SY")
    space = on_devices(table, "ld.ALL.R", "st.DV", "inc.DV", events=3, locations=1)
    setup = HuntSetup(table, "", MODEL, space, (), Settings(), By.FORMULA, count=False, first=True)
    (found,) = Hunt(setup, Judge()).run().findings
    assert (found.events, found.threads) == (3, 2) and found.program.endswith("@0--1")
    assert [row.number for row in found.blamed] == [5]
