"""Programs of the assembly language with a loop that only spins, and the same without the loop."""

from __future__ import annotations

import random
from collections.abc import Sequence
from itertools import count

from rspverify.assembly.program import AssemblyProgram, Instruction, SpinLoop
from rspverify.records import replace
from rspverify.value import Binary, Constant, Expression, Read, substituted, unary
from rspverify.verdict import Outcome

_TRUE = Constant(1)
_COPIES = 1_000
"""The registers of iterations that go on are counted from here."""


def with_spin(rng: random.Random, program: AssemblyProgram) -> AssemblyProgram | None:
    """Some instructions of a thread as the iteration of a spin; None where there are none to be.

    One of them reads, all are always executed, and the loop goes on where it reads a certain value.
    One that writes, too, writes what it has read, if the loop goes on.
    """
    reading = [
        (thread, place)
        for thread, code in enumerate(program.code)
        for place, it in enumerate(code)
        if it.register is not None and it.guard == _TRUE
    ]
    if not reading:
        return None
    thread, place = rng.choice(reading)
    code = program.code[thread]
    first = end = place
    while first and _fits(code[first - 1]) and rng.random() < 0.8:
        first -= 1
    end += 1
    while end < len(code) and _fits(code[end]) and rng.random() < 0.8:
        end += 1
    it, value = code[place], rng.choice((0, 1))
    assert it.register is not None
    changed = it
    if it.mnemonic.writes:
        written: Expression = Constant(value)
        if it.mnemonic.operator == "+":
            written = Binary("+", Read(it.register), Constant(0))
        changed = replace(it, value=written, success=None)
    own = (*code[:place], changed, *code[place + 1 :])
    codes = (*program.code[:thread], own, *program.code[thread + 1 :])
    going = Binary("==", Read(it.register), Constant(value))
    return replace(program, code=codes, spins=(SpinLoop(thread, going, first, end),))


def _fits(it: Instruction) -> bool:
    return it.register is None and it.guard == _TRUE


def with_rounds(program: AssemblyProgram, rounds: int) -> AssemblyProgram:
    """The program whose spins go on just so many times, and then end."""
    codes = [list(code) for code in program.code]
    cuts: list[Expression] = [*program.cuts]
    fresh = count(_COPIES)
    for spin in sorted(program.spins, key=lambda it: -it.first):
        iteration = codes[spin.thread][spin.first : spin.end]
        copies: list[Instruction] = []
        for _ in range(rounds):
            copied, going = _copied(iteration, spin.guard, fresh)
            copies += copied
            cuts.append(unary("!", going))
        codes[spin.thread][spin.first : spin.first] = copies
        cuts.append(spin.guard)
    number = count()
    code = tuple(tuple(replace(it, index=next(number)) for it in own) for own in codes)
    return replace(program, code=code, cuts=tuple(cuts), spins=())


def _copied(
    iteration: Sequence[Instruction], going: Expression, fresh: count[int]
) -> tuple[list[Instruction], Expression]:
    names = {it.register: next(fresh) for it in iteration if it.register is not None}

    def moved(expression: Expression) -> Expression:
        return substituted(expression, lambda index: Read(names.get(index, index)))

    copies = [
        replace(
            it,
            register=names.get(it.register),
            guard=moved(it.guard),
            value=None if it.value is None else moved(it.value),
            success=None if it.success is None else moved(it.success),
        )
        for it in iteration
    ]
    return copies, moved(going)


def last_iterations(outcomes: frozenset[Outcome]) -> frozenset[Outcome]:
    """Outcomes without what iterations read that went on."""
    return frozenset(
        Outcome(tuple(it for it in each.reads if it[0] < _COPIES), each.memory) for each in outcomes
    )
