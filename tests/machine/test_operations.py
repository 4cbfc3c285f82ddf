"""Read-modify-writes of any operation, and loops that are cut off, by every engine."""

import random

import pytest
from machine.engines import (
    Outcomes,
    Unrolled,
    events_outcomes,
    machine_of,
    random_programs,
    searched,
)
from programs import assembly, listing, with_cut

from rspverify.assembly.program import AssemblyProgram
from rspverify.limits import LimitReached, Limits
from rspverify.machine.explicit import ExplicitMachine
from rspverify.machine.firings import enough_steps
from rspverify.machine.replay import Replayer
from rspverify.machine.state_graph import find_hang
from rspverify.records import replace
from rspverify.value import Constant, evaluate
from rspverify.verdict import Outcome

HERE, NEAR = (0, 0), (0, 1)


def not_cut(program: AssemblyProgram, outcome: Outcome) -> bool:
    values = dict(outcome.reads)
    return not any(evaluate(cut, values) for cut in program.cuts)


@pytest.mark.parametrize("name, count, decided", [("small", 60, 25), ("tiny, two devices", 30, 10)])
def test_what_is_cut_off_is_left_out_and_nothing_else(name: str, count: int, decided: int) -> None:
    """A cut looks at values read alone, so that it leaves out outcomes as a whole."""
    some_left_out = 0
    for number, program in enumerate(random_programs(name, count, "cut ")):
        whole = machine_of(program)
        program = with_cut(random.Random(f"cut {name} {number}"), program)
        machine = machine_of(program)
        try:
            everything = searched(whole, 4_000)
        except LimitReached:
            continue
        wanted: Outcomes = frozenset(it for it in everything if not_cut(program, it))
        assert searched(machine) == wanted, listing(program)
        assert events_outcomes(machine) == wanted, listing(program)
        if enough_steps(machine).total <= 16:
            assert Unrolled(machine).outcomes() == wanted, listing(program)
        some_left_out += wanted < everything
    assert some_left_out >= decided


def test_the_replayer_does_not_take_what_is_cut_off_for_an_end() -> None:
    program = assembly((HERE, ["ST x 1"]), (NEAR, ["LD x"]))
    rules = ExplicitMachine(machine_of(program)).shortest(lambda _: True, Limits())
    assert rules is not None
    outcome = Replayer(machine_of(program)).outcome(rules)
    assert outcome is not None
    always = replace(program, cuts=(Constant(1),))
    assert Replayer(machine_of(always)).outcome(rules) is None


def test_a_spin_lock_by_compare_exchange_is_taken_by_one() -> None:
    """Two threads that each try once: one at least succeeds, and never both before a release."""
    program = assembly((HERE, ["RMW_L2 x 0?1"]), (NEAR, ["RMW_L2 x 0?2"]))
    assert {(it.reads, it.memory) for it in searched(machine_of(program))} == {
        (((0, 0), (1, 1)), (("x", 1),)),
        (((0, 2), (1, 0)), (("x", 2),)),
    }


def test_a_deadlock_beside_a_loop_that_was_cut_off_is_none() -> None:
    """P0 waits for a lock that P1 keeps; with a loop cut off in P1, it might have freed it."""
    program = assembly((HERE, ["LK_L2 x"]), (NEAR, ["LK_L2 x", "LD y"]))
    for cuts, cut in (((), False), ((Constant(1),), True)):
        machine = machine_of(replace(program, cuts=cuts))
        assert (find_hang(machine, Limits()).hang is None) == cut
