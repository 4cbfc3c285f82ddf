"""Programs on rsp-lines.machine and on the paper's; test_engines_agree.py has lines by an oracle."""

import random

from machine.engines import searched
from machine.hostile import hostile_assembly
from programs import assembly, listing

from rspverify.limits import LimitReached
from rspverify.machine.machine import Machine

WITHOUT_UNLOCKS = (
    ("LD", "ST", "INC_L1", "INC_L2", "FLU_L1", "INV_L1", "LK_L2", "LK_rmw", "UL_rmw"),
    ("LD", "ST", "ST", "FLU_L1", "INV_L1"),
    ("LD", "ST", "INC_L2", "FLU_L1", "LK_L2"),
)


def test_lines_add_no_outcome() -> None:
    """Remark 1, of code that schemes need not have made."""
    done = fewer = 0
    for number in range(45):
        program, by_line = (
            hostile_assembly(
                random.Random(f"remark {number}"), most=6, palettes=WITHOUT_UNLOCKS, machine=machine
            )
            for machine in ("rsp", "rsp-lines")
        )
        if len(program.initial) == 1:
            continue
        try:
            fine, coarse = searched(Machine(program), 4_000), searched(Machine(by_line), 4_000)
        except LimitReached:
            continue
        assert coarse <= fine, listing(program)
        done, fewer = done + 1, fewer + (coarse < fine)
    assert done >= 6 and fewer, f"{done} were small enough"


def test_whoever_frees_a_lock_of_another_location_frees_the_line() -> None:
    """Then lines add outcomes. No row of Tab. 3 frees what it does not hold."""
    threads = ((0, 0), ["LK_L2 x"]), ((0, 1), ["LK_L2 x"]), ((0, 1), ["UL_L2 y"])
    fine, coarse = (
        searched(Machine(assembly(*threads, machine=name))) for name in ("rsp", "rsp-lines")
    )
    assert not fine and coarse
