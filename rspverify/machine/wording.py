"""The waits of threads, in words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from rspverify.machine.draining import locks_of
from rspverify.machine.explicit import ExplicitMachine
from rspverify.machine.rendezvous import is_arrival
from rspverify.machine.rules import AnyBit, Bit, Lock, Marker, Ready, Without
from rspverify.machine.state import State


def _any_of(guard: AnyBit) -> str:
    return " or ".join(_bit(bit, value) for bit, value in guard.bits) or "what cannot be"


def _fifos(guard: Without) -> str:
    fifos = _and(map(str, guard.fifos))
    if guard.elements is None:
        return f"{fifos} to be empty"
    return f"{', '.join(map(str, guard.elements))} to leave {fifos}"


def _bit(bit: Bit, value: bool) -> str:
    if is_arrival(bit):
        return f"{bit.structure.place} to arrive"
    where = "" if bit.location is None else f"{bit.location} "
    return f"{where}{'' if value else 'not '}{bit.word} in {bit.structure}"


class Waits:
    """All waits in a state in which no step of the environment is possible, or helps."""

    def __init__(self, explicit: ExplicitMachine, state: State) -> None:
        self._explicit = explicit
        self._machine = explicit.machine
        self._state = state
        self._unfinished = {rule.thread for rule in explicit.next_rules(state)}

    def of_threads(self) -> Iterator[str]:
        """The waits of unfinished threads."""
        for rule in self._explicit.next_rules(self._state):
            marked = [str(fifo) for fifo in self._explicit.marked(self._state, rule)]
            fifos = "fifo" if len(marked) == 1 else "fifos"
            reasons = [f"its marker to leave the {fifos} of {_and(marked)}"] if marked else []
            failing = self._explicit.failing(self._state, rule)
            bits = [it for it in failing if isinstance(it, AnyBit)]
            reasons += [self._bits(it) for it in bits]
            said = {lock for it in bits for bit, _ in it.bits for lock in self._locks_of(bit)}
            locks = [it.lock for it in failing if isinstance(it, Ready) and it.lock not in said]
            reasons += [self._locks(locks)] if locks else []
            if not marked:
                reasons += [_fifos(it) for it in failing if isinstance(it, Without)]
            waits = _and(reasons) or "nothing"
            yield f"{rule.instruction.thread} at {rule} waits for {waits}"

    def of_fifos(self) -> Iterator[str]:
        """The waits of fifos that are not empty."""
        for fifo in self._machine.fifos:
            queue = self._explicit.fifo(self._state, fifo)
            if queue:
                held_up = [f"the marker of {it.thread}" for it in queue if isinstance(it, Marker)]
                behind = f"; behind it: {', '.join(held_up)}" if held_up else ""
                waits = f"{queue[0]} to be flushed" if isinstance(queue[0], str) else str(queue[0])
                yield f"the fifo of {fifo} waits for {waits}{behind}"

    def of_entries(self) -> Iterator[str]:
        """The waits of DIRTY entries."""
        for bit in self._machine.final():
            if self._explicit.cell(self._state, bit):
                lock = self._locks(self._locks_of(bit))
                what = f"{bit.location}, {bit.word} in {bit.structure}"
                yield f"{what}, waits to be flushed" + (f" for {lock}" if lock else "")

    def _locks_of(self, bit: Bit) -> list[Lock]:
        """The locks that keep a step of an entry from happening."""
        held = [
            it.lock
            for it in locks_of(self._machine, bit)
            if self._explicit.cell(self._state, it.lock)
            not in {-1, *(thread.thread for thread in it.threads)}
        ]
        return list(dict.fromkeys(held))

    def _bits(self, guard: AnyBit) -> str:
        """An entry that an instruction wants otherwise, and the lock that this needs."""
        bit, value = guard.bits[-1] if guard.bits else (None, False)
        locks = [] if bit is None else self._locks_of(bit)
        if bit is None or not locks:
            return _any_of(guard)
        shapes = self._machine.shapes
        entry = shapes.entries.get(bit)
        dirty = bit if entry is None else entry.dirty
        steps = shapes.refreshing.get(bit, [])
        if dirty is not None and self._explicit.cell(self._state, dirty):
            steps = shapes.clearing.get(dirty, [])
        wish = f"{bit.word} in" if value else "flushed from"
        name = steps[0].step if steps else "a step"
        return (
            f"{bit.location} to be {wish} {bit.structure}, where {name} needs {self._locks(locks)}"
        )

    def _locks(self, locks: Iterable[Lock]) -> str:
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
