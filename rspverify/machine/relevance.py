"""Which rules and cells of a machine can matter to an outcome.

A FETCH matters only where an instruction looks at the entry, or a FETCH from the level above does;
fifos matter only where something marks them (docs/machine.md says why nothing is lost).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TypeVar, assert_never

from rspverify.machine.machine import Machine
from rspverify.machine.rules import (
    Cache,
    Cell,
    Entry,
    InstructionRule,
    Memory,
    Rule,
    Step,
    StepRule,
)

T = TypeVar("T")

LastPlaces = list[tuple[int, int]]
"""(thread, place): the last place in the thread's code that does something."""


def last_looks(machine: Machine) -> Mapping[Entry, LastPlaces]:
    """Per entry that is looked at, where each thread last awaits it VALID; L2s also through L1s."""
    looks = _last(machine, lambda rule: rule.valid_entries)
    for (cache, x), last in list(looks.items()):
        below = machine.below(cache)
        if below is not None:
            through = looks.setdefault((below, x), {})
            for thread, place in last.items():
                through[thread] = max(place, through.get(thread, 0))
    return {entry: sorted(last.items()) for entry, last in looks.items()}


def last_marks(machine: Machine) -> Mapping[Cache, LastPlaces]:
    """Per cache whose fifo is marked, where each thread last does."""
    marks = _last(machine, lambda rule: rule.marks)
    return {cache: sorted(last.items()) for cache, last in marks.items()}


def _last(
    machine: Machine, found: Callable[[InstructionRule], Iterable[T]]
) -> dict[T, dict[int, int]]:
    """Per thing that instructions have, and thread, the last place of one that has it."""
    last: dict[T, dict[int, int]] = {}
    for thread, rules in enumerate(machine.code):
        for place, rule in enumerate(rules):
            for each in found(rule):
                last.setdefault(each, {})[thread] = place
    return last


def relevant_rules(machine: Machine) -> list[Rule]:
    """The rules without dequeues, and without FETCH steps that nobody looks at."""
    wanted = last_looks(machine)
    return [rule for rule in machine.rules if _matters(rule, wanted)]


def _matters(rule: Rule, wanted: Mapping[Entry, LastPlaces]) -> bool:
    if isinstance(rule, InstructionRule):
        return True
    match rule.step:
        case Step.FLUSH | Step.EVICT:
            return True
        case Step.FETCH:
            return rule.entry in wanted
        case Step.DEQLOC | Step.DEQMARKER:
            return False
        case _:
            assert_never(rule.step)


def may_stand_before(one: Rule, other: Rule) -> bool:
    """Whether what a rule puts into a fifo may be older there than what another puts into it."""
    if isinstance(one, StepRule) or isinstance(other, StepRule) or one.thread != other.thread:
        return True
    return one.instruction.index < other.instruction.index


def watched_cells(machine: Machine, rules: list[Rule]) -> list[Cell]:
    """The cells that some of these rules look at, that completion needs, and final memory."""
    memory = [Memory(x) for x in machine.locations]
    looked = [cell for rule in rules for cell in rule.looks]
    return list(dict.fromkeys([*machine.final(), *memory, *looked]))
