"""Reads that complete later: whoever needs the value waits for it, and none is open in the end.

An instruction needs the values in its own guard and in those before it in its thread, as these
decide whether it is its turn. The rule that writes a value needs the reads that it is made of; an
instruction that only begins a write goes on. No engine may guess a value before it is there. The
instructions that `Instruction.waits` names have left the pools of the thread.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rspverify.machine import rules
from rspverify.machine.rules import AnyBit, Bit, InstructionRule, Rule, StepRule, Update, by, fails
from rspverify.records import replace
from rspverify.value import reads

_THREAD = "thread"

OPEN_READ = "read"
"""The structure whose bits say that a read has not been completed."""


class Pending:
    """The reads of a program that steps complete, each with a bit that is true until then.

    That is whether the instruction is in a pool, where exactly the steps that deliver take it out.
    """

    def __init__(self, code: Sequence[InstructionRule], steps: Sequence[StepRule]) -> None:
        later = by(steps, lambda it: [] if it.instruction is None else [it.instruction.index])
        self._bits: dict[int, Bit] = {}
        self._added: set[Bit] = set()
        self._turn: dict[int, list[AnyBit]] = {}
        passed: dict[int, set[int]] = {}
        begun: dict[int, list[AnyBit]] = {}
        for rule in code:
            it = rule.instruction
            turn = passed.setdefault(rule.thread, set())
            turn |= reads(it.guard)
            waits = [bit for each in sorted(it.waits) for bit in begun[each]]
            self._turn[it.index] = [*self._known(turn), *waits]
            begun[it.index] = [fails(bit) for bit in rule.may_set if _counts(bit, rule)]
            own = later.get(it.index, [])
            if it.register is not None and any(map(_delivers, own)):
                self._bits[it.register] = self._bit(rule, own)

    def _bit(self, rule: InstructionRule, later: Sequence[StepRule]) -> Bit:
        at_once = _delivers(rule)
        for bit in () if at_once else rule.sets(True):
            inside = isinstance(bit, rules.Member) and bit.index == rule.instruction.index
            if inside and all((bit in step.sets(False)) is _delivers(step) for step in later):
                return bit
        thread = rule.instruction.thread
        place = rules.Place("thread", thread.path())
        added = rules.Member(rules.Structure(OPEN_READ, place), "", None, rule.instruction.index)
        self._added.add(added)
        return added

    def instruction(self, rule: InstructionRule) -> InstructionRule:
        """An instruction that also waits for the reads it needs, and opens its own."""
        own = rule.instruction.register
        guards = [*self._turn.get(rule.instruction.index, ()), *self._written(rule)]
        opened, closed = self._changed(own, True), self._changed(own, False)
        if not guards and not opened:
            return rule
        updates = (*opened, *_with(closed, rule.updates))
        return replace(rule, guards=(*rule.guards, *guards), updates=updates)

    def step(self, rule: StepRule) -> StepRule:
        """A later step that also waits for the reads it needs, and closes the one it delivers."""
        if rule.instruction is None:
            return rule
        closed = self._changed(rule.instruction.register, False)
        guards = (*rule.guards, *self._written(rule))
        return replace(rule, guards=guards, updates=_with(closed, rule.updates))

    def _written(self, rule: Rule) -> list[AnyBit]:
        """Guards: the reads that a written value is made of are complete, its own excepted."""
        it = rule.instruction
        writes = any(isinstance(update, rules.Assign) for update in rule.flat)
        if it is None or it.value is None or not writes:
            return []
        needed = reads(it.value)
        if _delivers(rule):
            needed = needed - {it.register}
        elif it.register in needed and isinstance(rule, InstructionRule):
            return [AnyBit(())]  # It would write what it reads later.
        return self._known(needed)

    def _known(self, registers: Iterable[int]) -> list[AnyBit]:
        return [fails(self._bits[each]) for each in sorted(registers) if each in self._bits]

    def _changed(self, register: int | None, value: bool) -> list[Update]:
        bit = None if register is None else self._bits.get(register)
        return [rules.SetBit(bit, value)] if bit in self._added and bit is not None else []

    def ending(self, guards: Iterable[rules.Guard]) -> tuple[rules.Guard, ...]:
        """The guards of a complete execution, in which no read is open."""
        return tuple(dict.fromkeys((*guards, *map(fails, self._bits.values()))))


def _with(closed: Sequence[Update], updates: tuple[Update, ...]) -> tuple[Update, ...]:
    """Updates with others wherever, and under whatever conditions, a value is delivered."""
    found = [
        replace(it, updates=_with(closed, it.updates)) if isinstance(it, rules.When) else it
        for it in updates
    ]
    delivers = any(isinstance(it, rules.Deliver) for it in updates)
    return (*found, *closed) if delivers else (*found,)


def _counts(bit: Bit, rule: InstructionRule) -> bool:
    """Whether a bit says that an instruction of a thread is in one of the thread's pools."""
    own = isinstance(bit, rules.Member) and bit.index == rule.instruction.index
    return own and bit.structure.place.kind == _THREAD


def _delivers(rule: Rule) -> bool:
    """Whether it delivers a value, also under conditions."""
    return any(isinstance(it, rules.Deliver) for it in rule.flat)
