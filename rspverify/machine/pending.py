"""Reads that complete later: whoever needs the value waits for it, and none is open in the end.

An instruction needs what its own guard and value are made of, and what the guards before it in its
thread are made of, as it is told from these whether it is its turn. Nothing of a value is known
before it is there: no engine may guess it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from rspverify.machine.rules import (
    AnyBit,
    Bit,
    Deliver,
    Guard,
    InstructionRule,
    Member,
    Place,
    SetBit,
    StepRule,
    Structure,
    Update,
    When,
    fails,
)
from rspverify.value import reads

OPEN_READ = "read"
"""The structure whose bits say that a read has not been completed."""


class Pending:
    """The reads of a program that steps complete, each with a bit that is true until then.

    That is whether the instruction is in a pool, where exactly the steps that deliver take it out.
    """

    def __init__(self, rules: Sequence[InstructionRule], steps: Sequence[StepRule]) -> None:
        later: dict[int, list[StepRule]] = {}
        for step in steps:
            if step.instruction is not None:
                later.setdefault(step.instruction.index, []).append(step)
        self._bits: dict[int, Bit] = {}
        self._added: set[Bit] = set()
        self._needed: dict[int, list[AnyBit]] = {}
        passed: dict[int, set[int]] = {}
        for rule in rules:
            it = rule.instruction
            turn = passed.setdefault(rule.thread, set())
            turn |= reads(it.guard)
            needed = turn | (set() if it.value is None else reads(it.value)) - {it.register}
            self._needed[it.index] = [
                fails(self._bits[each]) for each in sorted(needed) if each in self._bits
            ]
            own = later.get(it.index, [])
            if it.register is not None and any(map(_delivers, own)):
                self._bits[it.register] = self._bit(rule, own)

    def _bit(self, rule: InstructionRule, later: Sequence[StepRule]) -> Bit:
        for bit in rule.sets(True):
            inside = isinstance(bit, Member) and bit.index == rule.instruction.index
            if inside and all((bit in step.sets(False)) is _delivers(step) for step in later):
                return bit
        thread = rule.instruction.thread
        place = Place("thread", (thread.device, thread.workgroup, thread.thread))
        added = Member(Structure(OPEN_READ, place), "", None, rule.instruction.index)
        self._added.add(added)
        return added

    def instruction(self, rule: InstructionRule) -> InstructionRule:
        """What an instruction also waits for, and that its read is open."""
        own = rule.instruction.register
        guards = self._needed.get(rule.instruction.index, [])
        updates = self._changed(own, True)
        if not guards and not updates:
            return rule
        return replace(rule, guards=(*rule.guards, *guards), updates=(*rule.updates, *updates))

    def step(self, rule: StepRule) -> StepRule:
        """That a step that delivers completes the read."""
        if rule.instruction is None or not _delivers(rule):
            return rule
        return replace(
            rule, updates=(*rule.updates, *self._changed(rule.instruction.register, False))
        )

    def _changed(self, register: int | None, value: bool) -> list[Update]:
        bit = None if register is None else self._bits.get(register)
        return [SetBit(bit, value)] if bit in self._added and bit is not None else []

    def ending(self, guards: Iterable[Guard]) -> tuple[Guard, ...]:
        """What holds in the end, with no read open."""
        return tuple(dict.fromkeys((*guards, *map(fails, self._bits.values()))))


def _delivers(step: StepRule) -> bool:
    return any(_delivering(update) for update in step.updates)


def _delivering(update: Update) -> bool:
    if isinstance(update, When):
        return any(map(_delivering, update.updates))
    return isinstance(update, Deliver)
