"""Locations whose values decide nothing, and whose entries never keep anyone waiting for ever.

Whoever waits for such an entry to be VALID or CLEAN waits for steps that can always happen, and
that change nothing else. So a search may take these steps to have happened (docs/machine.md,
«Progress»).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rspverify.machine.draining import never_shut
from rspverify.machine.explicit import ExplicitMachine
from rspverify.machine.idle_values import deciding_locations
from rspverify.machine.machine import Machine
from rspverify.machine.rules import InstructionRule, Rule
from rspverify.machine.shapes import Shape
from rspverify.machine.state import State


def resting_locations(machine: Machine) -> list[str]:
    """These locations; none where a lock may keep an entry from being flushed or fetched."""
    if not never_shut(machine):
        return []
    deciding = deciding_locations(machine.program)
    alone = [x for x in machine.locations if x not in deciding]
    for rule in machine.rules:
        about = set(_about(rule))
        if len(about) > 1:
            alone = [x for x in alone if x not in about]
    return alone


def _about(rule: Rule) -> Iterator[str | None]:
    """The locations whose entries a rule wants so or so, and its own."""
    wanted = [bit.location for bit, _ in rule.literals]
    yield from wanted
    if wanted and isinstance(rule, InstructionRule) and rule.instruction.location is not None:
        yield rule.instruction.location


class Rested:
    """Schedules in which some entries are CLEAN and VALID by themselves, and fifos empty so."""

    def __init__(self, explicit: ExplicitMachine, resting: Sequence[str]) -> None:
        self._explicit = explicit
        machine = explicit.machine
        shapes = machine.shapes
        self._leaving = [it for it in machine.steps if shapes.shape(it) is Shape.LEAVES]
        self._flushes, self._fetches = [], []
        for bit, steps in shapes.clearing.items():
            if bit.location in resting:
                self._flushes += steps
        for bit in shapes.from_below:
            if bit.location in resting:
                self._fetches += [(bit, step) for step in shapes.refreshing.get(bit, ())]

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
