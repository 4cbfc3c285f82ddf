"""The machine that runs one compiled program: its parts, and its rules from Tab. 1 and Tab. 2."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, product
from typing import assert_never

from rspverify import assembly
from rspverify.assembly import AssemblyProgram, Instruction, Level, Lock, Reach, ThreadId
from rspverify.machine.rules import (
    AnyBit,
    Assign,
    Cache,
    Copy,
    Deliver,
    Dequeue,
    Enqueue,
    Entry,
    Guard,
    InstructionRule,
    IsDirty,
    IsPresent,
    IsValid,
    LocationLock,
    LockCell,
    Marker,
    Memory,
    Oldest,
    Ready,
    RmwLock,
    Rule,
    SetBit,
    SetLock,
    Step,
    StepRule,
    Update,
    ValueOf,
    Wait,
    Word,
    clean,
    valid,
)


@dataclass(frozen=True)
class Machine:
    """A compiled program on the machine of Fig. 3.

    elide_l2: treat L2 as memory itself: always VALID, never DIRTY, with an empty fifo. Exact for
    one device (docs/machine.md), and what the machine is where its L2s are coherent; with several
    devices whose L2s are not it must be False.
    evict: have EVICT steps, and with them the difference between absent and INV'D entries. Nothing
    that can be observed depends on it (docs/machine.md).
    """

    program: AssemblyProgram
    elide_l2: bool
    evict: bool = False

    def __post_init__(self) -> None:
        if len(self.devices) > 1 and self.elide_l2 is not self.program.machine.coherent_l2:
            raise ValueError("with several devices, L2 is memory exactly where it is coherent")

    @cached_property
    def devices(self) -> tuple[int, ...]:
        """The devices that threads run on."""
        return tuple(sorted({thread.device for thread in self.program.threads}))

    @cached_property
    def l1s(self) -> tuple[Cache, ...]:
        """The L1 caches, one per work-group."""
        groups = sorted({(thread.device, thread.workgroup) for thread in self.program.threads})
        return tuple(Cache(device, workgroup) for device, workgroup in groups)

    @cached_property
    def caches(self) -> tuple[Cache, ...]:
        """All caches that the machine has."""
        l2s = () if self.elide_l2 else tuple(Cache(device, None) for device in self.devices)
        return self.l1s + l2s

    @cached_property
    def locations(self) -> tuple[str, ...]:
        """The locations of memory."""
        return tuple(self.program.initial)

    @cached_property
    def locks(self) -> tuple[LockCell, ...]:
        """All locks."""
        lockfiles = [LocationLock(d, x) for d in self.devices for x in self.locations]
        rmws = [RmwLock(l1.device, l1.workgroup or 0) for l1 in self.l1s]
        return (*lockfiles, *rmws)

    @cached_property
    def rules(self) -> tuple[Rule, ...]:
        """Every rule: instructions in program order, then the steps of each cache."""
        return (*chain.from_iterable(self.code), *self.steps)

    @cached_property
    def code(self) -> tuple[tuple[InstructionRule, ...], ...]:
        """The instructions of each thread, in program order (Tab. 1)."""
        return tuple(tuple(map(self._instruction, thread)) for thread in self.program.code)

    @cached_property
    def steps(self) -> tuple[StepRule, ...]:
        """The steps of the environment (Tab. 2)."""
        entries = product(self.caches, self.locations)
        return (
            *(rule for cache, x in entries for rule in self._steps(cache, x)),
            *(rule for cache in self.caches for rule in self._dequeues(cache)),
        )

    def own(self, thread: ThreadId, level: Level) -> Cache:
        """The cache of a level on a thread's path to memory."""
        match level:
            case Level.L1:
                return Cache(thread.device, thread.workgroup)
            case Level.L2:
                return Cache(thread.device, None)
            case _:
                assert_never(level)

    def group(self, cache: Cache) -> frozenset[ThreadId]:
        """The threads that may trigger the steps of a cache (docs/machine.md)."""
        return frozenset(
            thread
            for thread in self.program.threads
            if thread.device == cache.device and cache.workgroup in (None, thread.workgroup)
        )

    def in_reach(self, thread: ThreadId, level: Level, reach: Reach) -> list[Cache]:
        """The caches of a level that a reach names, seen from a thread; none where L2 is elided."""
        own = self.own(thread, level)
        alike = [cache for cache in self.caches if cache.level is level]
        match reach:
            case Reach.WG:
                return [cache for cache in alike if cache == own]
            case Reach.DV:
                return [cache for cache in alike if cache.device == own.device]
            case Reach.SY:
                return alike
            case _:
                assert_never(reach)

    def below(self, cache: Cache) -> Cache | None:
        """The cache that a cache stands over; None if that is memory."""
        l2 = Cache(cache.device, None)
        return l2 if cache.level is Level.L1 and l2 in self.caches else None

    def unlocked(self, entry: Entry) -> Ready:
        """What FLUSH and FETCH of an entry wait for."""
        cache, x = entry
        return Ready(LocationLock(cache.device, x), self.group(cache))

    # Tab. 1

    def _instruction(self, it: Instruction) -> InstructionRule:
        guards: list[Wait] = []
        updates: list[Update] = []
        for effect in it.mnemonic.effects:
            match effect:
                case assembly.Await():
                    guards += self._await(it, effect)
                case assembly.ReadEntry(level):
                    assert it.register is not None
                    word = self._word(self.own(it.thread, level), _location(it))
                    updates.append(Deliver(it.register, word))
                case assembly.WriteEntry(level):
                    assert it.value is not None
                    own, x = self.own(it.thread, level), _location(it)
                    updates += [Assign(self._word(own, x), it.value), *self._stored(own, x)]
                case assembly.Invalidate(level, reach, every):
                    locations = self.locations if every else (_location(it),)
                    entries = product(self._in_reach(it, level, reach), locations)
                    updates += [SetBit(IsValid(*entry), False) for entry in entries]
                case assembly.Mark(level, reach):
                    caches = self._in_reach(it, level, reach)
                    updates += [Enqueue(each, Marker(it.thread)) for each in caches]
                case assembly.Acquire(lock, reach):
                    updates += [SetLock(each, it.thread) for each in self._locks(it, lock, reach)]
                case assembly.Release(lock, reach):
                    updates += [SetLock(each, None) for each in self._locks(it, lock, reach)]
                case _:
                    assert_never(effect)
        return InstructionRule(tuple(guards), tuple(updates), it)

    def _await(self, it: Instruction, effect: assembly.Await) -> list[Wait]:
        if isinstance(effect.what, Lock):
            locks = self._locks(it, effect.what, effect.reach)
            return [Ready(lock, frozenset({it.thread})) for lock in locks]
        assert effect.level is not None
        cache, x = self.own(it.thread, effect.level), _location(it)
        if cache not in self.caches:
            return []
        clean, fresh = (IsDirty(cache, x), False), (IsValid(cache, x), True)
        match effect.what:
            case assembly.Condition.VALID:
                return [AnyBit((fresh,))]
            case assembly.Condition.NOT_DIRTY:
                return [AnyBit((clean,))]
            case assembly.Condition.NOT_DIRTY_AND_INVALID:
                return [AnyBit((clean, fresh))]
            case _:
                assert_never(effect.what)

    def _word(self, cache: Cache, x: str) -> Word:
        return ValueOf(cache, x) if cache in self.caches else Memory(x)

    def _stored(self, cache: Cache, x: str) -> list[Update]:
        """The rest of store(C, x, v): DIRTY, VALID, and enqueued."""
        if cache not in self.caches:
            return []
        bits = [SetBit(IsDirty(cache, x), True), SetBit(IsValid(cache, x), True)]
        return [*bits, *self._present(cache, x), Enqueue(cache, x)]

    def _present(self, cache: Cache, x: str) -> list[Update]:
        return [SetBit(IsPresent(cache, x), True)] if self.evict else []

    def _in_reach(self, it: Instruction, level: Level, reach: Reach | None) -> list[Cache]:
        """The caches that an effect is about; without a reach of its own it has the operand's."""
        named = reach or it.reach
        assert named is not None
        return self.in_reach(it.thread, level, named)

    def _locks(self, it: Instruction, lock: Lock, reach: Reach | None) -> list[LockCell]:
        match lock:
            case Lock.LOCATION:
                return [LocationLock(it.thread.device, _location(it))]
            case Lock.RMW:
                caches = self._in_reach(it, Level.L1, reach)
                return [RmwLock(cache.device, cache.workgroup or 0) for cache in caches]
            case _:
                assert_never(lock)

    # Tab. 2

    def _steps(self, cache: Cache, x: str) -> Iterator[StepRule]:
        """The steps of one cache at one location; the level below is L2, or memory."""
        entry, lock, below = (cache, x), self.unlocked((cache, x)), self.below(cache)
        value, dirty, is_valid = ValueOf(cache, x), IsDirty(cache, x), IsValid(cache, x)
        lower: Word = Memory(x)
        flushed: list[Update] = []
        fetchable: list[Guard] = []
        if below is not None:
            lower = ValueOf(below, x)
            l2s = [each for each in self.caches if each.level is Level.L2]
            flushed = [SetBit(IsValid(l2, x), False) for l2 in l2s]
            flushed += self._stored(below, x)
            fetchable = [valid((below, x))]
        updates = (*flushed, Copy(lower, value), SetBit(dirty, False))
        yield StepRule((AnyBit(((dirty, True),)), lock), updates, Step.FLUSH, *entry)
        updates = (Copy(value, lower), SetBit(is_valid, True), *self._present(cache, x))
        yield StepRule((clean(entry), *fetchable, lock), updates, Step.FETCH, *entry)
        if self.evict:
            present = IsPresent(cache, x)
            locked = (lock,) if cache.level is Level.L2 else ()
            guards = (AnyBit(((present, True),)), clean(entry), *locked)
            updates = (SetBit(is_valid, False), SetBit(present, False))
            yield StepRule(guards, updates, Step.EVICT, *entry)

    def _dequeues(self, cache: Cache) -> Iterator[StepRule]:
        leave = (Dequeue(cache),)
        for x in self.locations:
            guards = (Oldest(cache, x), clean((cache, x)))
            yield StepRule(guards, leave, Step.DEQLOC, cache, x)
        for marker in map(Marker, self.program.threads):
            yield StepRule((Oldest(cache, marker),), leave, Step.DEQMARKER, cache, marker)

    def final(self) -> list[IsDirty]:
        """The bits that must be false in a complete execution: nothing is DIRTY."""
        return [IsDirty(cache, x) for cache in self.caches for x in self.locations]


def _location(it: Instruction) -> str:
    assert it.location is not None
    return it.location
