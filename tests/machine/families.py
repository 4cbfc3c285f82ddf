"""Families of random programs, each with the machine that it is for and who else knows that."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from machine.any_program import any_program
from machine.engines import SHAPES
from machine.hostile import INVALIDATING, LOCKED, hostile_assembly
from machine.meeting import GROUPS, TWO_GROUPS, meeting_program
from machine.own_machines import program
from machine.queued import queued, random_choice
from machine.table_programs import table_program
from machine.whole_graph import locking_program
from oracle import any_machine, quickrelease
from oracle import machine as oracle
from oracle.lines import LinesMachine
from oracle_adapter import PlainOutcome, plain_assembly
from programs import on_machine, random_assembly, with_operations

from rspverify.architecture.machines import machine_named
from rspverify.assembly.program import AssemblyProgram
from rspverify.records import replace
from rspverify.scheme.reader import read_scheme_file

ROOT = Path(__file__).resolve().parents[2]

Known = tuple[frozenset[PlainOutcome], bool | None]
"""All outcomes, and whether a program may get stuck, None where that is not known."""

Make = Callable[[random.Random], AssemblyProgram]

TOO_LARGE = oracle.TooLarge, any_machine.TooMany
"""What oracles raise where there are too many states for them."""


class Family(NamedTuple):
    """Random programs. decided: how many of `count` are at least small enough.

    states: up to so many are visited without any reduction. known: what a search
    finds that shares no code with ours.
    """

    make: Make
    count: int
    decided: int
    states: int = 2_500
    known: Callable[[AssemblyProgram], Known] | None = None

    def programs(self, name: str) -> Iterator[AssemblyProgram]:
        """The same in every run."""
        for number in range(self.count):
            yield self.make(random.Random(f"{name} {number}"))


# ---- oracles -------------------------------------------------------------------------------------


def tables(made: AssemblyProgram, **how: Any) -> Known:
    """Tab. 1 and Tab. 2."""
    waits = any(it.mnemonic.name == "ST" and it.mnemonic.conditions for it in made.instructions)
    variant = "rsp-st-waits" if waits else "rsp"
    found, stuck = oracle.outcomes_and_stuck(
        oracle.Machine(plain_assembly(made), variant, **how), 6_000
    )
    return frozenset(found), stuck


def coherent(made: AssemblyProgram) -> Known:
    """The same with L2s that are coherent."""
    return tables(made, l2_is_memory=True, coherent=True)


def released(made: AssemblyProgram) -> Known:
    """QuickRelease, which has an rL2 and written bits."""
    return quickrelease.outcomes(plain_assembly(made), limit=6_000, eager=True), None


def by_line(made: AssemblyProgram) -> Known:
    """One line for all locations, on one device, where L2 can be as good as memory."""
    lines = LinesMachine(plain_assembly(made), [set(made.initial)])
    states = list(oracle.explore(lines, 8_000))
    return frozenset(lines.outcome(state) for state in states if lines.is_complete(state)), None


def letter(made: AssemblyProgram) -> Known:
    """The machine's file to the letter."""
    return any_machine.outcomes(made, 3_000), None


# ---- programs ------------------------------------------------------------------------------------


def like_rows(shape: str, machine: str = "rsp") -> Make:
    """Programs with rows like those of Tab. 3."""
    return lambda rng: random_assembly(rng, SHAPES[shape], machine)


def with_any_operation(make: Make) -> Make:
    """The same with other operations in the place of their INCs."""
    return lambda rng: with_operations(rng, make(rng))


def two_memories(rng: random.Random) -> AssemblyProgram:
    """Two threads of one work-group or of two; local memory is that of the first."""
    near, threads = rng.random() < 0.6, []
    for number in range(2):
        kept = 4 if near or number == 0 else 2
        code = []
        for _ in range(rng.randint(2, 3)):
            load = rng.choice(("LD g", "LD h", "DS_LD l", "DS_LD m")[:kept])
            store = rng.choice(
                ("ST g", "ST h", "RMW g", "DS_ST l", "DS_ST m", "DS_RMW l")[: kept + 1]
            )
            code.append(load if rng.random() < 0.5 else f"{store} {rng.randint(1, 2)}")
            if rng.random() < 0.3:
                code.append(rng.choice(("DS_WAIT", "INV WG", "INV DV")))
        threads.append("; ".join(code))
    made = program(SCRATCHPAD, *threads, places=((0, 0), (0, 0 if near else 1)))
    spaces = {"l": "local", "m": "local"}
    return replace(made, initial=dict.fromkeys("ghlm", 0), spaces=spaces)


SCRATCHPAD = machine_named(str(ROOT / "tests/scheme/local/scratchpad.machine"))

RELEASING = (
    ("LD", "ST", "INC_L1", "INC_L2", "FLU_L1", "FLU_L2", "LK_rmw", "UL_rmw"),
    ("LD", "LD", "ST", "FLU_L1", "FLU_L2"),
    ("LD", "ST", "RMW_L1", "INC_L2"),
    ("LD", "ST", "ST", "FLU_L1", "FLU_L2", "RMW_L2"),
    ("INC_L1", "INC_L2", "LK_rmw", "UL_rmw", "ST", "LD"),
)
"""Palettes for `quickrelease`."""


def rows_of(name: str) -> Make:
    """Rows of a table for AMD's machines, of which instructions are missing."""
    table = read_scheme_file(ROOT / f"schemes/amdgpu/{name}.yaml")
    return lambda rng: table_program(rng, table, 3)


def by_tables(make: Make, count: int, decided: int) -> Family:
    """A family for Tab. 1 and Tab. 2."""
    return Family(make, count, decided, 6_000, tables)


def hostile(**told: Any) -> Make:
    """Any instructions in any order."""
    return lambda rng: hostile_assembly(rng, **told)


def locking(**told: Any) -> Make:
    """Code under locks, in any order, kept or freed."""
    return lambda rng: locking_program(rng, **told)


def on_coherent_l2s(make: Make) -> Make:
    """The same where L2s are coherent."""
    return lambda rng: on_machine(make(rng), "rsp-coherent-l2")


FAMILIES = {
    "rows": by_tables(like_rows("small"), 10, 5),
    "rows, stores that wait": by_tables(like_rows("small", "rsp-st-waits"), 4, 2),
    "rows, two devices": by_tables(like_rows("tiny, two devices"), 16, 3),
    "any operation": by_tables(with_any_operation(like_rows("small")), 8, 3),
    "any instructions": by_tables(hostile(most=6), 10, 6),
    "any instructions, two devices": by_tables(hostile(devices=2, most=4), 16, 5),
    "locks": by_tables(locking(), 10, 4),
    "locks, stores that wait": by_tables(locking(machine="rsp-st-waits"), 14, 6),
    "locks, two devices": by_tables(hostile(devices=2, most=4, palettes=LOCKED), 16, 8),
    "palettes of locks": by_tables(hostile(most=6, palettes=LOCKED), 16, 8),
    "barriers": by_tables(lambda rng: meeting_program(rng, GROUPS, 2), 6, 3),
    "barriers, two groups": by_tables(lambda rng: meeting_program(rng, TWO_GROUPS), 16, 3),
    "INV_L2": by_tables(
        hostile(most=5, palettes=INVALIDATING, machine="rsp-inv-l2"), count=10, decided=5
    ),
    "INV_L2, two devices": by_tables(
        hostile(devices=2, most=4, palettes=INVALIDATING, machine="rsp-inv-l2"), 12, decided=3
    ),
    "coherent L2s": Family(on_coherent_l2s(like_rows("tiny, two devices")), 10, 5, known=coherent),
    "coherent L2s and locks": Family(
        on_coherent_l2s(locking(devices=2, most=3)), 10, 5, known=coherent
    ),
    "quickrelease": Family(
        hostile(most=5, palettes=RELEASING, machine="quickrelease"), 8, 4, known=released
    ),
    "lines": Family(hostile(most=5, machine="rsp-lines"), 10, 4, known=by_line),
    "two memories": Family(two_memories, 8, 4, known=letter),
    "queues": Family(
        lambda rng: any_program(rng, queued(**random_choice(rng))), 10, 4, 1_500, letter
    ),
    **{
        f"rows of {name}": Family(rows_of(name), 4, 1, 600)
        for name in ("gfx90a", "gfx942", "gfx1200", "gfx1250")
    },
}

LARGER = {
    "rows, medium": Family(like_rows("medium"), 12, 9, 20_000),
    "rows, two devices": Family(like_rows("medium, two devices"), 12, 4, 20_000),
    "any instructions": Family(hostile(), 24, 20, 6_000),
    "any instructions, two devices": Family(hostile(devices=2), 12, 9, 6_000),
}
"""Programs that are too large for a search without reductions."""
