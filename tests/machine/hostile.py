"""Random programs of any instructions in any order, unlike those that schemes compile to."""

from __future__ import annotations

import random

from machine.own_machines import instruction

from rspverify.architecture.architecture import Mnemonic
from rspverify.architecture.machines import MACHINES
from rspverify.assembly.program import AssemblyProgram, Instruction, ThreadId
from rspverify.value import Binary, Constant, Expression, Read, Select, conjunction

_ALWAYS = Constant(1)
_ALL = ("LD", "ST", "INC_L1", "INC_L2", "FLU_L1", "FLU_L2", "INV_L1")
_LOCKS = ("LK_L2", "UL_L2", "LK_rmw", "UL_rmw")
_PALETTES: tuple[tuple[str, ...], ...] = (
    (*_ALL, *_LOCKS),
    ("LD", "ST", "ST", "FLU_L1", "INV_L1"),
    ("LD", "ST", "INC_L2", "FLU_L1", "LK_L2", "UL_L2"),
    ("LD", "ST", "INC_L1", "INC_L2", "FLU_L1", "FLU_L2"),
    ("ST", "ST", "LD", "FLU_L1", "FLU_L1"),
    ("INC_L1", "INC_L2", "LK_rmw", "UL_rmw", "ST", "LD"),
    ("ST", "LD", "LK_L2", "UL_L2", "INV_L1", "FLU_L1"),
)
LOCKED: tuple[tuple[str, ...], ...] = (
    (*_ALL, *_LOCKS, *_LOCKS),
    ("LD", "ST", "LK_L2", "LK_L2", "UL_L2"),
    ("LD", "ST", "FLU_L1", "INC_L2", "LK_L2", "UL_L2"),
    ("ST", "INC_L1", "INC_L2", "LK_L2", "LK_rmw", "UL_rmw"),
    ("LD", "ST", "ST", "FLU_L1", "INV_L1", "LK_L2"),
)
"""Palettes with many locks, for programs that may get stuck."""
INVALIDATING: tuple[tuple[str, ...], ...] = (
    (*_ALL, "INV_L2", "INV_L2", *_LOCKS),
    ("LD", "LD", "ST", "INV_L2", "INV_L1", "FLU_L2"),
    ("LD", "ST", "INC_L2", "INV_L2", "INV_L2", "FLU_L1"),
    ("LD", "ST", "INC_L2", "INV_L2", "LK_L2", "UL_L2"),
    ("LD", "ST", "ST", "FLU_L1", "FLU_L2", "INV_L2"),
)
"""Palettes for `rsp-inv-l2`."""


def hostile_assembly(
    rng: random.Random,
    *,
    devices: int = 1,
    threads: int = 3,
    most: int = 8,
    palettes: tuple[tuple[str, ...], ...] = _PALETTES,
    machine: str | None = None,
) -> AssemblyProgram:
    """A program of at most so many threads and instructions.

    For a machine, or, without one, every fourth for rsp-st-waits and the others for rsp.
    """
    waits = rng.random() < 0.25
    chosen = MACHINES[machine or ("rsp-st-waits" if waits else "rsp")]
    count = rng.randint(min(2, devices), threads)
    places = [
        (t if t < devices else rng.randrange(devices), rng.randrange(2)) for t in range(count)
    ]
    locations = ["x", "y"][: rng.choice((1, 1, 2))]
    palette = rng.choice(palettes)
    lengths = [1] * count
    for _ in range(rng.randint(0, most - count)):
        lengths[rng.randrange(count)] += 1
    ids, code, index = [], [], 0
    for number, (device, workgroup) in enumerate(places):
        place = ThreadId(device, workgroup, number)
        known: list[tuple[int, Expression]] = []
        own = []
        for _ in range(lengths[number]):
            mnemonic, x = chosen.instructions[rng.choice(palette)], rng.choice(locations)
            own.append(_instruction(rng, mnemonic, index, place, x, known))
            if own[-1].register is not None:
                known.append((index, own[-1].guard))
            index += 1
        ids.append(place)
        code.append(tuple(own))
    initial = {x: rng.choice((0, 0, 1)) for x in locations}
    return AssemblyProgram(tuple(ids), tuple(code), initial, chosen)


def _instruction(
    rng: random.Random,
    mnemonic: Mnemonic,
    index: int,
    place: ThreadId,
    x: str,
    known: list[tuple[int, Expression]],
) -> Instruction:
    guard: Expression = _ALWAYS
    if known and rng.random() < 0.3:
        register, executed = rng.choice(known)
        compared = Binary(rng.choice(("==", "!=")), Read(register), Constant(rng.choice((0, 1, 2))))
        guard = conjunction(executed, compared)
    value: Expression | None = None
    if mnemonic.writes:
        value = Constant(rng.choice((1, 2, 3)))
        if known and rng.random() < 0.2:
            register, executed = rng.choice(known)
            read = Read(register)
            value = read if executed == _ALWAYS else Select(executed, read, Constant(0))
    reach = rng.choice(mnemonic.reaches) if "s" in mnemonic.operands else None
    return instruction(index, mnemonic, place, x, reach, value, guard)
