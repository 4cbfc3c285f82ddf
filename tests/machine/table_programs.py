"""Random programs of the rows of a compiler's table, out of which instructions are left."""

from __future__ import annotations

import random

from machine.own_machines import instruction

from rspverify.assembly.program import AssemblyProgram, Instruction, ThreadId
from rspverify.machine.placements import placements
from rspverify.records import replace
from rspverify.scheme.memory import IN_GLOBAL
from rspverify.scheme.orders import Op
from rspverify.scheme.scheme import Scheme
from rspverify.value import Constant

_LAYOUTS = (((0, 0), (0, 0)), ((0, 0), (0, 1)), ((0, 0), (0, 1)), ((0, 0), (1, 0)))


def table_program(rng: random.Random, table: Scheme, most: int = 5) -> AssemblyProgram:
    """Two threads of a row or two, on global memory, with at most so many instructions, placed."""
    rows = [row for row in table.rows if row.memories == {IN_GLOBAL}]
    places = rng.choice(_LAYOUTS)
    threads = tuple(ThreadId(*place, number) for number, place in enumerate(places))
    names = ("x", "y")[: rng.choice((1, 1, 2))]
    code: list[tuple[Instruction, ...]] = []
    index = 0
    for thread in threads:
        own: list[Instruction] = []
        left = rng.randint(1, most - 1) if not code else most - len(code[0])
        while len(own) < left:
            row, x = rng.choice(rows), rng.choice(names)
            if row.kind is Op.FENCE and rng.random() < 0.5:
                continue  # Their code is waits.
            for each in row.code:
                if len(own) < left and rng.random() > (0.05 if each.accesses else 0.25):
                    written = Constant(rng.choice((1, 2))) if each.mnemonic.writes else None
                    own.append(instruction(index, each.mnemonic, thread, x, None, written))
                    index += 1
        code.append(tuple(own))
    made = AssemblyProgram(threads, tuple(code), dict.fromkeys(names, 0), table.machine)
    return replace(made, placement=rng.choice(placements(table.machine.kinds, threads)))
