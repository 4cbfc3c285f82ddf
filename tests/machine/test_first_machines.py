"""Machines as somebody writes them first: the engine events knows them, and is right about them."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest
from machine.any_engine import differences
from machine.own_machines import program
from pytest import MonkeyPatch

from rspverify.architecture.architecture import Architecture
from rspverify.architecture.reader import read_architecture
from rspverify.machine import cases
from rspverify.machine.event import Event, PossibleEvents
from rspverify.machine.machine import _kept_ground as kept
from rspverify.machine.machine import unbounded
from rspverify.machine.rules import Rule, SetBit, StepRule
from rspverify.source import Source

HEAD = """
machine first "of a test"
places thread < workgroup < device < system
reaches WG = workgroup, DV = device
state { memory[x] : value of system  copy[x] : value of workgroup  VALID[x] : bit of workgroup }
final memory
instruction LD r x when VALID[x] do r := copy[x]
instruction INV s of WG, DV do each workgroup w in s, location y: w.VALID[y] := false
"""
THROUGH = HEAD + "instruction ST r x do memory[x] := r; copy[x] := r; VALID[x] := true\n"
BACK = f"""{HEAD}
state {{ DIRTY[x] : bit of workgroup }}
complete when each workgroup w, location y: not w.DIRTY[y]
instruction ST r x do copy[x] := r; VALID[x] := true; DIRTY[x] := true
step FLUSH of workgroup, location x when DIRTY[x] do memory[x] := copy[x]; DIRTY[x] := false
"""
FETCH = "step FETCH of workgroup, location x{} do copy[x] := memory[x]; VALID[x] := true\n"
EVICT = "step EVICT of workgroup, location x{} do VALID[x] := false\n"
SEE = "instruction SEE x when not VALID[x] do nothing\n"
EITHER = "instruction SEE x when not VALID[x] or DIRTY[x] do nothing\n"

MACHINES = {
    "FETCH at any time": THROUGH + FETCH.format(""),
    "FETCH where VALID is false": THROUGH + FETCH.format(" when not VALID[x]"),
    "SEE waits until VALID is false": THROUGH + FETCH.format("") + SEE,
    "and FETCH does": THROUGH + FETCH.format(" when not VALID[x]") + SEE,
    "EVICT": THROUGH + FETCH.format(" when not VALID[x]") + EVICT.format(" when VALID[x]"),
    "EVICT and SEE": THROUGH + FETCH.format(" when not VALID[x]") + EVICT.format("") + SEE,
    "DIRTY": BACK + FETCH.format(" when not DIRTY[x]") + EVICT.format(" when not DIRTY[x]"),
    "DIRTY, FETCH where VALID is false": BACK + FETCH.format(" when not VALID[x], not DIRTY[x]"),
    "DIRTY, EVICT": BACK
    + FETCH.format(" when not VALID[x], not DIRTY[x]")
    + EVICT.format(" when VALID[x], not DIRTY[x]"),
    "DIRTY or not VALID": BACK + FETCH.format(" when not VALID[x], not DIRTY[x]") + EITHER,
    "dropped when written": THROUGH
    + "step WRITE of workgroup, location x when VALID[x] do memory[x] := copy[x]; VALID[x] := false",
}
PROGRAMS = [
    ("ST x 1; LD x; LD x", "ST x 2; LD x"),
    ("LD x; LD y; INV WG; LD x", "ST x 1; ST y 1"),
    ("LD x; SEE x; LD x", "ST x 1"),
    ("ST x 1; SEE x; LD x", "ST x 2; SEE x"),
    ("ST x 1; INV DV; LD x", "LD x; ST x 2"),
]


def machine(name: str) -> Architecture:
    return read_architecture(Source("first.machine", MACHINES[name]))


def programs(its: Architecture) -> list[tuple[str, ...]]:
    return [code for code in PROGRAMS if "SEE" in its.instructions or "SEE" not in str(code)]


@pytest.mark.parametrize("name", MACHINES)
def test_events_is_right(name: str) -> None:
    its = machine(name)
    assert unbounded(its) is None
    for code in programs(its):
        assert differences(program(its, *code), 20_000) == {}, code


@pytest.mark.parametrize("seed", range(40))
def test_any_program(seed: int) -> None:
    rng = random.Random(seed)
    its = machine(rng.choice(list(MACHINES)))
    pool = ["LD x", "LD x", "LD y", "ST x 1", "ST x 2", "ST y 1", "INV WG", "INV DV"]
    pool += ["SEE x"] * ("SEE" in its.instructions)
    code = ["; ".join(rng.choices(pool, k=rng.choice((1, 2, 3)))) for _ in range(2)]
    assert differences(program(its, *code), 6_000) in ({}, None), (its.summary, code)


# ---- planted mistakes ----------------------------------------------------------------------------


def values_set_no_bit(patch: MonkeyPatch) -> None:
    """Where a value is new, its bit is false to who waits for that."""
    original = PossibleEvents._add

    def add(self: PossibleEvents, rule: Rule, *rest: object, **more: object) -> Event:
        added = original(self, rule, *rest, **more)  # type: ignore[arg-type]
        for bit in self.shapes.entries:
            self.setting.pop(bit, None)
        return added

    patch.setattr(PossibleEvents, "_add", add)


def lost_whatever_it_waits_for(patch: MonkeyPatch) -> None:
    """What a step takes away is taken away where the step may not happen."""
    original = cases._lost

    def lost(rules: list[Rule], ways: list[Rule]) -> object:
        return original([_free(it) for it in rules], ways)

    patch.setattr(cases, "_lost", lost)


def _free(rule: Rule) -> Rule:
    if not isinstance(rule, StepRule) or rule.loses is None:
        return rule
    return StepRule((), (SetBit(rule.loses, False),), rule.step, rule.structure, rule.about)


DEAF = MACHINES["DIRTY, FETCH where VALID is false"] + EVICT.format(" when not DIRTY[x]") + SEE


@pytest.mark.parametrize(
    ("plant", "text", "code"),
    [
        (values_set_no_bit, MACHINES["FETCH where VALID is false"], ("LD x; LD x", "ST x 1")),
        (values_set_no_bit, MACHINES["and FETCH does"], ("LD x; SEE x; LD x", "ST x 1")),
        (lost_whatever_it_waits_for, DEAF, ("ST x 1; SEE x; ST y 1", "LD y; INV WG; LD x")),
    ],
)
def test_a_planted_mistake_is_noticed(
    monkeypatch: MonkeyPatch,
    plant: Callable[[MonkeyPatch], None],
    text: str,
    code: tuple[str, ...],
) -> None:
    its = read_architecture(Source("first.machine", text))
    assert differences(program(its, *code), 20_000) == {}
    plant(monkeypatch)
    kept.cache_clear()
    try:
        assert "events" in (differences(program(its, *code), 20_000) or {})
    finally:
        kept.cache_clear()
