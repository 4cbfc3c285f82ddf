"""quickrelease.machine against a search that has rL2 and the written bits, and shares no code."""

import random

import pytest
from machine.engines import events_outcomes, searched
from machine.hostile import hostile_assembly
from oracle import quickrelease
from oracle.machine import TooLarge
from oracle_adapter import PlainOutcome, plain_assembly, plain_outcome
from programs import listing

from rspverify.assembly.program import AssemblyProgram
from rspverify.limits import LimitReached
from rspverify.machine.machine import Machine

PALETTES = (
    ("LD", "ST", "INC_L1", "INC_L2", "FLU_L1", "FLU_L2", "LK_rmw", "UL_rmw"),
    ("LD", "LD", "ST", "FLU_L1", "FLU_L2"),
    ("LD", "ST", "RMW_L1", "INC_L2"),
    ("LD", "ST", "ST", "FLU_L1", "FLU_L2", "RMW_L2"),
    ("INC_L1", "INC_L2", "LK_rmw", "UL_rmw", "ST", "LD"),
)


def expected(program: AssemblyProgram) -> frozenset[PlainOutcome]:
    """The outcomes by the oracle. Raises TooLarge."""
    return quickrelease.outcomes(plain_assembly(program), limit=6_000, eager=True)


@pytest.mark.parametrize("most, count, decided", [(5, 16, 8), (7, 6, 1)])
def test_engines_and_oracle_agree(most: int, count: int, decided: int) -> None:
    done = 0
    for number in range(count):
        rng = random.Random(f"quickrelease {most} {number}")
        program = hostile_assembly(rng, most=most, palettes=PALETTES, machine="quickrelease")
        machine = Machine(program)
        try:
            found = searched(machine, 3_000)
            reference = expected(program)
        except (LimitReached, TooLarge):
            continue
        assert {plain_outcome(each) for each in found} == reference, listing(program)
        assert events_outcomes(machine) == found, listing(program)
        done += 1
    assert done >= decided, f"{count - done} of {count} were too large"
