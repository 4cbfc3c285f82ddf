"""Machines for which the proof is known: rsp, and edits of it that lose no fact or only locks."""

from __future__ import annotations

from functools import cache

import pytest
from recorded import EDITS, without

import rspverify
from rspverify.api.inputs import read_scheme, read_test
from rspverify.architecture.machines import machine_named
from rspverify.axiomatic.cat import load_model
from rspverify.litmus.program import Program
from rspverify.proof.machines import LOCKS, facts_of
from rspverify.proof.obligations import obligations
from rspverify.proof.table import proof_table
from rspverify.soundness.case import Case
from rspverify.soundness.check import check
from rspverify.soundness.settings import Settings
from rspverify.verdict import Word


@cache
def small_programs() -> list[Program]:
    """Small tests of releases, increments and remote operations."""
    names = (
        "Fig4",
        "RMW+inc.DV.R+st.DV.R",
        "MP+st.na-inc.DV.R+inc.WG-ld.na",
        "RMW+inc.WG+inc.DV.R+inc.DV.R",
    )
    return [read_test(each) for each in names]


def test_machines_that_ship() -> None:
    """What waits for more is proved, too; what does something else is not."""
    assert facts_of(machine_named("rsp-st-waits")).locks == LOCKS
    assert facts_of(machine_named("rsp-inv-l2")).locks == LOCKS  # rows with INV_L2 are refused
    assert facts_of(machine_named("rsp-lines")).unknown is not None
    (proof,) = rspverify.prove("proposed", settings=Settings(machine="rsp-st-waits"))
    assert proof.word == "PROVED"
    (proof,) = rspverify.prove("proposed", settings=Settings(machine="rsp-lines"))
    assert (proof.word, proof.obligations) == ("NO PROOF", {})
    assert proof.refused[0].startswith("no proof is known for machine rsp-lines: INC_L2 does")


def test_each_condition_counts() -> None:
    """Without any condition of an instruction or a step nothing is known, but that locks keep
    others out no longer, or the step evicts or takes what is CLEAN from a fifo of the L2."""
    known = {(it, place): facts_of(without(it, place)) for it, place in EDITS}
    free = {name for (name, _), it in known.items() if it.unknown is None and it.locks == LOCKS}
    assert free == {"EVICT_L1", "EVICT_L2", "DEQLOC_L2"}
    unlocked = {name for (name, _), it in known.items() if it.unknown is None and it.locks < LOCKS}
    waiting = {"INC_L1", "INC_L2", "RMW_L1", "RMW_L2", "LK_L2", "LK_rmw", "FLUSH_L1", "FETCH_L1"}
    assert unlocked == {*waiting, "FLUSH_L2", "FETCH_L2", "EVICT_L2"}


@pytest.mark.parametrize(("name", "place"), EDITS)
def test_what_is_proved_of_an_edited_machine_holds(name: str, place: int) -> None:
    """Where every obligation of Proposed holds with the facts that are left, its tests are sound on
    the edited machine; where one is broken, the same test as on rsp may be one that shows it."""
    machine = without(name, place)
    scheme = read_scheme("proposed").on_machine(machine)
    table = proof_table(scheme)
    if facts_of(machine).unknown is not None:
        assert not table.operations
        return
    broken = [it for it in obligations(table) if it.failure(table) is not None]
    model = load_model("opencl-rsp")
    words = {check(Case(it, scheme, model, Settings())).word for it in small_programs()}
    assert broken or words == {Word.SOUND}
