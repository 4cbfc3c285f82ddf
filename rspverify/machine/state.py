"""Concrete states of a machine: flat tuples, and what stands where in them."""

from __future__ import annotations

from typing import Any, assert_never

from rspverify.machine.machine import Machine
from rspverify.machine.rules import Bit, Cell, Element, Fifo, Issued, Lock, Marker, Word

State = tuple[Any, ...]
"""pc of each thread, then reads, cells (a lock that is free: -1; fifos oldest first), pools."""


class Layout:
    """Where each part of a machine stands in a state; `start` is the state before any step.

    A read that has not happened is None. In a fifo a location is its number from 0, an instruction
    its index and the number of locations, a marker -1 - thread.
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
        for cell in machine.cells:
            self._add(cell, _start(machine, cell))
        for member in machine.members:
            self._add(member, False)
        self._reads = {
            instruction.register: self._slots["read", instruction.register]
            for instruction in machine.program.instructions
            if instruction.register is not None
        }

    def _add(self, key: object, value: object) -> None:
        self._slots[key] = len(self.start)
        self.start.append(value)

    def cell(self, cell: Cell | Fifo) -> int:
        """The place of a cell."""
        return self._slots[cell]

    def read(self, register: int) -> int:
        """The place of a value read."""
        return self._slots["read", register]

    def number(self, element: Element) -> int:
        """A fifo element as a number."""
        match element:
            case Marker(thread):
                return -1 - thread.thread
            case Issued(index):
                return len(self._locations) + index
            case str():
                return self._locations[element]
            case _:
                assert_never(element)

    def element(self, number: int) -> Element:
        """The fifo element that a number stands for."""
        if number < 0:
            return Marker(self._machine.program.threads[-1 - number])
        if number < len(self._locations):
            return self._machine.locations[number]
        instruction = self._machine.program.instructions[number - len(self._locations)]
        return Issued(instruction.index, str(instruction))

    def values(self, state: State | list[Any]) -> dict[int, int]:
        """The values read so far, by register."""
        return {
            register: state[slot]
            for register, slot in self._reads.items()
            if state[slot] is not None
        }


def _start(machine: Machine, cell: Cell | Fifo) -> object:
    """What a cell holds before any step."""
    match cell:
        case Bit():
            return machine.starts_true(cell)
        case Word():
            return machine.program.initial.get(cell.location or "", 0)
        case Lock():
            return -1
        case Fifo():
            return ()
        case _:
            assert_never(cell)
