"""Replaying a schedule on the explicit machine, rule by rule, and showing each state."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace

from rspverify.machine.explicit import ExplicitMachine
from rspverify.machine.machine import Machine
from rspverify.machine.rules import (
    AnyBit,
    Bit,
    Cache,
    Guard,
    IsDirty,
    IsPresent,
    IsValid,
    LocationLock,
    LockCell,
    Marker,
    Memory,
    Ready,
    RmwLock,
    Rule,
    ValueOf,
)
from rspverify.machine.state import State
from rspverify.verdict import CacheState, Entry, Execution, Outcome, Snapshot, Step


class ReplayError(Exception):
    """A schedule that the machine cannot follow: a bug of an engine, never of a user."""


class Replayer:
    """The machine without any reduction, on which schedules are checked and shown."""

    def __init__(self, machine: Machine) -> None:
        self.machine = replace(machine, evict=True)
        self._explicit = ExplicitMachine(self.machine, reduced=False)

    def states(self, schedule: Iterable[Rule]) -> list[State]:
        """The states that a schedule passes through. Raises ReplayError if a rule may not fire."""
        states = [self._explicit.initial]
        for place, rule in enumerate(schedule):
            after = self._explicit.apply(states[-1], rule)
            if after is None:
                raise ReplayError(f"step {place + 1}, {label(rule)}, may not happen there")
            states.append(after)
        return states

    def outcome(self, schedule: Iterable[Rule]) -> Outcome | None:
        """The outcome that a schedule ends with; None if it stops short or cannot be followed."""
        try:
            last = self.states(schedule)[-1]
        except ReplayError:
            return None
        return self._explicit.outcome(last) if self._explicit.complete(last) else None

    def with_dequeues(self, schedule: Iterable[Rule]) -> list[Rule]:
        """The schedule of an engine whose fifos dequeue by themselves, each dequeue now a step."""
        dequeues = [rule for rule in self.machine.rules if rule.dequeues]
        state = self._explicit.initial
        full: list[Rule] = []
        for rule in schedule:
            state = self._stepped(state, rule)
            full.append(rule)
            while True:
                found = next(
                    (
                        (each, after)
                        for each in dequeues
                        if (after := self._explicit.apply(state, each)) is not None
                    ),
                    None,
                )
                if found is None:
                    break
                full.append(found[0])
                state = found[1]
        return full

    def _stepped(self, state: State, rule: Rule) -> State:
        after = self._explicit.apply(state, rule)
        if after is None:
            raise ReplayError(f"{label(rule)} may not happen there")
        return after

    def without_idle_steps(
        self, schedule: Sequence[Rule], wanted: Callable[[Outcome], bool]
    ) -> list[Rule]:
        """The schedule without steps that can be left out while the outcome stays a wanted one."""
        kept = list(schedule)
        place = len(kept) - 1
        while place >= 0:
            shorter = kept[:place] + kept[place + 1 :]
            outcome = self.outcome(shorter)
            if outcome is not None and wanted(outcome):
                kept = shorter
                place = min(place, len(kept))
            place -= 1
        return kept

    def execution(self, schedule: Sequence[Rule], lines: Sequence[int]) -> Execution:
        """The execution to be shown; `lines[i]` is the source line of operation i."""
        states = self.states(schedule)
        steps = []
        for rule, before, state in zip(schedule, states, states[1:], strict=False):
            instruction = rule.instruction
            steps.append(
                Step(
                    self._with_values(rule, before, state),
                    instruction.thread.thread if instruction else None,
                    str(rule.cache) if rule.cache else None,
                    lines[instruction.operation] if instruction else None,
                    self.snapshot(state),
                )
            )
        own = tuple(str(Cache(t.device, t.workgroup)) for t in self.machine.program.threads)
        caches = tuple(str(cache) for cache in self.machine.caches)
        return Execution(self.snapshot(states[0]), tuple(steps), own, caches)

    def _with_values(self, rule: Rule, before: State, after: State) -> str:
        """The step as Figs 4 and 5 write it: `ST 42 x`, `FLUSH_L1(x, 42)`, `LD r x (reads 42)`."""
        at, instruction = self._explicit.cell, rule.instruction
        if instruction is None:
            assert rule.cache is not None
            name = f"{rule.step}_L{rule.cache.level}"
            if rule.location is None:
                return name
            state = after if rule.step == "FETCH" else before
            value = f", {at(state, ValueOf(rule.cache, rule.location))}"
            return f"{name}({rule.location}{value if rule.step in ('FETCH', 'FLUSH') else ''})"
        text = label(rule)
        if instruction.register is not None:
            text += f" (reads {self._explicit.value_read(after, instruction.register)}"
            if instruction.value is not None and instruction.mnemonic.operator is None:
                text += f", writes {self._explicit.value_of(after, instruction.value)}"
            text += ")"
        elif instruction.value is not None:
            written = self._explicit.value_of(after, instruction.value)
            text = f"{instruction.mnemonic.name} {written} {instruction.location}"
        return text

    def snapshot(self, state: State) -> Snapshot:
        """A state as plain data."""
        at = self._explicit.cell
        caches = {}
        for cache in self.machine.caches:
            entries = {}
            for x in self.machine.locations:
                if at(state, IsPresent(cache, x)):
                    dirty, valid = at(state, IsDirty(cache, x)), at(state, IsValid(cache, x))
                    entries[x] = Entry(at(state, ValueOf(cache, x)), dirty, valid)
            fifo = tuple(element_name(each) for each in self._explicit.fifo(state, cache))
            caches[str(cache)] = CacheState(entries, fifo)
        memory = {x: at(state, Memory(x)) for x in self.machine.locations}
        locks = {
            lock_name(lock): f"P{at(state, lock)}"
            for lock in self.machine.locks
            if at(state, lock) >= 0
        }
        return Snapshot(caches, memory, locks)


def label(rule: Rule) -> str:
    """A rule by name: `LD r y`, `FLU_L1 DV`, `FLUSH_L1 x`."""
    instruction = rule.instruction
    if instruction is None:
        assert rule.cache is not None
        where = rule.location if rule.marker is None else f"of {rule.marker.thread}"
        return f"{rule.step}_L{rule.cache.level} {where}"
    operands = {
        "r": "r",
        "x": instruction.location or "",
        "s": instruction.reach.value if instruction.reach else "",
    }
    parts = [operands[letter] for letter in instruction.mnemonic.operands]
    return " ".join([instruction.mnemonic.name, *parts])


def lock_name(lock: LockCell) -> str:
    """A lock in words."""
    match lock:
        case LocationLock(device, location):
            return f"lock of {location} on d{device}"
        case RmwLock(device, workgroup):
            return f"rmw d{device} w{workgroup}"


def waiting(explicit: ExplicitMachine, state: State) -> Iterator[str]:
    """What each thread that is not finished waits for in a state, in words."""
    for rule in explicit.next_rules(state):
        assert rule.instruction is not None
        thread = rule.instruction.thread
        marked = [
            str(cache)
            for cache in explicit.machine.caches
            if Marker(thread) in explicit.fifo(state, cache)
        ]
        reasons = [f"its marker to leave the fifo of {cache}" for cache in marked]
        reasons += [_in_words(guard) for guard in explicit.failing(state, rule)]
        yield f"{thread} at {label(rule)} waits for {' and '.join(reasons) or 'nothing'}"


def _in_words(guard: Guard) -> str:
    match guard:
        case AnyBit(bits):
            return " or ".join(
                f"{bit.location} {'' if value else 'not '}{_adjective(bit)} in {bit.cache}"
                for bit, value in bits
            )
        case Ready(lock, _):
            return f"the {lock_name(lock)}"
    return "its turn in the fifo"


def _adjective(bit: Bit) -> str:
    return "DIRTY" if isinstance(bit, IsDirty) else "VALID"


def element_name(element: str | Marker) -> str:
    """A fifo element as it is shown."""
    return f"FLUSH({element.thread})" if isinstance(element, Marker) else element
