"""Random programs of any machine's instructions: nothing is known of them but their operands."""

from __future__ import annotations

import random
from collections.abc import Sequence

from machine.own_machines import instruction

from rspverify.architecture.architecture import Architecture, Mnemonic
from rspverify.assembly.program import AssemblyProgram, Instruction, ThreadId
from rspverify.value import Binary, Constant, Expression, Read

_LAYOUTS = (
    ((0, 0), (0, 1)),
    ((0, 0), (0, 1)),
    ((0, 0), (1, 0)),
    ((0, 0), (0, 0), (0, 1)),
    ((0, 0), (0, 1), (1, 0)),
)


def any_program(rng: random.Random, machine: Architecture, most: int = 3) -> AssemblyProgram:
    """Two threads, seldom three, each with a few instructions; some in a guard."""
    places = rng.choice(_LAYOUTS)
    threads = tuple(ThreadId(*place, number) for number, place in enumerate(places))
    names = ("x", "y")[: rng.choice((1, 1, 2))]
    code: list[tuple[Instruction, ...]] = []
    index = 0
    for thread in threads:
        own: list[Instruction] = []
        for _ in range(rng.randint(1, most if len(threads) == 2 else 2)):
            own.append(_instruction(rng, machine, thread, index, own, names))
            index += 1
        code.append(tuple(own))
    return AssemblyProgram(threads, tuple(code), dict.fromkeys(names, 0), machine)


def _instruction(
    rng: random.Random,
    machine: Architecture,
    thread: ThreadId,
    index: int,
    before: Sequence[Instruction],
    names: Sequence[str],
) -> Instruction:
    mnemonic = _mnemonic(rng, machine)
    written = Constant(rng.choice((1, 2))) if mnemonic.writes else None
    guard: Expression = Constant(1)
    always = [it for it in before if it.guard == Constant(1)]
    known = [it.register for it in always if it.register is not None]
    if known and rng.random() < 0.3:
        guard = Binary("==", Read(rng.choice(known)), Constant(rng.choice((0, 1))))
    x = rng.choice(names) if "x" in mnemonic.operands else None
    reach = rng.choice(mnemonic.reaches) if mnemonic.reaches else None
    return instruction(index, mnemonic, thread, x, reach, written, guard)


def _mnemonic(rng: random.Random, machine: Architecture) -> Mnemonic:
    """An access as often as not, and what only this machine has more often than its share."""
    every = list(machine.instructions.values())
    accesses = [it for it in every if it.reads or it.writes]
    plain = [it for it in accesses if it.name in ("LD", "ST")]
    return rng.choice(
        rng.choice((plain or accesses, plain or every, accesses, every, every, every[-3:]))
    )
