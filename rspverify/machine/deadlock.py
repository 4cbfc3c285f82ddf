"""States in which a program has come to a stop for ever.

A deadlock is a state that is not complete and in which no instruction can ever be dispatched
again, whatever the environment does; or all were, and some entry stays DIRTY for ever. From every
state from which no complete execution is reachable, a deadlock is (docs/machine.md, «Progress»).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import assert_never

from rspverify.machine.closures import alternatives
from rspverify.machine.draining import at_risk, drains, locks_of
from rspverify.machine.entries import Entry
from rspverify.machine.explicit import ExplicitMachine
from rspverify.machine.rules import InstructionRule, StepRule, holds
from rspverify.machine.shapes import Shape
from rspverify.machine.state import State


class Deadlocks:
    """Tells deadlocks from other states of a machine, reduced or not."""

    def __init__(self, explicit: ExplicitMachine) -> None:
        self._explicit = explicit
        self._machine = explicit.machine
        self._layout = explicit.layout
        shapes = self._machine.shapes
        self.drains = drains(self._machine)
        self._draining: list[StepRule] = []
        for rule in self._machine.steps:
            shape = shapes.shape(rule)
            match shape:
                case Shape.CLEARS | Shape.LEAVES:
                    self._draining.append(rule)
                case Shape.REFRESHES | Shape.LOSES | None:
                    pass  # Refreshes come last, and the others only take away.
                case _:
                    assert_never(shape)
        self._fetches = [
            (self._layout.cell(valid), rule)
            for valid in shapes.from_below
            for rule in shapes.refreshing.get(valid, ())
        ]
        self._at_risk = at_risk(self._machine)
        self._awaited = {
            rule.key: [slots for entry in self._awaited_by(rule) for slots in self._lasting(entry)]
            for code in self._machine.code
            for rule in code
        }

    @property
    def losses(self) -> Mapping[Entry, StepRule]:
        """The entries that may be lost for ever, and the steps that lose them."""
        return self._at_risk

    def _awaited_by(self, rule: InstructionRule) -> list[Entry]:
        """The entries that an instruction awaits VALID and that may be lost for ever."""
        return [entry for entry in self._at_risk if rule.awaits(entry.valid)]

    def _lasting(self, entry: Entry) -> list[list[tuple[int, frozenset[object]]]]:
        """That an entry is not evicted, as it is DIRTY, or can be fetched again."""
        dirty = [] if entry.dirty is None else [entry.dirty]
        kept = [(self._layout.cell(bit), frozenset[object]({True})) for bit in dirty]
        needed = locks_of(self._machine, entry.valid)
        return [[*kept, *alternatives(lock, self._layout)] for lock in needed]

    def lasting(self, rule: InstructionRule, state: State) -> bool:
        """Whether an instruction that may fire in a state still may when what is CLEAN is evicted.

        What it awaits VALID can then be fetched again.
        """
        return all(
            any(state[slot] in given for slot, given in each) for each in self._awaited[rule.key]
        )

    def settled(self, state: State) -> State:
        """The state after all that the environment can do to let instructions happen."""
        apply = self._explicit.apply
        moving = True
        while moving:
            moving = False
            for rule in self._draining:
                after = apply(state, rule)
                if after is not None:
                    state, moving = after, True
        for slot, rule in self._fetches:
            if not state[slot]:
                state = apply(state, rule) or state
        return state

    def is_deadlock(self, state: State) -> bool:
        """Whether no instruction can ever be dispatched, or nothing but a flush is missing."""
        if not self.drains:
            return self._nothing_follows(state)
        settled = self.settled(state)
        if self._explicit.ended(settled):
            return False
        code = self._explicit.next_rules(settled)
        return all(self._explicit.apply(settled, rule) is None for rule in code)

    def _nothing_follows(self, state: State) -> bool:
        """The same for any machine, by all states that the environment can bring about."""
        seen, stack = {state}, [state]
        while stack:
            each = stack.pop()
            if self._explicit.ended(each):
                return False
            for rule, after in self._explicit.successors(each):
                if isinstance(rule, InstructionRule):
                    return False
                if after not in seen:
                    seen.add(after)
                    stack.append(after)
        return True

    def evictions(self, state: State) -> list[Entry] | None:
        """The fewest entries to evict for a deadlock; None if it would not become one."""
        settled = self.settled(self._evicted(state))
        if not self.is_deadlock(settled):
            return None
        evictable = self._evictable(state)
        found = dict.fromkeys(
            entry
            for rule in self._explicit.next_rules(settled)
            for entry in self._awaited_by(rule)
            if entry in evictable and self._explicit.failing(settled, rule) == [holds(entry.valid)]
        )
        return list(found)

    def _evictable(self, state: State) -> list[Entry]:
        """The entries that may be lost, VALID and CLEAN."""
        at = self._explicit.cell
        return [
            entry
            for entry in self._at_risk
            if at(state, entry.valid) and not (entry.dirty and at(state, entry.dirty))
        ]

    def _evicted(self, state: State) -> State:
        after = list(state)
        for entry in self._evictable(state):
            after[self._layout.cell(entry.valid)] = False
        return tuple(after)
