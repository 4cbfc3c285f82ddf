"""Steps that change only what nobody looks at, and what makes somebody look at it."""

from __future__ import annotations

import pytest
from machine.any_engine import differences
from machine.own_machines import program, variant

from rspverify.machine.machine import Machine

SHADOW = (
    "state { shadow[x] : value of device }\n"
    "step SHADE of device, location x do shadow[x] := memory[x]\n"
)
BUFFER = (
    "state { buffer[x] : value of device  FULL[x] : bit of device }\n"
    "instruction PUT r x do buffer[x] := r; FULL[x] := true\n"
    "step FILL of device, location x when not FULL[x] do buffer[x] := memory[x]\n"
)
OUT = "step OUT of device, location x when FULL[x] do memory[x] := buffer[x]; FULL[x] := false\n"

UNSEEN = {
    "nobody takes the value": (SHADOW, "SHADE", ["ST x 1", "LD x"]),
    "only a step takes it that nobody sees": (
        f"{SHADOW}state {{ shade[x] : value of device }}\n"
        "step DARKEN of device, location x do shade[x] := shadow[x]",
        "SHADE",
        ["ST x 1", "LD x"],
    ),
    "it is overwritten before it is taken": (BUFFER + OUT, "FILL", ["PUT x 1", "LD x"]),
}

SEEN = {
    "an instruction takes the value": (
        f"{SHADOW}instruction GET r x do r := shadow[x]",
        "SHADE",
        ["ST x 1; FLU_L1 DV", "GET x"],
    ),
    "a step takes it that an instruction sees": (
        f"{SHADOW}step LIGHT of workgroup, location x when not L1.DIRTY[x]\n"
        " do L1.data[x] := shadow[x]; L1.VALID[x] := true",
        "SHADE",
        ["INC_L2 x 1", "LD x; INV_L1 WG; LD x"],
    ),
    "a condition depends on what it sets": (
        "state { LIT[x] : bit of device }\nstep SHADE of device, location x do LIT[x] := true\n"
        "instruction LOSE x do if LIT[x] { L1.VALID[x] := false }",
        "SHADE",
        ["LD x; LOSE x; LD x", "INC_L2 x 1"],
    ),
    "an execution ends when it has been": (
        "state { LIT[x] : bit of device }\nstep SHADE of device, location x do LIT[x] := true\n"
        "complete when each device d, location y: d.LIT[y]",
        "SHADE",
        ["LD x"],
    ),
    "the buffer gets full without a new value": (
        f"{BUFFER}{OUT}instruction MARK x do FULL[x] := true",
        "FILL",
        ["INC_L2 x 1; MARK x", "LD x; LD x"],
    ),
    "the buffer is emptied of what need not be in it": (
        BUFFER + "step OUT of device, location x do memory[x] := buffer[x]; FULL[x] := false",
        "FILL",
        ["INC_L2 x 1", "LD x; LD x"],
    ),
    "the buffer stays full": (
        BUFFER
        + "step OUT of device, location x when FULL[x] do memory[x] := buffer[x]\n"
        + "instruction GET r x do r := buffer[x]",
        "FILL",
        ["PUT x 1", "GET x"],
    ),
}


def left_out(text: str, code: list[str]) -> set[str]:
    """The names of the steps that are left out of a machine besides EVICT."""
    it = program(variant(text), *code)
    assert differences(it, 6_000) == {}
    machine = Machine(it, elide=False)
    whole = Machine(it, elide=False, evict=True)
    return {rule.step for rule in whole.steps} - {rule.step for rule in machine.steps}


@pytest.mark.parametrize("reason", UNSEEN)
def test_steps_that_nobody_sees(reason: str) -> None:
    text, step, code = UNSEEN[reason]
    assert step in left_out(text, code)


@pytest.mark.parametrize("reason", SEEN)
def test_steps_that_somebody_sees(reason: str) -> None:
    text, step, code = SEEN[reason]
    assert step not in left_out(text, code)
