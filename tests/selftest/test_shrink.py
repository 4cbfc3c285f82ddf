"""Shrinking: what matters stays, all else goes, and the result is still a pair."""

from __future__ import annotations

import pytest

from rspverify.litmus import Kind, Scope, read_program
from rspverify.scheme import compile_program, read_scheme
from rspverify.selftest.compare import Difference
from rspverify.selftest.draft import Draft
from rspverify.selftest.run import random_pair
from rspverify.selftest.schemes import Table
from rspverify.selftest.shrink import Shown, shrink
from rspverify.source import Source

FOUND = Difference(("outcomes", "a", "b"), "found")


def shown_if(wanted: Shown) -> Shown:
    """The same, and the pair must be one that can be decided."""

    def shown(draft: Draft, table: Table) -> Difference | None:
        if not draft.statements:
            return None  # a scheme must have a row
        program = read_program(Source("t.litmus", draft.text()))
        compile_program(program, read_scheme(Source("s.yaml", table.text())))
        return wanted(draft, table)

    return shown


def rmw_at_dv(draft: Draft, _: Table) -> Difference | None:
    found = any(it.kind is Kind.RMW and it.scope is Scope.DV for it in draft.statements)
    return FOUND if found else None


def two_places_and_an_invalidation(draft: Draft, table: Table) -> Difference | None:
    apart = len({it.place for it in draft.threads}) > 1
    invalidates = any("INV_L1" in each for code in table.rows.values() for each in code)
    return FOUND if apart and invalidates else None


def guarded(draft: Draft, _: Table) -> Difference | None:
    return FOUND if any(it.guards for it in draft.statements) else None


@pytest.mark.parametrize(
    ("wanted", "statements", "instructions"),
    [(rmw_at_dv, 1, 1), (two_places_and_an_invalidation, 1, 2), (guarded, 2, 2)],
)
def test_only_what_is_shown_stays(wanted: Shown, statements: int, instructions: int) -> None:
    tried = 0
    for number in range(60):
        pair = random_pair(21, number)
        shown = shown_if(wanted)
        if shown(pair.draft, pair.table) is None:
            continue
        draft, table, difference = shrink(pair.draft, pair.table, shown, FOUND)
        assert difference is FOUND and wanted(draft, table)
        assert len(draft.statements) == statements, draft.text()
        assert sum(len(code) for code in table.rows.values()) <= instructions, table.text()
        assert all(it.value is None or it.value.constant == 1 for it in draft.statements)
        assert all(x.initial == 0 for x in draft.locations)
        assert table.machine == "rsp"
        tried += 1
        if tried == 4:
            return
    raise AssertionError("too few pairs show it")


def test_what_cannot_be_made_smaller_is_left_alone() -> None:
    pair = random_pair(21, 0)
    same = shrink(pair.draft, pair.table, lambda draft, table: None, FOUND)
    assert same == (pair.draft, pair.table, FOUND)
