"""Machines on which nothing gets stuck: whatever was begun can complete.

docs/proofs.md, «Progress», has the argument.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from rspverify.machine.machine import Machine
from rspverify.machine.rules import (
    AnyBit,
    Bit,
    Copy,
    Dequeue,
    Enqueue,
    Fifo,
    Guard,
    InstructionRule,
    Issued,
    Member,
    Oldest,
    Rule,
    SetBit,
    StepRule,
    Without,
    by,
)


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
                case Enqueue(fifo, Issued(index)):
                    if isinstance(rule, StepRule):
                        return False
                    fifos.setdefault(index, set()).add(fifo)
                case Enqueue():
                    return False
                case SetBit(Member() as bit, True):
                    if isinstance(rule, StepRule):
                        return False
                    pools.setdefault(bit.index, set()).add(bit)
                case _:
                    pass
    ways = by(
        machine.steps,
        lambda rule: [
            (it.element.index, it.fifo) for it in rule.oldest if isinstance(it.element, Issued)
        ],
    )
    had = frozenset(_brought_about(machine))
    threads = {it.index: it.thread for it in machine.program.instructions}
    clear = {bit for index in fifos for bit in pools.get(index, ())}
    for index, its in fifos.items():
        (fifo, *others) = its
        out = ways.get((index, fifo), [])
        earlier: set[Bit] = {
            bit
            for bit in clear
            if isinstance(bit, Member) and bit.index < index
            if threads[bit.index] == threads[index]
        }
        if others or not any(_may_leave(rule, earlier, had) for rule in out):
            return False
        if any(not pools.get(index, set()) <= set(rule.sets(False)) for rule in out):
            return False
        if any(Dequeue(fifo) not in rule.updates for rule in out):
            return False
    code = [rule for rules in machine.code for rule in rules]
    queued = [rule for rule in code if rule.instruction.index in fifos]
    if not all(_in_pools_while_in_fifo(machine, rule) for rule in queued):
        return False
    alone = {bit for index in pools.keys() - fifos.keys() for bit in pools[index]}
    if not all(any(_removes(it, bit, clear, had) for it in machine.steps) for bit in alone):
        return False
    waits = [guard for rule in code for guard in rule.guards]
    return all(_comes(guard, clear | alone, had) for guard in (*waits, *machine.ending))


def _brought_about(machine: Machine) -> Iterator[tuple[Bit, bool]]:
    """The literals that steps can always make true, needing nothing else.

    Different bits do not hinder each other; of each bit only one value is in the result.
    """
    found: set[tuple[Bit, bool]] = set()
    steps = [it for it in machine.steps if it.instruction is None and not it.conditional]
    for _ in steps:
        for step in steps:
            bits = [it for it in step.updates if isinstance(it, SetBit)]
            values = all(isinstance(it, SetBit | Copy) for it in step.updates)
            if len(bits) != 1 or not values or (bits[0].bit, not bits[0].value) in found:
                continue
            own = (bits[0].bit, not bits[0].value)
            if all(_holds_if(guard, found | {own}) for guard in step.guards):
                found.add((bits[0].bit, bits[0].value))
    yield from found


def _holds_if(guard: Guard, known: Collection[tuple[Bit, bool]]) -> bool:
    return isinstance(guard, AnyBit) and any(each in known for each in guard.bits)


def _removes(step: StepRule, bit: Bit, clear: set[Bit], had: frozenset[tuple[Bit, bool]]) -> bool:
    """Whether a step takes an instruction out of a pool, once all that is in fifos has left."""
    known = {(bit, True), *had, *((it, False) for it in clear)}
    return bit in step.sets(False) and all(_holds_if(it, known) for it in step.guards)


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


def _may_leave(rule: Rule, earlier: set[Bit], had: frozenset[tuple[Bit, bool]]) -> bool:
    """Whether a step can happen in its turn once earlier accesses of its thread are complete."""
    known = {*had, *((it, False) for it in earlier)}
    return all(isinstance(it, Oldest) or _holds_if(it, known) for it in rule.guards)


def _comes(guard: Guard, clear: set[Bit], had: frozenset[tuple[Bit, bool]]) -> bool:
    """Whether a guard holds once all that is in fifos and pools has left."""
    match guard:
        case AnyBit(bits):
            return any((not value and bit in clear) or (bit, value) in had for bit, value in bits)
        case Without():
            return True
        case _:
            return False
