"""Machines on which nothing gets stuck: whatever was begun can complete.

docs/proofs.md, «Progress», has the argument.
"""

from __future__ import annotations

from collections.abc import Iterator

from rspverify.machine import rules
from rspverify.machine.machine import Machine
from rspverify.machine.rules import (
    AnyBit,
    Bit,
    Fifo,
    Guard,
    InstructionRule,
    Issued,
    Member,
    Rule,
    StepRule,
    by,
)

Literals = frozenset[tuple[Bit, bool]]
"""Bits, and the values that they have or can always be brought to have."""


def settles(machine: Machine) -> bool:
    """Whether all that is in fifos can leave, and instructions wait for nothing else.

    Each fifo has instructions alone, each instruction is in one fifo at most, in a pool only while
    it is there, and what is oldest may leave, but for what was begun before in its thread; it then
    leaves its pools. Or it is in pools alone, and leaves each by a step that waits for what is in
    fifos. Nothing waits but for what is in them, and for what steps can always bring about.
    """
    fifos: dict[int, set[Fifo]] = {}
    pools: dict[int, set[Bit]] = {}
    for rule in machine.rules:
        for update in rule.flat:
            match update:
                case rules.Enqueue(fifo, Issued(index)) if isinstance(rule, InstructionRule):
                    fifos.setdefault(index, set()).add(fifo)
                case rules.SetBit(Member() as bit, True) if isinstance(rule, InstructionRule):
                    pools.setdefault(bit.index, set()).add(bit)
                case rules.Enqueue() | rules.SetBit(Member(), True):
                    return False
                case _:
                    pass
    code = [rule for thread in machine.code for rule in thread]
    had = frozenset(_brought_about(machine))
    leaving = by(
        machine.steps,
        lambda rule: [
            (it.element.index, it.fifo) for it in rule.oldest if isinstance(it.element, Issued)
        ],
    )
    threads = {it.index: it.thread for it in machine.program.instructions}
    clear = {bit for index in fifos for bit in pools.get(index, ())}
    for index, (fifo, *others) in fifos.items():
        out = leaving.get((index, fifo), [])
        earlier = {
            (bit, False)
            for bit in clear
            if isinstance(bit, Member) and bit.index < index
            if threads[bit.index] == threads[index]
        }
        if others or not any(_may_leave(step, had | earlier) for step in out):
            return False
        for step in out:
            if rules.Dequeue(fifo) not in step.updates:
                return False
            if not pools.get(index, set()) <= set(step.sets(False)):
                return False
    queued = [rule for rule in code if rule.instruction.index in fifos]
    if not all(_in_pools_while_in_fifo(machine, rule) for rule in queued):
        return False
    alone = {bit for index in pools.keys() - fifos.keys() for bit in pools[index]}
    left = had | {(bit, False) for bit in clear}
    if not all(any(_removes(it, bit, left) for it in machine.steps) for bit in alone):
        return False
    left |= {(bit, False) for bit in alone}
    waits = [guard for rule in code for guard in rule.guards]
    return all(
        isinstance(it, rules.Without) or _holds_if(it, left) for it in (*waits, *machine.ending)
    )


def _brought_about(machine: Machine) -> Iterator[tuple[Bit, bool]]:
    """The literals that steps can always make true, needing nothing else.

    Different bits do not hinder each other; of each bit only one value is in the result.
    """
    found: set[tuple[Bit, bool]] = set()
    steps = [it for it in machine.steps if it.instruction is None and not it.conditional]
    for _ in steps:
        for step in steps:
            bits = [(it.bit, it.value) for it in step.updates if isinstance(it, rules.SetBit)]
            values = all(isinstance(it, rules.SetBit | rules.Copy) for it in step.updates)
            if len(bits) != 1 or not values:
                continue
            bit, value = bits[0]
            known = frozenset({*found, (bit, not value)})
            if (bit, not value) not in found and all(_holds_if(it, known) for it in step.guards):
                found.add((bit, value))
    yield from found


def _holds_if(guard: Guard, known: Literals) -> bool:
    return isinstance(guard, AnyBit) and not known.isdisjoint(guard.bits)


def _removes(step: StepRule, bit: Bit, known: Literals) -> bool:
    """Whether a step takes an instruction out of a pool, once all that is in fifos has left."""
    held = known | {(bit, True)}
    return bit in step.sets(False) and all(_holds_if(it, held) for it in step.guards)


def _in_pools_while_in_fifo(machine: Machine, rule: InstructionRule) -> bool:
    """Whether, in each of its cases, an instruction that enters a pool enters its fifo, too."""
    entered = {bit for bits in machine.in_cases.queues.values() for bit in bits}
    for case in machine.in_cases.of(rule):
        if case.rule.conditional:
            return False
        pools = {bit for bit in case.rule.sets(True) if isinstance(bit, Member)}
        if pools and not pools & entered:
            return False
    return True


def _may_leave(rule: Rule, known: Literals) -> bool:
    """Whether a step can happen in its turn once earlier accesses of its thread are complete."""
    return all(isinstance(it, rules.Oldest) or _holds_if(it, known) for it in rule.guards)
