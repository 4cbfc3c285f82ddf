"""Locks that are taken in an order: whoever waits for one gets it, so that nobody waits for ever.

A thread that has come to a stop, with the environment having done all that it can, waits in the
end for a lock that another thread holds, or that keeps a step of a cache from happening. If no
chain of such waits closes, some thread can go on (docs/machine.md, «Progress»).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from typing import TypeVar, assert_never

from rspverify.assembly import ThreadId
from rspverify.machine.machine import Machine
from rspverify.machine.rules import (
    AnyBit,
    Assign,
    Cache,
    Copy,
    Deliver,
    Dequeue,
    Enqueue,
    InstructionRule,
    IsDirty,
    LockCell,
    Marker,
    Ready,
    SetBit,
    SetLock,
)
from rspverify.value import Constant, Expression

T = TypeVar("T")
_ALWAYS: Expression = Constant(1)
_NEVER: Expression = Constant(0)


@dataclass(frozen=True)
class Hold:
    """A lock while a thread holds it."""

    thread: ThreadId
    lock: LockCell


@dataclass(frozen=True)
class Need:
    """That a lock is ready.

    surely: whether the thread that has the need holds the lock itself whenever it gets there.
    """

    ready: Ready
    surely: bool


@dataclass(frozen=True)
class Place:
    """What a thread may hold before an instruction, or at its end, and what it may wait for."""

    held: frozenset[LockCell]
    needs: tuple[Need, ...]


class LockOrder:
    """The waits of a program's threads, wherever they have come to."""

    def __init__(self, machine: Machine) -> None:
        self._machine = machine
        self._threads = machine.program.threads
        self._dirtied = _dirtied(machine)
        walks = [_Walk(self, code) for code in machine.code]
        freed = frozenset(lock for walk in walks for lock in walk.freed_unsurely)
        self._places = [walk.places(freed) for walk in walks]
        self._known: dict[tuple[int, ...], bool] = {}

    def holds_from(self, places: tuple[int, ...]) -> bool:
        """Whether from these places in the threads' codes on no wait can last for ever."""
        known = self._known.get(places)
        if known is None:
            known = self._known[places] = self._decide(places)
        return known

    def drain(self, cache: Cache) -> Iterator[Ready]:
        """What a marker waits for in a fifo: that each location which may be DIRTY is flushed."""
        for x in self._dirtied[cache]:
            yield self.flush(cache, x)

    def flush(self, cache: Cache, x: str) -> Ready:
        """What FLUSH and FETCH of an entry wait for; its L2 can always be made VALID."""
        return self._machine.unlocked((cache, x))

    def _decide(self, places: tuple[int, ...]) -> bool:
        to_come = [code[place:] for code, place in zip(self._places, places, strict=True)]
        holders: dict[LockCell, list[ThreadId]] = {}
        for thread, code in zip(self._threads, to_come, strict=True):
            for lock in frozenset().union(*(place.held for place in code)):
                holders.setdefault(lock, []).append(thread)
        waits: dict[Hold, set[Hold]] = {}
        awaited: set[Hold] = set()
        for thread, code in zip(self._threads, to_come, strict=True):
            for place in code:
                targets = set(self._blockers(thread, place.needs, holders))
                awaited |= targets
                for lock in place.held:
                    waits.setdefault(Hold(thread, lock), set()).update(targets)
        at_the_end = [Need(each, False) for cache in self._dirtied for each in self.drain(cache)]
        awaited |= set(self._blockers(None, at_the_end, holders))
        for thread, code in zip(self._threads, to_come, strict=True):
            for lock in code[-1].held:
                if (kept := Hold(thread, lock)) in awaited:
                    waits.setdefault(kept, set()).add(kept)
        return _acyclic(waits)

    @staticmethod
    def _blockers(
        waiting: ThreadId | None, needs: Iterable[Need], holders: Mapping[LockCell, list[ThreadId]]
    ) -> Iterator[Hold]:
        """Who may hold what is needed, and keep it from whoever waits."""
        for need in needs:
            lock, threads = need.ready.lock, need.ready.threads
            for holder in holders.get(lock, ()):
                if holder not in threads and (holder == waiting or not need.surely):
                    yield Hold(holder, lock)


class _Walk:
    """One walk through the code of a thread: what it may hold and wait for at each place.

    A lock is held under the guards of the instructions that took it; a marker is on its way under
    the guard of the instruction that set it. What a guard lets happen, the same guard, or no
    guard, undoes.
    """

    def __init__(self, order: LockOrder, code: tuple[InstructionRule, ...]) -> None:
        self.freed_unsurely: set[LockCell] = set()
        self._order = order
        self._held: dict[LockCell, set[Expression]] = {}
        self._marked: dict[Cache, set[Expression]] = {}
        self._found: list[tuple[frozenset[LockCell], list[Need]]] = []
        for rule in code:
            guard = rule.instruction.guard
            if isinstance(guard, Constant):
                guard = Constant(int(guard.value != 0))
            needs = list(self._needs(rule, guard)) if guard != _NEVER else []
            self._found.append((frozenset(self._held), needs))
            if guard != _NEVER:
                self._marked = _without(self._marked, guard)
                self._follow(rule, guard)
        self._found.append((frozenset(self._held), []))

    def places(self, freed: frozenset[LockCell]) -> list[Place]:
        """The places; nobody surely holds a lock of `freed`, as others may free it."""
        return [
            Place(
                held,
                tuple(Need(it.ready, it.surely and it.ready.lock not in freed) for it in needs),
            )
            for held, needs in self._found
        ]

    def _needs(self, rule: InstructionRule, guard: Expression) -> Iterator[Need]:
        for cache in self._marked:
            yield from (self._need(each, guard) for each in self._order.drain(cache))
        for each in rule.guards:
            match each:
                case Ready():
                    yield self._need(each, guard)
                case AnyBit(bits):
                    for bit, _ in bits:
                        yield self._need(self._order.flush(bit.cache, bit.location), guard)
                case _:
                    assert_never(each)

    def _need(self, ready: Ready, guard: Expression) -> Need:
        return Need(ready, self._surely(ready.lock, guard))

    def _surely(self, lock: LockCell, guard: Expression) -> bool:
        guards = self._held.get(lock, ())
        return guard in guards or _ALWAYS in guards

    def _follow(self, rule: InstructionRule, guard: Expression) -> None:
        for update in rule.updates:
            match update:
                case Enqueue(cache, Marker()):
                    self._marked.setdefault(cache, set()).add(guard)
                case SetLock(lock, None):
                    left = _without({lock: self._held.get(lock, set())}, guard)
                    if left or not self._surely(lock, guard):
                        self.freed_unsurely.add(lock)
                    self._held.pop(lock, None)
                    self._held |= left
                case SetLock(lock, _):
                    self._held.setdefault(lock, set()).add(guard)
                case Enqueue() | Dequeue() | SetBit() | Copy() | Assign() | Deliver():
                    pass
                case _:
                    assert_never(update)


def _without(under: Mapping[T, set[Expression]], guard: Expression) -> dict[T, set[Expression]]:
    """What is left of things that are there under guards, after an instruction that ends them."""
    if guard == _ALWAYS:
        return {}
    return {each: left for each, guards in under.items() if (left := guards - {guard})}


def _dirtied(machine: Machine) -> dict[Cache, list[str]]:
    """The locations that may be DIRTY in each cache."""
    found: dict[Cache, dict[str, None]] = {cache: {} for cache in machine.caches}
    for rule in machine.rules:
        for update in rule.updates:
            if isinstance(update, SetBit) and isinstance(update.bit, IsDirty) and update.value:
                found[update.bit.cache][update.bit.location] = None
    return {cache: list(each) for cache, each in found.items()}


def _acyclic(waits: Mapping[Hold, set[Hold]]) -> bool:
    try:
        TopologicalSorter(waits).prepare()
    except CycleError:
        return False
    return True
