"""Concrete states of a machine: flat tuples, and what stands where in them."""

from __future__ import annotations

from typing import Any

from rspverify.machine.machine import Machine
from rspverify.machine.rules import (
    Cache,
    Cell,
    Element,
    IsDirty,
    IsPresent,
    IsValid,
    Marker,
    Memory,
    ValueOf,
)

State = tuple[Any, ...]
"""pc of each thread, then reads, bits, words, locks (-1: free) and fifos (oldest first)."""


class Layout:
    """Where each part of a machine stands in a state; `start` is the state before any step.

    A read that has not happened is None. In a fifo a location is its number from 0, a marker is
    -1 - thread.
    """

    def __init__(self, machine: Machine) -> None:
        self.start: list[Any] = []
        self._machine = machine
        self._slots: dict[Any, int] = {}
        self._locations = {x: place for place, x in enumerate(machine.locations)}
        for thread in machine.program.threads:
            self._add(("pc", thread.thread), 0)
        for instruction in machine.program.instructions:
            if instruction.register is not None:
                self._add(("read", instruction.register), None)
        for cache in machine.caches:
            for x in machine.locations:
                self._add(IsDirty(cache, x), False)
                self._add(IsValid(cache, x), False)
                if machine.evict:
                    self._add(IsPresent(cache, x), False)
                self._add(ValueOf(cache, x), 0)
        for x, value in machine.program.initial.items():
            self._add(Memory(x), value)
        for lock in machine.locks:
            self._add(lock, -1)
        for cache in machine.caches:
            self._add(("fifo", cache), ())
        self._reads = {
            instruction.register: self._slots["read", instruction.register]
            for instruction in machine.program.instructions
            if instruction.register is not None
        }
        self.fifos = [self._slots["fifo", cache] for cache in machine.caches]

    def _add(self, key: object, value: object) -> None:
        self._slots[key] = len(self.start)
        self.start.append(value)

    def cell(self, cell: Cell) -> int:
        """The place of a bit, a word or a lock."""
        return self._slots[cell]

    def read(self, register: int) -> int:
        """The place of a value read."""
        return self._slots["read", register]

    def fifo(self, cache: Cache) -> int:
        """The place of a fifo."""
        return self._slots["fifo", cache]

    def number(self, element: Element) -> int:
        """A fifo element as a number."""
        if isinstance(element, Marker):
            return -1 - element.thread.thread
        return self._locations[element]

    def element(self, number: int) -> Element:
        """The fifo element that a number stands for."""
        if number >= 0:
            return self._machine.locations[number]
        return Marker(self._machine.program.threads[-1 - number])

    def values(self, state: State | list[Any]) -> dict[int, int]:
        """The values read so far, by register."""
        return {
            register: state[slot]
            for register, slot in self._reads.items()
            if state[slot] is not None
        }
