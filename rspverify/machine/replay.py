"""Replaying a schedule on the explicit machine, rule by rule, and showing each state."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any, assert_never

from rspverify.machine.explicit import ExplicitMachine
from rspverify.machine.machine import Machine
from rspverify.machine.rules import (
    Cache,
    Cell,
    InstructionRule,
    IsDirty,
    IsPresent,
    IsValid,
    Memory,
    Rule,
    Step,
    StepRule,
    ValueOf,
)
from rspverify.machine.state import State
from rspverify.value import evaluate
from rspverify.verdict import CacheState, Entry, Execution, Outcome, Snapshot
from rspverify.verdict import Step as ShownStep


class ReplayError(Exception):
    """A schedule that the machine cannot follow: a bug of an engine, never of a user."""


class Replayer:
    """The machine without any reduction, on which schedules are checked and shown."""

    def __init__(self, machine: Machine) -> None:
        self.machine = replace(machine, evict=True)
        self.explicit = ExplicitMachine(self.machine, reduced=False)

    def states(self, schedule: Iterable[Rule]) -> list[State]:
        """The states that a schedule passes through. Raises ReplayError if a rule may not fire."""
        states = [self.explicit.initial]
        for place, rule in enumerate(schedule):
            states.append(self._stepped(states[-1], rule, place))
        return states

    def outcome(self, schedule: Iterable[Rule]) -> Outcome | None:
        """The outcome that a schedule ends with; None if it stops short or cannot be followed."""
        try:
            last = self.states(schedule)[-1]
        except ReplayError:
            return None
        return self.explicit.outcome(last) if self.explicit.complete(last) else None

    def with_dequeues(self, schedule: Iterable[Rule]) -> list[Rule]:
        """The schedule of an engine whose fifos dequeue by themselves, each dequeue now a step."""
        full: list[Rule] = []
        state = self.explicit.initial
        for rule in schedule:
            state = self._stepped(state, rule, len(full))
            full.append(rule)
            while dequeue := self._dequeue(state):
                full.append(dequeue[0])
                state = dequeue[1]
        return full

    def _stepped(self, state: State, rule: Rule, place: int) -> State:
        after = self.explicit.apply(state, rule)
        if after is None:
            raise ReplayError(f"step {place + 1}, {rule}, may not happen there")
        return after

    def _dequeue(self, state: State) -> tuple[Rule, State] | None:
        return next((it for it in self.explicit.successors(state) if it[0].dequeues), None)

    def without_idle_steps(
        self, schedule: Sequence[Rule], wanted: Callable[[Outcome], bool]
    ) -> list[Rule]:
        """The schedule without steps that can be left out while the outcome stays a wanted one."""
        kept = list(schedule)
        for place in reversed(range(len(schedule))):
            shorter = kept[:place] + kept[place + 1 :]
            outcome = self.outcome(shorter)
            if outcome is not None and wanted(outcome):
                kept = shorter
        return kept

    def execution(self, schedule: Sequence[Rule], lines: Sequence[int]) -> Execution:
        """The execution to be shown; `lines[i]` is the source line of operation i."""
        states = self.states(schedule)
        steps = []
        for rule, (before, state) in zip(schedule, pairwise(states), strict=True):
            text, snapshot = self._with_values(rule, before, state), self.snapshot(state)
            if isinstance(rule, InstructionRule):
                line = lines[rule.instruction.operation]
                steps.append(ShownStep(text, rule.thread, None, line, snapshot))
            else:
                steps.append(ShownStep(text, None, str(rule.cache), None, snapshot))
        own = tuple(str(Cache(t.device, t.workgroup)) for t in self.machine.program.threads)
        caches = tuple(str(cache) for cache in self.machine.caches)
        return Execution(self.snapshot(states[0]), tuple(steps), own, caches)

    def _with_values(self, rule: Rule, before: State, after: State) -> str:
        """The step as Figs 4 and 5 write it: `ST 42 x`, `FLUSH_L1(x, 42)`, `LD r x (reads 42)`."""
        if isinstance(rule, StepRule):
            return self._step_with_value(rule, before, after)
        instruction, text = rule.instruction, str(rule)
        values = self.explicit.layout.values(after)
        if instruction.register is not None:
            text += f" (reads {values[instruction.register]}"
            if instruction.value is not None and instruction.mnemonic.operator is None:
                text += f", writes {evaluate(instruction.value, values)}"
            text += ")"
        elif instruction.value is not None:
            written = evaluate(instruction.value, values)
            text = f"{instruction.mnemonic.name} {written} {instruction.location}"
        return text

    def _step_with_value(self, rule: StepRule, before: State, after: State) -> str:
        match rule.step:
            case Step.FETCH | Step.FLUSH:
                state = after if rule.step is Step.FETCH else before
                value = self.explicit.cell(state, ValueOf(*rule.entry))
                return f"{rule.name}({rule.element}, {value})"
            case Step.EVICT | Step.DEQLOC:
                return f"{rule.name}({rule.element})"
            case Step.DEQMARKER:
                return rule.name
            case _:
                assert_never(rule.step)

    def snapshot(self, state: State) -> Snapshot:
        """A state as plain data."""

        def at(cell: Cell) -> Any:
            return self.explicit.cell(state, cell)

        caches = {
            str(cache): CacheState(
                {
                    x: Entry(at(ValueOf(cache, x)), at(IsDirty(cache, x)), at(IsValid(cache, x)))
                    for x in self.machine.locations
                    if at(IsPresent(cache, x))
                },
                tuple(map(str, self.explicit.fifo(state, cache))),
            )
            for cache in self.machine.caches
        }
        memory = {x: at(Memory(x)) for x in self.machine.locations}
        locks = {str(lock): f"P{at(lock)}" for lock in self.machine.locks if at(lock) >= 0}
        return Snapshot(caches, memory, locks)
