"""What threads wait for, in words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import assert_never

from rspverify.machine.explicit import ExplicitMachine
from rspverify.machine.rules import (
    AnyBit,
    Bit,
    Cache,
    IsDirty,
    LocationLock,
    LockCell,
    Marker,
    Ready,
    Wait,
)
from rspverify.machine.state import State


def waiting(explicit: ExplicitMachine, state: State) -> Iterator[str]:
    """What each thread that is not finished waits for in a state, be it for ever or not."""
    for rule in explicit.next_rules(state):
        marked = explicit.marked(state, rule)
        reasons = [f"its marker to leave the fifo of {cache}" for cache in marked]
        reasons += [_in_words(guard) for guard in explicit.failing(state, rule)]
        yield f"{rule.instruction.thread} at {rule} waits for {_and(reasons) or 'nothing'}"


def _in_words(guard: Wait) -> str:
    match guard:
        case AnyBit(bits):
            return " or ".join(
                f"{bit.location} {'' if value else 'not '}{bit.word} in {bit.cache}"
                for bit, value in bits
            )
        case Ready(lock, _):
            return f"the {lock}"
        case _:
            assert_never(guard)


class Waits:
    """What everything waits for in a deadlock in which the environment has done all that it can."""

    def __init__(self, explicit: ExplicitMachine, state: State) -> None:
        self._explicit = explicit
        self._machine = explicit.machine
        self._state = state
        self._unfinished = {rule.thread for rule in explicit.next_rules(state)}

    def of_threads(self) -> Iterator[str]:
        """What each unfinished thread waits for."""
        for rule in self._explicit.next_rules(self._state):
            marked = [str(cache) for cache in self._explicit.marked(self._state, rule)]
            fifos = "fifo" if len(marked) == 1 else "fifos"
            reasons = [f"its marker to leave the {fifos} of {_and(marked)}"] if marked else []
            failing = self._explicit.failing(self._state, rule)
            bits = [guard.bits[-1][0] for guard in failing if isinstance(guard, AnyBit)]
            reasons += [self._entry(bit) for bit in bits]
            said = {LocationLock(bit.cache.device, bit.location) for bit in bits}
            locks = [it.lock for it in failing if isinstance(it, Ready) and it.lock not in said]
            reasons += [self._locks(locks)] if locks else []
            yield f"{rule.instruction.thread} at {rule} waits for {_and(reasons)}"

    def of_fifos(self) -> Iterator[str]:
        """What each fifo that holds something waits for."""
        for cache in self._machine.caches:
            fifo = self._explicit.fifo(self._state, cache)
            if fifo:
                held_up = [f"the marker of {it.thread}" for it in fifo if isinstance(it, Marker)]
                behind = f"; behind it: {', '.join(held_up)}" if held_up else ""
                yield f"the fifo of {cache} waits for {fifo[0]} to be flushed{behind}"

    def of_entries(self) -> Iterator[str]:
        """What each DIRTY entry waits for."""
        for cache in self._machine.caches:
            for x in self._machine.locations:
                if self._dirty(cache, x):
                    lock = self._locks([LocationLock(cache.device, x)])
                    yield f"{x}, DIRTY in {cache}, waits to be flushed for {lock}"

    def _dirty(self, cache: Cache, x: str) -> bool:
        return bool(self._explicit.cell(self._state, IsDirty(cache, x)))

    def _entry(self, bit: Bit) -> str:
        """An entry that an instruction wants otherwise, and the lock that this needs."""
        wish = "flushed from" if isinstance(bit, IsDirty) else f"{bit.word} in"
        step = "FLUSH" if self._dirty(bit.cache, bit.location) else "FETCH"
        lock = self._locks([LocationLock(bit.cache.device, bit.location)])
        return f"{bit.location} to be {wish} {bit.cache}, where {step} needs {lock}"

    def _locks(self, locks: Iterable[LockCell]) -> str:
        held: dict[int, list[str]] = {}
        for lock in locks:
            held.setdefault(self._explicit.cell(self._state, lock), []).append(str(lock))
        return _and(
            f"the {' and the '.join(names)}, held by P{holder}"
            + ("" if holder in self._unfinished else ", which has ended")
            for holder, names in held.items()
        )


def _and(parts: Iterable[str]) -> str:
    return " and ".join(parts)
