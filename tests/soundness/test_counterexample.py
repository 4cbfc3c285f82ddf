"""Both ways to a shortest counterexample: breadth-first search, and the solver where that is too much."""

from __future__ import annotations

import pytest
from checks import MODEL, litmus, scheme_named
from machine.own_machines import program, variant

from rspverify.axiomatic.question import Questions
from rspverify.limits import LimitReached, Limits
from rspverify.machine.firings import enough_steps
from rspverify.machine.machine import Machine
from rspverify.soundness import counterexample
from rspverify.soundness.case import machine_of
from rspverify.soundness.counterexample import shortest_counterexample
from rspverify.soundness.settings import L2, Settings
from rspverify.verdict import Outcome

ORIGINAL = scheme_named("original")
TESTS = [
    "paper/Fig4",
    "paper/Ex4",
    "MP/MP+st.na-st.DV+inc.DV-ld.na",
    "RMW/RMW+inc.WG+inc.WG+st.DV.R@01-2",
    "multi-device/MD+inc.WG+st.DV.R+inc.DV@0-1--2",
]


@pytest.mark.parametrize("l2", L2)
@pytest.mark.parametrize("name", TESTS)
def test_search_and_solver_are_equally_short(
    name: str, l2: L2, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = litmus(f"rsp/{name}")
    machine = machine_of(ORIGINAL.compiled(program), Settings(l2=l2))
    allowed = set(Questions(program, MODEL, Limits()).outcomes())
    by_search = shortest_counterexample(machine, lambda it: it not in allowed, Limits())
    monkeypatch.setattr(counterexample, "_STATES", 10)
    by_solver = shortest_counterexample(machine, lambda it: it not in allowed, Limits())
    assert by_search.shortest
    assert by_solver.shortest
    assert len(by_search.schedule) == len(by_solver.schedule)
    for found in (by_search, by_solver):
        assert found.outcome not in allowed
        for place in range(len(found.schedule)):
            shorter = [*found.schedule[:place], *found.schedule[place + 1 :]]
            outcome = found.replayer.outcome(shorter)
            assert outcome is None or outcome in allowed


def test_search_alone_where_no_number_of_steps_is_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    """Then the solver could say nothing about all executions."""
    its = variant("step BACK of workgroup, location x when L1.VALID[x] do memory[x] := L1.data[x]")
    machine = Machine(program(its, "ST x 1"))
    assert enough_steps(machine).unbounded == "BACK"
    monkeypatch.setattr(counterexample, "_STATES", 1)

    def wrong(outcome: Outcome) -> bool:
        return outcome.memory == (("x", 1),)

    found = shortest_counterexample(machine, wrong, Limits())
    assert found.shortest and len(found.schedule) == 3
    with pytest.raises(LimitReached):
        shortest_counterexample(machine, wrong, Limits(states=1))
