"""Compare-exchanges in hunts: enumerated, decided by formula, and each as by itself."""

from __future__ import annotations

import pytest
from engineering.hunt.agreement import said
from engineering.hunt.tables import scheme, short_of_all_devices

import rspverify
from rspverify.engineering.hunt.finding import By
from rspverify.engineering.hunt.formula.template import Template
from rspverify.engineering.hunt.operations import hunting_space
from rspverify.smt.term import Term
from rspverify.source import InputError


def test_one_that_expects_another_value_would_be_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """In the formula alone: what succeeds by itself fails there."""
    table = short_of_all_devices()
    space = hunting_space(table, (2, 2, 2, 2, 1, None), ["cas.ALL"], mixed=False)[0]
    assert said(space, table).broken
    real = Template.values.fget
    assert real is not None

    def other(self: Template) -> dict[int, dict[int, Term]]:
        return {at: {it + 1: term for it, term in one.items()} for at, one in real(self).items()}

    monkeypatch.setattr(Template, "values", property(other))
    found = said(space, table)
    assert found.suspected > found.chosen


def test_both_ways_of_a_hunt_find_the_same() -> None:
    """Two compare-exchanges of all devices that reach no further than one meet in two L2s."""
    found = {}
    table = short_of_all_devices()
    for by in (By.FORMULA, By.PROGRAMS):
        report = rspverify.hunt(
            table,
            events=2,
            threads=2,
            devices=2,
            by=by,
            scopes=["ALL"],
            kinds=["cas"],
        ).report()
        assert not report.sound and report.switches == ()
        assert report.space.operations == ("cas.ALL",)
        found[by] = [(it.events, it.threads) for it in report.findings]
        assert "cas.ALL x 0 10" in report.findings[0].program
    assert found[By.FORMULA] == found[By.PROGRAMS] == [(2, 2)]


def test_a_row_that_can_only_add_compiles_no_compare_exchange() -> None:
    """Formulas take the code of a row as it is; that it fits the operation is said before."""
    table = scheme("proposed")
    names = ["cas.WG", "ld.WG"]
    space, left_out = hunting_space(table, (2, 2, 2, 1, 1, None), names, mixed=False)
    assert space.operations == ("ld.WG",)
    assert left_out == (("cas.WG", "its row 7, rmw WG,_, can only add"),)
    for by in (By.FORMULA, By.PROGRAMS):
        assert rspverify.hunt(table, events=2, operations=names, by=by).report().space.left_out
    with pytest.raises(InputError) as error:
        hunting_space(table, (2, 2, 2, 1, 1, None), ["cas.WG"], mixed=False)
    assert "can only add" in str(error.value.problems[0].hint)
