"""Compare-exchanges in hunts: enumerated, decided by formula, and each as by itself."""

from __future__ import annotations

import random

import pytest
from engineering.hunt.agreement import MODEL, QUICK, said
from engineering.hunt.tables import ROOT, scheme
from enumeration.written import packed_line

import rspverify
from rspverify.engineering.hunt.finding import By
from rspverify.engineering.hunt.formula.template import Template
from rspverify.engineering.hunt.operations import hunting_space
from rspverify.engineering.hunt.strategy import program_named
from rspverify.enumeration.lemmas import Sort, sort_of
from rspverify.enumeration.naming import line_of
from rspverify.enumeration.packed import decoded, encoded
from rspverify.enumeration.races import races
from rspverify.enumeration.space import Space
from rspverify.enumeration.survey import Survey
from rspverify.enumeration.tables import Tables
from rspverify.scheme.reader import read_scheme
from rspverify.smt.term import Term
from rspverify.soundness.case import Case
from rspverify.soundness.check import check
from rspverify.source import InputError, Source
from rspverify.verdict import Word


def test_one_that_expects_another_value_would_be_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """In the formula alone: what succeeds by itself fails there."""
    table = scheme("amdgpu/gfx90a")
    space = hunting_space(table, (2, 2, 2, 2, 1, None), ["cas.ALL"], mixed=False)[0]
    assert said(space, table).broken
    real = Template.values.fget
    assert real is not None

    def other(self: Template) -> dict[int, dict[int, Term]]:
        return {at: {it + 1: term for it, term in one.items()} for at, one in real(self).items()}

    monkeypatch.setattr(Template, "values", property(other))
    found = said(space, table)
    assert found.suspected > found.chosen


WILD = """
name: wild
machine: rsp
rows:
  - {op: load,  scope: [na, wg], code: [INV_L1 DV, LD r x, UL_L2 x]}
  - {op: store, scope: [na, wg], code: [UL_rmw DV, ST r x]}
  - {op: cas,   scope: wg,       code: [RMW_L2 r x, INV_L1 WG]}
  - {op: cas,   scope: dv,       code: [LK_rmw DV, RMW_L1 r x]}
"""


def test_no_scheme_breaks_what_work_groups_do_not_share() -> None:
    """Not even one that frees the locks of others and publishes nothing."""
    table = read_scheme(Source("wild.yaml", WILD))
    space = Space(events=3, operations=("ld.na", "st.na", "ld.WG", "st.WG", "cas.WG", "cas.DV"))
    listing = Survey(space.within(4), MODEL)
    for _ in listing.phases(upto=3):
        pass
    alone = [decoded(it) for it in listing.growing(3)]
    alone = [
        it
        for it in alone
        if sort_of(it, Tables(space)) is Sort.ALONE and "cas" in line_of(it, space)
    ]
    words = {
        check(Case(program_named(each, space), table, MODEL, QUICK)).word
        for each in random.Random(6).sample(alone, 40)
    }
    assert words == {Word.SOUND, Word.VACUOUS}


def test_both_ways_of_a_hunt_find_the_same() -> None:
    """Two compare-exchanges of all devices meet in two L2s, where memory is coarse-grained."""
    found = {}
    for by in By:
        report = rspverify.hunt(
            ROOT / "schemes/amdgpu/gfx90a.yaml",
            events=2,
            threads=2,
            devices=2,
            by=by,
            scopes=["ALL"],
            kinds=["cas"],
        ).report()
        assert report.complete and report.sound and report.switches == ("FINE_GRAINED",)
        assert report.space.operations == ("cas.ALL",)
        found[by] = [(it.events, it.threads) for it in report.findings]
        assert "cas.ALL x 0 10" in report.findings[0].program
    assert found[By.FORMULA] == found[By.PROGRAMS] == [(2, 2)]


@pytest.mark.parametrize(
    ("line", "racy"),
    [
        ("r0=cas.DV x 0 10; if r0==1: st.na y 20 || r0=cas.DV x 0 30; if r0==1: st.na y 40", False),
        ("r0=cas.DV x 0 10; if r0==1: st.na y 20 || r0=cas.DV x 10 30; if r0==1: st.na y 40", True),
        ("st.na x 10; r0=cas.DV y 0 20 || r0=cas.DV y 20 30; if r0==1: r1=ld.na x", False),
        ("st.na x 10; r0=cas.rlx.DV y 0 20 || r0=cas.DV y 20 30; if r0==1: r1=ld.na x", True),
        ("st.na x 10; r0=cas.DV y 0 20 || r0=cas.rlx.DV y 20 30; if r0==1: r1=ld.na x", True),
        ("r0=cas.WG x 1 10 || r0=ld.WG x", False),
        ("r0=cas.WG x 0 10 || r0=ld.WG x", True),
    ],
)  # fmt: skip
def test_what_races(line: str, racy: bool) -> None:
    """A compare-exchange that cannot succeed writes nothing; one that fails synchronises nothing."""
    shape, space = packed_line(line)
    assert line_of(shape, space) == line
    assert decoded(encoded(shape)) == shape
    assert races(shape, Tables(space)) is racy
    program = program_named(shape, space)
    word = check(Case(program, scheme("proposed-full"), MODEL, QUICK)).word
    assert (word is Word.RACY) is racy


def test_a_row_that_can_only_add_compiles_no_compare_exchange() -> None:
    """Formulas take the code of a row as it is; that it fits the operation is said before."""
    table = scheme("proposed")
    names = ["cas.WG", "ld.WG"]
    space, left_out = hunting_space(table, (2, 2, 2, 1, 1, None), names, mixed=False)
    assert space.operations == ("ld.WG",)
    assert left_out == (("cas.WG", "its row 7, rmw WG,_, can only add"),)
    for by in By:
        assert rspverify.hunt(table, events=2, operations=names, by=by).report().space.left_out
    with pytest.raises(InputError) as error:
        hunting_space(table, (2, 2, 2, 1, 1, None), ["cas.WG"], mixed=False)
    assert "can only add" in str(error.value.problems[0].hint)
