"""Where threads of a work-group meet at a barrier: who departs waits until the others have arrived.

A bit for each arrival, which only its instruction makes true, and which stays so. Only departures
look at it, and want it true. So nothing that is said of steps and entries changes, and a wait for
an arrival ends as soon as that thread has come so far.
"""

from __future__ import annotations

from rspverify.assembly.program import ARRIVE, DEPART, AssemblyProgram, Instruction
from rspverify.machine import rules
from rspverify.machine.rules import AnyBit, Bit, Guard, InstructionRule, Member
from rspverify.records import replace

_ARRIVED = "arrived at"
"""The structure of these bits; no machine's file can have one of this name."""


def at_barriers(rule: InstructionRule, program: AssemblyProgram) -> InstructionRule:
    """An instruction of a program that also waits for the arrivals of others, or sets its own.

    At a barrier that another thread of the work-group never comes to, that cannot be.
    """
    it = rule.instruction
    if it.label is None:
        return rule
    if it.mnemonic == ARRIVE:
        return replace(rule, updates=(*rule.updates, rules.SetBit(_bit(it), True)))
    if it.mnemonic != DEPART:
        return rule
    guards = []
    for thread, code in zip(program.threads, program.code, strict=True):
        if thread != it.thread and thread.path("workgroup") == it.thread.path("workgroup"):
            there = (each for each in code if each.label == it.label and each.mnemonic == ARRIVE)
            guards.append(AnyBit(tuple((_bit(each), True) for each in there)))
    return replace(rule, guards=(*rule.guards, *guards))


def of_arrivals(guard: Guard) -> bool:
    """Whether a guard waits for another thread to arrive at a barrier."""
    return isinstance(guard, AnyBit) and any(is_arrival(bit) for bit, _ in guard.bits)


def is_arrival(bit: Bit) -> bool:
    """Whether a bit says that a thread has arrived at a barrier."""
    return bit.structure.name == _ARRIVED


def _bit(it: Instruction) -> Member:
    place = rules.Place("thread", it.thread.path())
    return Member(rules.Structure(_ARRIVED, place), "", None, it.index)
