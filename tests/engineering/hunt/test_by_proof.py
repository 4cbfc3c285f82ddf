"""Hunts that a proof decides: those of its operations alone, and what a hunt comes to in the end."""

from __future__ import annotations

from typing import Any

import pytest
from engineering.hunt.tables import scheme

import rspverify
from rspverify.engineering.hunt.finding import By, HuntReport
from rspverify.source import InputError

PROPOSED = scheme("proposed")


def hunted(given: Any, **words: Any) -> HuntReport:
    return rspverify.hunt(given, **{"events": 2, "threads": 2, **words}).report()


def test_a_proof_says_at_once_that_all_programs_are_sound() -> None:
    report = hunted("proposed", events=7, threads=7)
    assert report.sound and report.complete and not report.phases
    assert report.proof is not None and report.proof.obligations == {"SYNC": 24, "ATOM": 12}
    assert report.method.by is By.PROOF
    words = str(rspverify.hunt("proposed"))
    assert "PROVED: proposed is sound for all programs of these operations on one device" in words


@pytest.mark.parametrize(
    "beyond",
    [
        {"plain_on_atomic": True},
        {"devices": 2},
        {"by": By.PROGRAMS},
        {"proof": False},
        {"settings": rspverify.Settings(model="opencl-hrf")},
        {"settings": rspverify.Settings(machine="rsp-lines")},
    ],
    ids=str,
)
def test_what_is_beyond_the_proof_is_looked_at(beyond: dict[str, Any]) -> None:
    report = hunted("proposed", **beyond)
    assert report.proof is None and report.phases and report.sound


@pytest.mark.parametrize("name", ["st.rlx.DV", "ld.sc.DV", "cas.DV", "F.ar.DV", "ld.WI"])
def test_operations_that_the_proof_does_not_cover(name: str) -> None:
    """A table that covers others says nothing of programs with one of these."""
    report = hunted("proposed-full", events=1, operations=["ld.na", "st.na", name])
    assert report.proof is None and report.phases


def test_weaker_orders_are_proved_by_their_own_rows() -> None:
    """Acquiring and relaxed loads, one row each; the relaxed one does less than a proof asks."""
    report = hunted("proposed-full", operations=["ld.WG", "st.WG", "inc.rlx.WG", "st.DV.R"])
    assert report.proof is not None
    weak = hunted("proposed-full", operations=["ld.rlx.DV", "st.DV"])
    assert weak.proof is None


def test_of_a_table_that_is_unsound_some_operations_are_proved() -> None:
    """Original's rows 5 and 2 break messages; a remote store after one of a work-group does not."""
    assert hunted("original", operations=["ld.WG", "st.WG", "ld.DV.R", "st.na"]).proof is not None
    afresh = hunted("original", operations=["ld.DV", "st.DV"])
    assert afresh.proof is not None  # Each of its loads looks afresh.
    plain = ["ld.na", "st.na", "ld.DV", "st.DV"]
    assert hunted("original", operations=plain, events=2).proof is None


def test_a_hunt_ends_once_the_stronger_scheme_is_proved() -> None:
    """Row 6 is blamed of the only program of 2 operations; row 8 is wrong beyond these."""
    report = hunted("original", events=4, operations=["st.DV.R", "inc.WG", "inc.DV"])
    assert [row.number for it in report.findings for row in it.blamed] == [6, 8]
    assert report.method.by is By.FORMULA and report.proof is not None
    assert report.sound and report.complete


def test_a_proof_that_is_asked_for_and_is_not_there() -> None:
    with pytest.raises(InputError, match="original is not proved for this"):
        hunted("original", by=By.PROOF)
