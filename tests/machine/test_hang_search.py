"""Hanging under schedulers: by an independent machine with loops, and what is known beforehand.

The programs are the same in every run.
"""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

from machine.spinning import with_spin
from machine.whole_graph import locking_program
from oracle import hanging
from oracle import machine as oracle
from oracle_adapter import plain_assembly
from programs import SMALL, TINY_TWO_DEVICES, listing, random_assembly

from rspverify.assembly import AssemblyProgram
from rspverify.limits import LimitReached, Limits
from rspverify.machine import Machine, find_hang, replay_hang
from rspverify.soundness.schedulers import schedulers_of
from rspverify.soundness.scheduling import schedulings
from rspverify.value import evaluate

LIMITS = Limits(states=30_000)


def stuck(program: AssemblyProgram) -> set[str]:
    """The schedulers under which a program may hang; each hang is replayed."""
    machine = Machine(program)
    groups = len({(it.device, it.workgroup) for it in program.threads})
    lines = [1] * 30
    found = set()
    for scheduler in schedulers_of(hanging.SCHEDULERS):
        for scheduling in schedulings(scheduler, groups):
            hang = find_hang(machine, scheduling, LIMITS).hang
            if hang is not None:
                end = replay_hang(machine, hang, scheduling, lines)
                assert end.threads or end.stopped or not hang.stopped
                found.add(str(scheduler))
                break
    return found


def plain(program: AssemblyProgram) -> dict[str, Any]:
    """As the oracle takes it, with loops."""
    made = plain_assembly(program)
    for spin in program.spins:
        own = program.code[spin.thread][spin.first : spin.end]
        reads = {it.register for it in own if it.register is not None}
        going = lambda env, guard=spin.guard: evaluate(guard, env)  # noqa: E731
        loops = made["threads"][spin.thread].setdefault("loops", [])
        loops.append((spin.first, spin.end, going, reads))
    return made


def test_random_programs() -> None:
    """Programs with a spin, and programs rich in locks, under every scheduler."""
    seen: Counter[str] = Counter()
    for number in range(60):
        rng = random.Random(f"hang {number}")
        if number % 4:
            shape = rng.choice((SMALL, SMALL, TINY_TWO_DEVICES))
            program = with_spin(rng, random_assembly(rng, shape))
        else:
            program = locking_program(rng, most=3)
            program = with_spin(rng, program) or program
        if program is None:
            continue
        one = len({it.device for it in program.threads}) == 1
        try:
            expected = hanging.stuck(plain(program), 300, l2_is_memory=one)
            found = stuck(program)
        except (oracle.TooLarge, LimitReached):
            continue
        assert found == expected, (
            f"{found} and not {expected} of\n{listing(program)}{program.spins}"
        )
        seen.update(found)
        seen["decided"] += 1
    assert seen["decided"] >= 15, seen
    assert seen["decided"] > seen["unfair"] > seen["fair"] > 0, seen
