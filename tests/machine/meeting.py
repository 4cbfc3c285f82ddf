"""Random programs whose work-groups meet at barriers."""

from __future__ import annotations

import random

from programs import BARRIER, SMALL, Size, random_assembly

from rspverify.assembly.program import AssemblyProgram, Instruction
from rspverify.records import replace
from rspverify.value import Binary, Constant, Read

GROUPS = replace(SMALL, min_threads=2, workgroups=1, total=3, extra=2)
TWO_GROUPS = replace(SMALL, min_threads=3, workgroups=2, total=3, extra=2)


def meeting_program(rng: random.Random, shape: Size, labels: int = 1) -> AssemblyProgram:
    """A random program whose work-groups meet; seldom a thread leaves a barrier out, or may."""
    program = random_assembly(rng, shape)
    code: list[tuple[Instruction, ...]] = []
    index = 0
    for own in program.code:
        cuts = sorted(rng.randint(0, len(own)) for _ in range(labels))
        parts: list[Instruction] = []
        for place in range(len(own) + 1):
            for label, cut in enumerate(cuts):
                if cut == place and rng.random() < 0.97:
                    parts += _halves(rng, program, own, parts, f"B{label}")
            parts += own[place : place + 1]
        code.append(tuple(replace(it, index=index + i) for i, it in enumerate(parts)))
        index += len(parts)
    return replace(program, code=tuple(code))


def _halves(
    rng: random.Random,
    program: AssemblyProgram,
    own: tuple[Instruction, ...],
    before: list[Instruction],
    label: str,
) -> list[Instruction]:
    if not own:
        return []
    guard = Constant(1)
    reads = [it.register for it in before if it.register is not None and it.guard == guard]
    wanted = Binary("==", Read(rng.choice(reads)), Constant(rng.choice((0, 1)))) if reads else guard
    chosen = wanted if rng.random() < 0.1 else guard
    return [
        Instruction(0, each, own[0].thread, own[0].operation, chosen, label=label)
        for each in BARRIER.values()
    ]
