"""Which rules and cells of a machine can matter to an outcome.

A FETCH matters only where an instruction looks at the entry, or a FETCH from the level above does;
fifos matter only where something marks them (docs/machine.md says why nothing is lost).
"""

from __future__ import annotations

from collections.abc import Mapping

from rspverify.machine.machine import Machine
from rspverify.machine.rules import (
    AnyBit,
    Cache,
    Cell,
    Copy,
    Deliver,
    Enqueue,
    IsValid,
    Marker,
    Memory,
    Ready,
    Rule,
)

LastPlaces = list[tuple[int, int]]
"""(thread, place): the last place in the thread's code that does something."""


def last_looks(machine: Machine) -> Mapping[tuple[Cache, str], LastPlaces]:
    """Per entry that is looked at, where each thread last awaits it VALID; L2s also through L1s."""
    looks: dict[tuple[Cache, str], dict[int, int]] = {}
    for thread, rules in enumerate(machine.code):
        for place, rule in enumerate(rules):
            for guard in rule.guards:
                for bit, _ in guard.bits if isinstance(guard, AnyBit) else ():
                    if isinstance(bit, IsValid):
                        looks.setdefault((bit.cache, bit.location), {})[thread] = place
    for (l1, x), last in list(looks.items()):
        l2 = Cache(l1.device, None)
        if l1.level == 1 and l2 in machine.caches:
            below = looks.setdefault((l2, x), {})
            for thread, place in last.items():
                below[thread] = max(place, below.get(thread, 0))
    return {entry: sorted(last.items()) for entry, last in looks.items()}


def last_marks(machine: Machine) -> Mapping[Cache, LastPlaces]:
    """Per cache, where each thread last marks its fifo."""
    marks: dict[Cache, dict[int, int]] = {cache: {} for cache in machine.caches}
    for thread, rules in enumerate(machine.code):
        for place, rule in enumerate(rules):
            for update in rule.updates:
                if isinstance(update, Enqueue) and isinstance(update.element, Marker):
                    marks[update.cache][thread] = place
    return {cache: sorted(last.items()) for cache, last in marks.items()}


def relevant_rules(machine: Machine) -> list[Rule]:
    """The rules without dequeues, and without FETCH steps that nobody looks at."""
    wanted = last_looks(machine)
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
