"""Loops that only spin, as loops: where a thread goes on."""

from __future__ import annotations

from typing import Any

from rspverify.assembly import AssemblyProgram
from rspverify.limits import LimitReached
from rspverify.machine.closures import known_value
from rspverify.machine.state import Layout
from rspverify.value import Expression


class Loops:
    """The loops of a program that only spin.

    Raises LimitReached where what is read may come after it is needed.
    """

    def __init__(self, program: AssemblyProgram, layout: Layout) -> None:
        if program.completes_later:
            raise LimitReached(
                "a loop may go on before what it reads is there"
                if program.spins
                else "where accesses complete later, it is not known which group has begun"
            )
        self._layout = layout
        self._ending: dict[tuple[int, int], list[tuple[int, Expression, list[int]]]] = {}
        for spin in sorted(program.spins, key=lambda it: -it.first):  # Inner ones come first.
            iteration = program.code[spin.thread][spin.first : spin.end]
            slots = [layout.read(it.register) for it in iteration if it.register is not None]
            found = self._ending.setdefault((spin.thread, spin.end), [])
            found.append((spin.first, spin.guard, slots))

    def again(self, state: list[Any], thread: int, place: int) -> int | None:
        """Where a thread that has come to the end of an iteration goes on, if it does.

        What it has read in that is forgotten.
        """
        for first, going, slots in self._ending.get((thread, place), ()):
            if known_value(going, self._layout.values(state)):
                for slot in slots:
                    state[slot] = None
                return first
        return None
