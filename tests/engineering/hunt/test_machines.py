"""What is left out of a hunt is proved for some machines, and left out on no other."""

from __future__ import annotations

from pathlib import Path

import pytest

import rspverify
from rspverify.architecture import MACHINES, machine_named
from rspverify.engineering.hunt.assumptions import proved_for

PROVED = ("rsp", "rsp-coherent-l2", "rsp-inv-l2", "rsp-lines", "rsp-st-waits")

LOSES_STORES = """
machine loses "a store may be dropped before it is flushed"
include rsp
step DROP of workgroup, location x
  when L1.DIRTY[x]
  do   L1.DIRTY[x] := false; L1.VALID[x] := false
"""


@pytest.mark.parametrize("name", MACHINES)
def test_the_machines_that_the_lemmas_are_proved_for(name: str) -> None:
    """If this fails as what a machine says has changed, read the proofs again first."""
    assert proved_for(MACHINES[name]) is (name in PROVED)


def test_formulas_are_for_machines_that_events_knows() -> None:
    """The lemmas hold by lines as well, but no formula has a flush of several locations."""
    settings = rspverify.Settings(machine="rsp-lines")
    found = rspverify.hunt("proposed", events=2, threads=2, settings=settings).report()
    assert found.sound and found.phases[-1].to_decide == 26
    assert found.method.why_by_programs is not None
    assert (
        "the engine events knows: nothing bounds how often FLUSH_L1" in found.method.why_by_programs
    )


def test_a_machine_on_which_one_thread_goes_wrong_is_found_out(tmp_path: Path) -> None:
    """One thread stores x and reads it: nothing that the lemmas would have asked about."""
    place = tmp_path / "loses.machine"
    place.write_text(LOSES_STORES)
    settings = rspverify.Settings(machine=str(place))
    found = rspverify.hunt("proposed", events=2, threads=1, settings=settings).report()
    assert found.findings
    assert not proved_for(machine_named(str(place)))
