"""A schedule of a search whose entries rest, with the steps that it does not tell."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rspverify.machine.explicit import ExplicitMachine
from rspverify.machine.resting import Resting
from rspverify.machine.rules import Rule
from rspverify.machine.shapes import Shape
from rspverify.machine.state import State


class Rested:
    """Schedules in which some entries are CLEAN and VALID by themselves, and fifos empty so.

    explicit: the machine in which they are not.
    """

    def __init__(self, explicit: ExplicitMachine, resting: Resting) -> None:
        self._explicit = explicit
        machine = explicit.machine
        shapes = machine.shapes
        self._leaving = [it for it in machine.steps if shapes.shape(it) is Shape.LEAVES]
        self._flushes = [
            step
            for bit, steps in shapes.clearing.items()
            for step in steps
            if resting.of(bit.location)
        ]
        self._fetches = [
            (bit, step)
            for bit in shapes.from_below
            for step in shapes.refreshing.get(bit, ())
            if resting.of(bit.location)
        ]

    def completed(self, schedule: Sequence[Rule]) -> tuple[Rule, ...]:
        """The schedule with these steps, where they are needed for what comes next."""
        state, found = self._explicit.initial, list[Rule]()
        for rule in schedule:
            after = self._explicit.apply(state, rule)
            if after is None:
                for step, before in self._steps(state):
                    found.append(step)
                    state = before
                after = self._explicit.apply(state, rule)
            found.append(rule)
            if after is None:
                break  # It will be said where it is replayed.
            state = after
        return tuple(found)

    def _steps(self, state: State) -> Iterator[tuple[Rule, State]]:
        moving = True
        while moving:
            moving = False
            for rule in (*self._flushes, *self._leaving):
                after = self._explicit.apply(state, rule)
                if after is not None:
                    state, moving = after, True
                    yield rule, state
        for bit, rule in self._fetches:
            if not self._explicit.cell(state, bit):
                after = self._explicit.apply(state, rule)
                if after is not None:
                    state = after
                    yield rule, state
