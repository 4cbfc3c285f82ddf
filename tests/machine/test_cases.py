"""Accesses that wait in queues, and instructions that do one thing or another: events has them all."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from machine.any_engine import differences
from machine.engines import events_outcomes, searched
from machine.own_machines import program, variant
from machine.planted import keep_nothing
from machine.queued import queued
from oracle.any_machine import outcomes
from pytest import MonkeyPatch

from rspverify.machine.cases import Case, InCases
from rspverify.machine.events import Events
from rspverify.machine.machine import Machine, unbounded
from rspverify.machine.rules import Deliver, Rule
from rspverify.records import replace
from rspverify.smt.term import TRUE

LINE = queued()
DEVICE = queued(queue_of=1)

PROGRAMS = {
    "two stores of a location stay in order": (LINE, ["ST x 1; ST x 2", "LDG x; WAIT; LDG x"]),
    "stores of two locations need not": (LINE, ["ST x 1; ST y 1", "LDG y; WAIT; LDG x"]),
    "a load hits or misses": (LINE, ["LD x; LD x", "ST x 1"]),
    "a line that is missed is gone": (LINE, ["LD x; WAIT; LD x; WAIT; LD x", "ST x 1"]),
    "what misses may be filled again": (LINE, ["LD x; LD x; LD x", "RMW x 1"]),
    "a load sees a store that is not yet in memory": (LINE, ["ST x 1; LD x", "LDG x; LD x"]),
    "a wait is for the own": (LINE, ["ST x 1; WAIT; ST y 1", "LDG y; WAIT; INV; LD x"]),
    "a load may complete after what follows it": (
        LINE,
        ["LD x; ST y 1", "LDG y; ST x 1 if 2=1"],
    ),
    "one queue for all": (DEVICE, ["ST x 1; LDG x", "ST x 2; LDG x"]),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_accesses_that_wait(name: str) -> None:
    its, code = PROGRAMS[name]
    assert unbounded(its) is None
    made = program(its, *code)
    assert differences(made, 6_000) == {}
    found = {(it.reads, it.memory) for it in events_outcomes(Machine(made))}
    assert found == outcomes(made, 6_000)


def test_what_never_fires_has_no_case_but_one_that_never_does() -> None:
    never = "instruction NEVER x when L1.VALID[x], not L1.VALID[x] do if L1.DIRTY[x] { free rmw }"
    for code in (["ST x 1; NEVER x", "LD x"], ["ST x 1", "LD x"]):
        assert differences(program(variant(never), *code), 6_000) == {}


def out_of_turn(patch: MonkeyPatch) -> None:
    """An instruction may leave a fifo before what entered it earlier."""
    patch.setattr(Events, "_in_turn", lambda self, fifo, at: TRUE)


def what_is_missed_stays(patch: MonkeyPatch) -> None:
    """Who wants a bit false takes it as it is."""
    original = InCases._case

    def case(self: InCases, rule: Rule, whole: Rule) -> Case:
        made = original(self, rule, whole)
        lost = len(made.steps) - 1
        return replace(made, rule=replace(made.rule, updates=made.rule.updates[lost:]))

    patch.setattr(InCases, "_case", case)


def hits_alone(patch: MonkeyPatch) -> None:
    """A load finds its line."""
    original = InCases.of

    def of(self: InCases, rule: Rule) -> list[Case]:
        found = original(self, rule)
        hits = [it for it in found if any(isinstance(u, Deliver) for u in it.rule.updates)]
        return hits if len(found) > 1 else found

    patch.setattr(InCases, "of", of)


@pytest.mark.parametrize(
    "plant, name",
    [
        (out_of_turn, "two stores of a location stay in order"),
        (hits_alone, "a load may complete after what follows it"),
        (what_is_missed_stays, "a line that is missed is gone"),
    ],
)
def test_a_planted_mistake_is_noticed(
    plant: Callable[[MonkeyPatch], None], name: str, monkeypatch: MonkeyPatch
) -> None:
    its, code = PROGRAMS[name]
    made = program(its, *code)
    expected = searched(Machine(made), 20_000)
    keep_nothing(monkeypatch)
    plant(monkeypatch)
    assert events_outcomes(Machine(made)) != expected


def test_a_bit_that_later_steps_of_other_instructions_clear() -> None:
    its = variant(
        "state { count : pool of thread  go : bit of thread }\n"
        "instruction GET r x do add self to count\n"
        " later LOAD when self in count do r := memory[x]; remove self from count\n"
        " later CLEAR when go do go := false\ninstruction GO do go := true"
    )
    for code in ("GO; LD x", "GO; GET x", "GET x; GO"):
        assert differences(program(its, code, "ST x 1"), 6_000) == {}


def test_a_pool_that_nothing_enters_as_a_switch_is_off() -> None:
    its = variant(
        "state { count : pool of thread }\nswitch ON\n"
        "instruction GET r x do r := memory[x]; if ON { add self to count }\n"
        " later DONE when self in count do remove self from count\n"
        "instruction WAIT when empty count"
    )
    assert differences(program(its, "GET x; WAIT", "ST x 1"), 6_000) == {}
