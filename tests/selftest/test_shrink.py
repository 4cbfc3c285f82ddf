"""Shrinking: what matters stays, all else goes, and the result is still a pair."""

from __future__ import annotations

import pytest

from rspverify.litmus.program import Kind, Scope
from rspverify.litmus.reader import read_program
from rspverify.programs.writer import litmus_text
from rspverify.scheme.reader import read_scheme
from rspverify.scheme.writer import scheme_text
from rspverify.selftest.compare import Difference
from rspverify.selftest.run import random_pair
from rspverify.selftest.shrink import Pair, Shown, shrink
from rspverify.source import Source
from rspverify.value import Constant

FOUND = Difference(("outcomes", "a", "b"), "found")


def shown_if(wanted: Shown) -> Shown:
    """The same, and the pair must be one that can be decided."""

    def shown(pair: Pair) -> Difference | None:
        if not pair.test.accesses:
            return None  # a scheme must have a row
        program = read_program(Source("t.litmus", litmus_text(pair.test, "t")))
        read_scheme(Source("s.yaml", scheme_text(pair.scheme))).compiled(program)
        return wanted(pair)

    return shown


def rmw_at_dv(pair: Pair) -> Difference | None:
    found = any(it.kind is Kind.RMW and it.scope is Scope.DV for it in pair.test.accesses)
    return FOUND if found else None


def two_places_and_an_invalidation(pair: Pair) -> Difference | None:
    apart = len({it.place for it in pair.test.threads}) > 1
    rows = pair.scheme.rows
    invalidates = any(it.mnemonic.name == "INV_L1" for row in rows for it in row.code)
    return FOUND if apart and invalidates else None


def guarded(pair: Pair) -> Difference | None:
    return FOUND if any(it.guards for it in pair.test.accesses) else None


@pytest.mark.parametrize(
    ("wanted", "statements", "instructions"),
    [(rmw_at_dv, 1, 1), (two_places_and_an_invalidation, 1, 2), (guarded, 2, 2)],
)
def test_only_what_is_shown_stays(wanted: Shown, statements: int, instructions: int) -> None:
    tried = 0
    for number in range(60):
        pair = random_pair(21, number)
        shown = shown_if(wanted)
        if shown(pair) is None:
            continue
        small, difference = shrink(pair, shown, FOUND)
        test, scheme = small.test, small.scheme
        assert difference is FOUND and wanted(small)
        assert len(test.accesses) == statements, litmus_text(test, "t")
        assert sum(len(row.code) for row in scheme.rows) <= instructions, scheme_text(scheme)
        assert all(it.value in (None, Constant(1)) for it in test.accesses)
        assert all(x.initial == 0 for x in test.locations)
        assert scheme.machine.name == "rsp"
        tried += 1
        if tried == 4:
            return
    raise AssertionError("too few pairs show it")


def test_what_cannot_be_made_smaller_is_left_alone() -> None:
    pair = random_pair(21, 0)
    assert shrink(pair, lambda smaller: None, FOUND) == (pair, FOUND)
