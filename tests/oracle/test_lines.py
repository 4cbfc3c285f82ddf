"""Remark 1 of the RSP paper: that cachelines of several locations add no behaviour.

docs/quickrelease.md says what comes of it.
"""

import random

import pytest

from . import machine, model, schemes
from .lines import LinesMachine
from .test_oracle import EXAMPLE_4, MP, fetch_inc, load, outcome, program, store

SCHEMES = {"original": schemes.ORIGINAL, "proposed": schemes.PROPOSED}
KINDS = {
    "": {},
    "fetching only what is clean": {"merging": False},
    "allocating": {"allocating": True},
}


def by_location(source, scheme):
    compiled = schemes.compile_program(source, SCHEMES[scheme])
    return machine.outcomes_and_stuck(machine.Machine(compiled, evict=False, l2_is_memory=True))


def by_line(source, scheme, lines=None, **kind):
    compiled = schemes.compile_program(source, SCHEMES[scheme])
    return machine.outcomes_and_stuck(
        LinesMachine(compiled, lines or [set(compiled["initial"])], **kind)
    )


def random_source(rng):
    """A source program of two threads and three or four operations, on two locations."""
    atomic = {x for x in "xy" if rng.random() < 0.7}
    threads = []
    for workgroup in (0, rng.choice([0, 1, 1])):
        operations = []
        for place in range(rng.choice([1, 2])):
            rid, x = 10 * len(threads) + place, rng.choice("xy")
            scope, remote = rng.choice(["WG", "DV"]), rng.random() < 0.4
            kind = rng.choice([load, store, fetch_inc] if x in atomic else [load, store])
            values = [rid + 1] if kind is store else []
            how = [scope, remote] if x in atomic else []
            operations.append(kind(rid, x, *values, *how))
        threads.append((workgroup, operations))
    return program(atomic, *threads)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_lines_add_no_outcome(scheme):
    rng = random.Random(3)
    for _ in range(20):
        source = random_source(rng)
        fine, fine_stuck = by_location(source, scheme)
        for kind in KINDS.values():
            coarse, coarse_stuck = by_line(source, scheme, **kind)
            assert coarse <= fine
            assert coarse_stuck or not fine_stuck
            assert scheme == "original" or not coarse_stuck


def test_a_line_of_one_location_is_the_paper_s():
    rng = random.Random(4)
    for _ in range(4):
        source = random_source(rng)
        for scheme in SCHEMES:
            alone = [{"x"}, {"y"}]
            assert by_line(source, scheme, alone) == by_location(source, scheme)


def test_a_line_can_hide_the_first_mistake_of_original():
    """Fig. 4 needs an old x beside a new y: with both in one line, they are fetched together."""
    stale = outcome({3: 1, 4: 0}, {"x": 42, "y": 1})
    assert by_location(MP, "original")[0] - by_line(MP, "original")[0] == {stale}
    assert by_line(MP, "original", [{"x"}, {"y"}])[0] == by_location(MP, "original")[0]
    assert by_line(EXAMPLE_4, "original")[0] - model.outcomes(EXAMPLE_4)[0]


def test_locking_lines_can_get_original_stuck():
    """A remote load locks the line of x while it waits for y, of the same line, to be flushed."""
    source = program({"x"}, (0, [load(1, "x", "DV", True)]), (1, [store(2, "y", 1)]))
    assert not by_location(source, "original")[1]
    assert by_line(source, "original")[1]
    assert not by_line(source, "proposed")[1]


def test_without_a_mask_lines_lose_stores():
    """With one dirty bit for a line, a flush brings out old values of what nobody wrote here."""
    source = program(set(), (0, [store(1, "x", 1)]), (1, [store(2, "y", 2)]))
    lost = {outcome({}, {"x": 0, "y": 2}), outcome({}, {"x": 1, "y": 0})}
    for scheme in SCHEMES:
        assert by_line(source, scheme, mask=False)[0] - model.outcomes(source)[0] == lost
