"""States in which a program has come to a stop for ever, and what everything waits for in them.

A standstill is a state that is not complete and in which no instruction can ever be dispatched
again, whatever the environment does; or all were, and some entry stays DIRTY for ever. From every
state from which no complete execution is reachable, a standstill is (docs/machine.md, «Progress»).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from rspverify.machine.explicit import ExplicitMachine
from rspverify.machine.rules import (
    AnyBit,
    Bit,
    Cache,
    Guard,
    IsDirty,
    IsValid,
    LocationLock,
    LockCell,
    Marker,
    Ready,
    Rule,
)
from rspverify.machine.state import Layout, State
from rspverify.machine.trace import element_name, label, lock_name


class Standstills:
    """Tells standstills from other states of a machine, reduced or not."""

    def __init__(self, explicit: ExplicitMachine) -> None:
        self._explicit = explicit
        self._machine = explicit.machine
        self._layout = Layout(explicit.machine)
        steps = [rule for rule in self._machine.rules if rule.instruction is None]
        self._drains = [rule for rule in steps if rule.dequeues or rule.step == "FLUSH"]
        fetches = [rule for rule in steps if rule.step == "FETCH"]
        self._fetches = sorted(fetches, key=lambda rule: rule.cache is None or -rule.cache.level)
        self._awaited = {
            rule.key: list(self._entries(rule)) for code in self._machine.code for rule in code
        }

    def _entries(self, rule: Rule) -> Iterator[tuple[int, int, frozenset[int]]]:
        """Per L1 entry awaited VALID: its DIRTY bit, its lock, and whom that is ready for."""
        for guard in rule.guards:
            for cache, x in _valid_entries(guard):
                lock = self._layout.cell(LocationLock(cache.device, x))
                group = frozenset({-1} | {each.thread for each in self._machine.group(cache)})
                yield self._layout.cell(IsDirty(cache, x)), lock, group

    def lasting(self, rule: Rule, state: State) -> bool:
        """Whether an instruction that may fire in a state still may when what is CLEAN is evicted.

        What it awaits VALID can then be fetched again.
        """
        return all(
            state[dirty] or state[lock] in ready for dirty, lock, ready in self._awaited[rule.key]
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
            assert rule.cache is not None and rule.location is not None
            if not self._explicit.cell(state, IsValid(rule.cache, rule.location)):
                state = apply(state, rule) or state
        return state

    def is_standstill(self, state: State) -> bool:
        """Whether no instruction can ever be dispatched, or nothing but a flush is missing."""
        settled = self.settled(state)
        if self._explicit.ended(settled):
            return False
        code = self._explicit.next_rules(settled)
        return all(self._explicit.apply(settled, rule) is None for rule in code)

    def cut(self, state: State) -> bool:
        """Whether a thread goes on where the unrolling of a loop has ended."""
        return self._explicit.cut(state)

    def evictions(self, state: State) -> list[tuple[Cache, str]] | None:
        """The fewest L1 entries to evict for a standstill; None if it would not become one."""
        settled = self.settled(self._evicted(state))
        if not self.is_standstill(settled):
            return None
        found: dict[tuple[Cache, str], None] = {}
        for rule in self._explicit.next_rules(settled):
            failing = self._explicit.failing(settled, rule)
            if len(failing) == 1 and not marked_in(self._explicit, settled, rule):
                for cache, x in _valid_entries(failing[0]):
                    if self._may_be_evicted(state, cache, x):
                        found[cache, x] = None
        return list(found)

    def waits(self, state: State) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Of a standstill: what each unfinished thread waits for, and each fifo and DIRTY entry.

        In words. What the environment can still do away with is left out.
        """
        words = _Words(self._explicit, self.settled(state))
        return tuple(words.of_threads()), (*words.of_fifos(), *words.of_entries())

    def _may_be_evicted(self, state: State, cache: Cache, x: str) -> bool:
        at = self._explicit.cell
        return bool(at(state, IsValid(cache, x)) and not at(state, IsDirty(cache, x)))

    def _evicted(self, state: State) -> State:
        after = list(state)
        for cache in self._machine.l1s:
            for x in self._machine.locations:
                if self._may_be_evicted(state, cache, x):
                    after[self._layout.cell(IsValid(cache, x))] = False
        return tuple(after)


class _Words:
    """A settled standstill in words."""

    def __init__(self, explicit: ExplicitMachine, state: State) -> None:
        self._explicit = explicit
        self._machine = explicit.machine
        self._state = state
        self._unfinished = {
            rule.instruction.thread.thread
            for rule in explicit.next_rules(state)
            if rule.instruction is not None
        }

    def of_threads(self) -> Iterator[str]:
        """What each unfinished thread waits for."""
        for rule in self._explicit.next_rules(self._state):
            assert rule.instruction is not None
            marked = [str(cache) for cache in marked_in(self._explicit, self._state, rule)]
            fifos = "fifo" if len(marked) == 1 else "fifos"
            reasons = [f"its marker to leave the {fifos} of {_and(marked)}"] if marked else []
            failing = self._explicit.failing(self._state, rule)
            bits = [guard.bits[-1][0] for guard in failing if isinstance(guard, AnyBit)]
            reasons += [self._entry(bit) for bit in bits]
            said = {LocationLock(bit.cache.device, bit.location) for bit in bits}
            locks = [it.lock for it in failing if isinstance(it, Ready) and it.lock not in said]
            reasons += [self._locks(locks)] if locks else []
            yield f"{rule.instruction.thread} at {label(rule)} waits for {_and(reasons)}"

    def of_fifos(self) -> Iterator[str]:
        """What each fifo that holds something waits for."""
        for cache in self._machine.caches:
            fifo = self._explicit.fifo(self._state, cache)
            if fifo:
                held_up = [f"the marker of {it.thread}" for it in fifo if isinstance(it, Marker)]
                behind = f"; behind it: {', '.join(held_up)}" if held_up else ""
                yield f"the fifo of {cache} waits for {element_name(fifo[0])} to be flushed{behind}"

    def of_entries(self) -> Iterator[str]:
        """What each DIRTY entry waits for."""
        for cache in self._machine.caches:
            for x in self._machine.locations:
                if self._dirty(cache, x):
                    lock = self._locks([LocationLock(cache.device, x)])
                    yield f"{x}, DIRTY in {cache}, waits to be flushed for {lock}"

    def _dirty(self, cache: Cache, x: str) -> bool:
        return bool(self._explicit.cell(self._state, IsDirty(cache, x)))

    def _entry(self, bit: Bit) -> str:
        """An entry that an instruction wants otherwise, and the lock that this needs."""
        wish = "VALID in" if isinstance(bit, IsValid) else "flushed from"
        step = "FLUSH" if self._dirty(bit.cache, bit.location) else "FETCH"
        lock = self._locks([LocationLock(bit.cache.device, bit.location)])
        return f"{bit.location} to be {wish} {bit.cache}, where {step} needs {lock}"

    def _locks(self, locks: Iterable[LockCell]) -> str:
        held: dict[int, list[str]] = {}
        for lock in locks:
            held.setdefault(self._explicit.cell(self._state, lock), []).append(lock_name(lock))
        return _and(
            f"the {' and the '.join(names)}, held by P{holder}"
            + ("" if holder in self._unfinished else ", which has ended")
            for holder, names in held.items()
        )


def _and(parts: Iterable[str]) -> str:
    return " and ".join(parts)


def marked_in(explicit: ExplicitMachine, state: State, rule: Rule) -> list[Cache]:
    """The caches in whose fifos the thread of an instruction still has markers."""
    assert rule.instruction is not None
    marker = Marker(rule.instruction.thread)
    return [each for each in explicit.machine.caches if marker in explicit.fifo(state, each)]


def _valid_entries(guard: Guard) -> Iterator[tuple[Cache, str]]:
    """The L1 entry that a guard wants VALID, if that is what it wants."""
    if isinstance(guard, AnyBit) and len(guard.bits) == 1:
        bit = guard.bits[0][0]
        if isinstance(bit, IsValid) and bit.cache.level == 1:
            yield bit.cache, bit.location
