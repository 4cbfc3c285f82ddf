"""Which rules and cells of a machine can matter to an outcome.

A FETCH matters only where an instruction looks at the entry, or a FETCH from the level above does;
fifos matter only where something marks them (docs/machine.md says why nothing is lost).
"""

from __future__ import annotations

from rspverify.machine.machine import Machine
from rspverify.machine.rules import (
    AnyBit,
    Cache,
    Cell,
    Copy,
    Deliver,
    IsValid,
    Memory,
    Ready,
    Rule,
)


def looked_at(machine: Machine) -> frozenset[tuple[Cache, str]]:
    """The entries that an instruction awaits VALID, or that a FETCH into such a one needs."""
    found = {
        (bit.cache, bit.location)
        for rule in machine.rules
        if rule.instruction is not None
        for guard in rule.guards
        if isinstance(guard, AnyBit)
        for bit, _ in guard.bits
        if isinstance(bit, IsValid)
    }
    below = {
        (Cache(cache.device, None), x)
        for cache, x in found
        if cache.level == 1 and Cache(cache.device, None) in machine.caches
    }
    return frozenset(found | below)


def relevant_rules(machine: Machine) -> list[Rule]:
    """The rules without dequeues, and without FETCH steps that nobody looks at."""
    wanted = looked_at(machine)
    return [
        rule
        for rule in machine.rules
        if not rule.dequeues
        and not (rule.step == "FETCH" and (rule.cache, rule.location) not in wanted)
    ]


def watched_cells(machine: Machine, rules: list[Rule]) -> list[Cell]:
    """The cells that some of these rules look at, that completion needs, and final memory."""
    cells: dict[Cell, None] = dict.fromkeys(machine.final())
    cells |= dict.fromkeys(Memory(x) for x in machine.locations)
    for rule in rules:
        for guard in rule.guards:
            match guard:
                case AnyBit(bits):
                    cells |= dict.fromkeys(bit for bit, _ in bits)
                case Ready(lock, _):
                    cells[lock] = None
        for update in rule.updates:
            if isinstance(update, (Deliver, Copy)):
                cells[update.source] = None
    return list(cells)
