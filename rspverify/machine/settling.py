"""Machines on which nothing gets stuck, whatever the program: what was begun can complete.

docs/machine.md, «Progress», has the argument.
"""

from __future__ import annotations

from rspverify.machine.machine import Machine
from rspverify.machine.rules import (
    AnyBit,
    Bit,
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
    plain,
)


def settles(machine: Machine) -> bool:
    """Whether all that is in fifos can leave, and instructions wait for nothing else.

    Each fifo has instructions alone, each instruction is in one fifo at most, in a pool only while
    it is there, and what is oldest may leave, but for what was begun before in its thread; it then
    leaves its pools. Nothing waits but for what is in them.
    """
    fifos: dict[int, set[Fifo]] = {}
    pools: dict[int, set[Bit]] = {}
    for rule in machine.rules:
        for update in plain(rule.updates):
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
    ways = _ways_out(machine)
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
        if others or not any(_may_leave(rule, earlier) for rule in out):
            return False
        if any(not pools.get(index, set()) <= set(rule.sets(False)) for rule in out):
            return False
        if any(Dequeue(fifo) not in rule.updates for rule in out):
            return False
    if not all(_in_pools_while_in_fifo(machine, rule) for code in machine.code for rule in code):
        return False
    waits = [guard for code in machine.code for rule in code for guard in rule.guards]
    return all(_comes(guard, clear) for guard in (*waits, *machine.ending))


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


def _ways_out(machine: Machine) -> dict[tuple[int, Fifo], list[Rule]]:
    """The steps by which an instruction leaves a fifo."""
    found: dict[tuple[int, Fifo], list[Rule]] = {}
    for rule in machine.steps:
        for guard in rule.guards:
            if isinstance(guard, Oldest) and isinstance(guard.element, Issued):
                found.setdefault((guard.element.index, guard.fifo), []).append(rule)
    return found


def _may_leave(rule: Rule, earlier: set[Bit]) -> bool:
    """Whether a step happens in its turn, once what was begun before in its thread is complete."""
    return all(
        isinstance(guard, Oldest)
        or (
            isinstance(guard, AnyBit)
            and any(not value and bit in earlier for bit, value in guard.bits)
        )
        for guard in rule.guards
    )


def _comes(guard: Guard, clear: set[Bit]) -> bool:
    """Whether a guard holds once all that is in fifos has left."""
    match guard:
        case AnyBit(bits):
            return any(not value and bit in clear for bit, value in bits)
        case Without():
            return True
        case _:
            return False
