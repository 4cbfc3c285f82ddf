"""Rules, cells and what threads wait for, in words."""

from __future__ import annotations

from collections.abc import Iterator
from typing import assert_never

from rspverify.machine.explicit import ExplicitMachine
from rspverify.machine.rules import (
    AnyBit,
    Bit,
    Cache,
    Element,
    InstructionRule,
    IsDirty,
    IsPresent,
    IsValid,
    LocationLock,
    LockCell,
    Marker,
    Ready,
    RmwLock,
    Rule,
    StepRule,
    Wait,
)
from rspverify.machine.state import State


def label(rule: Rule) -> str:
    """A rule by name: `LD r y`, `FLU_L1 DV`, `FLUSH_L1 x`."""
    if isinstance(rule, StepRule):
        element = rule.element
        where = f"of {element.thread}" if isinstance(element, Marker) else element
        return f"{rule.step}_{rule.cache.level.value} {where}"
    instruction = rule.instruction
    operands = {
        "r": "r",
        "x": instruction.location or "",
        "s": instruction.reach.value if instruction.reach else "",
    }
    parts = [operands[letter] for letter in instruction.mnemonic.operands]
    return " ".join([instruction.mnemonic.name, *parts])


def lock_name(lock: LockCell) -> str:
    """A lock in words."""
    match lock:
        case LocationLock(device, location):
            return f"lock of {location} on d{device}"
        case RmwLock(device, workgroup):
            return f"rmw d{device} w{workgroup}"
        case _:
            assert_never(lock)


def waiting(explicit: ExplicitMachine, state: State) -> Iterator[str]:
    """What each thread that is not finished waits for in a state, in words."""
    for rule in explicit.next_rules(state):
        marked = marked_in(explicit, state, rule)
        reasons = [f"its marker to leave the fifo of {cache}" for cache in marked]
        reasons += [_in_words(guard) for guard in explicit.failing(state, rule)]
        waits = " and ".join(reasons) or "nothing"
        yield f"{rule.instruction.thread} at {label(rule)} waits for {waits}"


def marked_in(explicit: ExplicitMachine, state: State, rule: InstructionRule) -> list[Cache]:
    """The caches in whose fifos the thread of an instruction still has markers."""
    marker = Marker(rule.instruction.thread)
    return [each for each in explicit.machine.caches if marker in explicit.fifo(state, each)]


def _in_words(guard: Wait) -> str:
    match guard:
        case AnyBit(bits):
            return " or ".join(
                f"{bit.location} {'' if value else 'not '}{_adjective(bit)} in {bit.cache}"
                for bit, value in bits
            )
        case Ready(lock, _):
            return f"the {lock_name(lock)}"
        case _:
            assert_never(guard)


def _adjective(bit: Bit) -> str:
    match bit:
        case IsDirty():
            return "DIRTY"
        case IsValid():
            return "VALID"
        case IsPresent():
            return "present"
        case _:
            assert_never(bit)


def element_name(element: Element) -> str:
    """A fifo element as it is shown."""
    return f"FLUSH({element.thread})" if isinstance(element, Marker) else element
