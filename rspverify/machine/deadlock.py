"""States in which a program has come to a stop for ever.

A deadlock is a state that is not complete and in which no instruction can ever be dispatched
again, whatever the environment does; or all were, and some entry stays DIRTY for ever. From every
state from which no complete execution is reachable, a deadlock is (docs/machine.md, «Progress»).
"""

from __future__ import annotations

from itertools import product
from typing import assert_never

from rspverify.assembly import Level
from rspverify.machine.closures import alternatives
from rspverify.machine.explicit import ExplicitMachine
from rspverify.machine.rules import (
    Entry,
    InstructionRule,
    IsDirty,
    IsValid,
    Step,
    StepRule,
    valid,
)
from rspverify.machine.state import State


class Deadlocks:
    """Tells deadlocks from other states of a machine, reduced or not."""

    def __init__(self, explicit: ExplicitMachine) -> None:
        self._explicit = explicit
        self._machine = explicit.machine
        self._layout = explicit.layout
        self._drains: list[StepRule] = []
        self._fetches: list[StepRule] = []
        for rule in self._machine.steps:
            match rule.step:
                case Step.FLUSH | Step.DEQLOC | Step.DEQMARKER:
                    self._drains.append(rule)
                case Step.FETCH:
                    self._fetches.append(rule)
                case Step.EVICT:
                    pass  # It only takes away.
                case _:
                    assert_never(rule.step)
        self._fetches.sort(key=lambda rule: rule.cache.level is Level.L1)
        self._awaited = {
            rule.key: [self._lasting(entry) for entry in _awaited_l1s(rule)]
            for code in self._machine.code
            for rule in code
        }

    def _lasting(self, entry: Entry) -> list[tuple[int, frozenset[object]]]:
        """That an entry is not evicted, as it is DIRTY, or can be fetched again."""
        lock = alternatives(self._machine.unlocked(entry), self._layout)
        return [(self._layout.cell(IsDirty(*entry)), frozenset({True})), *lock]

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
            for rule in self._drains:
                after = apply(state, rule)
                if after is not None:
                    state, moving = after, True
        for rule in self._fetches:
            if not self._explicit.cell(state, IsValid(*rule.entry)):
                state = apply(state, rule) or state
        return state

    def is_deadlock(self, state: State) -> bool:
        """Whether no instruction can ever be dispatched, or nothing but a flush is missing."""
        settled = self.settled(state)
        if self._explicit.ended(settled):
            return False
        code = self._explicit.next_rules(settled)
        return all(self._explicit.apply(settled, rule) is None for rule in code)

    def evictions(self, state: State) -> list[Entry] | None:
        """The fewest L1 entries to evict for a deadlock; None if it would not become one."""
        settled = self.settled(self._evicted(state))
        if not self.is_deadlock(settled):
            return None
        evictable = self._evictable(state)
        found = dict.fromkeys(
            entry
            for rule in self._explicit.next_rules(settled)
            for entry in _awaited_l1s(rule)
            if entry in evictable
            and self._explicit.failing(settled, rule) == [valid(entry)]
            and not self._explicit.marked(settled, rule)
        )
        return list(found)

    def _evictable(self, state: State) -> list[Entry]:
        """The L1 entries that are VALID and CLEAN."""
        at = self._explicit.cell
        return [
            entry
            for entry in product(self._machine.l1s, self._machine.locations)
            if at(state, IsValid(*entry)) and not at(state, IsDirty(*entry))
        ]

    def _evicted(self, state: State) -> State:
        after = list(state)
        for entry in self._evictable(state):
            after[self._layout.cell(IsValid(*entry))] = False
        return tuple(after)


def _awaited_l1s(rule: InstructionRule) -> list[Entry]:
    """The L1 entries that an instruction awaits VALID; an L2 entry can always be fetched again."""
    return [
        (cache, x)
        for cache, x in rule.valid_entries
        if cache.level is Level.L1 and rule.awaits_valid((cache, x))
    ]
