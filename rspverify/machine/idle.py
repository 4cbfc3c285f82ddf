"""Which instructions do nothing in programs that access one kind of memory alone."""

from __future__ import annotations

from functools import lru_cache

from rspverify.architecture import Architecture
from rspverify.machine.entries import never
from rspverify.machine.machine import Machine, everywhere
from rspverify.machine.rules import InstructionRule
from rspverify.records import replace


@lru_cache
def idle(architecture: Architecture, kind: str) -> frozenset[tuple[str, str | None]]:
    """Name and reach of each: it changes nothing, and waits at most for what nobody does, as for
    accesses of local memory where this kind is global memory."""
    whole = everywhere(architecture, (kind,))
    may = {rule.instruction.index for code in whole.code for rule in code if not never(rule)}
    code = tuple(tuple(it for it in those if it.index in may) for those in whole.program.code)
    rules = [
        rule
        for those in Machine(replace(whole.program, code=code), elide=False).code
        for rule in those
    ]
    busy = [it for it in rules if it.guards or it.updates]
    return frozenset(map(_token, rules)).difference(map(_token, busy))


def _token(rule: InstructionRule) -> tuple[str, str | None]:
    return rule.instruction.mnemonic.name, rule.instruction.reach
