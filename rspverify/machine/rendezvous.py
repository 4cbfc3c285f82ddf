"""Where threads of a work-group meet at a barrier: who departs waits until the others have arrived.

A bit for each arrival, which only its instruction makes true, and which stays so. Only departures
look at it, and want it true. So nothing that is said of steps and entries changes, and a wait for
an arrival ends as soon as that thread has come so far.
"""

from __future__ import annotations

from collections.abc import Iterable

from rspverify.assembly.program import ARRIVE, DEPART, AssemblyProgram, Instruction, ThreadId
from rspverify.machine.rules import (
    AnyBit,
    Bit,
    Guard,
    InstructionRule,
    Member,
    Place,
    SetBit,
    Structure,
)
from rspverify.records import replace

_ARRIVED = "arrived at"
"""The structure of these bits; no machine's file can have one of this name."""


class Rendezvous:
    """The barriers of a program: the guards and updates of their halves."""

    def __init__(self, program: AssemblyProgram) -> None:
        self._groups: dict[tuple[int, int], list[ThreadId]] = {}
        for thread in program.threads:
            self._groups.setdefault((thread.device, thread.workgroup), []).append(thread)
        self._arrivals: dict[tuple[ThreadId, str | None], list[Bit]] = {}
        for it in program.instructions:
            if it.label is not None and it.mnemonic == ARRIVE:
                self._arrivals.setdefault((it.thread, it.label), []).append(_bit(it))

    def instruction(self, rule: InstructionRule) -> InstructionRule:
        """An instruction that also waits for the arrivals of others, or sets its own.

        Of a barrier that another thread of the work-group never comes to, that cannot be.
        """
        it = rule.instruction
        if it.label is None:
            return rule
        if it.mnemonic == ARRIVE:
            return replace(rule, updates=(*rule.updates, SetBit(_bit(it), True)))
        if it.mnemonic == DEPART:
            return replace(rule, guards=(*rule.guards, *self._others(it)))
        return rule

    def _others(self, it: Instruction) -> Iterable[AnyBit]:
        for thread in self._groups[it.thread.device, it.thread.workgroup]:
            if thread != it.thread:
                arrivals = self._arrivals.get((thread, it.label), ())
                yield AnyBit(tuple((bit, True) for bit in arrivals))


def of_arrivals(guard: Guard) -> bool:
    """Whether a guard waits for another thread to arrive at a barrier."""
    return isinstance(guard, AnyBit) and any(is_arrival(bit) for bit, _ in guard.bits)


def is_arrival(bit: Bit) -> bool:
    """Whether a bit says that a thread has arrived at a barrier."""
    return bit.structure.name == _ARRIVED


def _bit(it: Instruction) -> Member:
    thread = it.thread
    place = Place("thread", thread.path())
    return Member(Structure(_ARRIVED, place), "", None, it.index)
