"""Locks that are taken in an order: whoever waits for one gets it, so that nobody waits for ever.

A thread that has come to a stop, with the environment having done all that it can, waits in the
end for a lock that another thread holds, or that keeps a step of a cache from happening, or at a
barrier for a thread that waits itself. If no chain of such waits closes, some thread can go on
(docs/proofs.md, «Progress»).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from typing import TypeVar, assert_never

from msgspec import Struct

from rspverify.graph import on_circle
from rspverify.machine.draining import locks_of
from rspverify.machine.machine import Machine
from rspverify.machine.rendezvous import is_arrival, of_arrivals
from rspverify.machine.rules import AnyBit, Bit, Fifo, InstructionRule, Lock, Ready, Without
from rspverify.value import Constant, Expression

_ALWAYS: Expression = Constant(1)
_NEVER: Expression = Constant(0)

Spot = tuple[int, int]
"""A place in the code of a thread, by the numbers of both."""

_Wait = Spot | tuple[int, Lock]
"""What others may wait for: that a thread goes on from a place, or frees a lock."""

_Thing = TypeVar("_Thing", Lock, Fifo)

Drains = Mapping[Fifo, list[Ready]]
"""What a marker waits for in each fifo: that each location which may be DIRTY is flushed."""


class Need(Struct, frozen=True):
    """That a lock is ready.

    surely: whether the thread that has the need holds the lock itself whenever it gets there,
    unless others may free it.
    """

    ready: Ready
    surely: bool


class Place(Struct, frozen=True):
    """What a thread may hold before an instruction, or at its end, and what it may wait for.

    never: whether the instruction can never happen, so that who comes there goes no further.
    meets: its guards that wait for others at a barrier.
    """

    held: frozenset[Lock]
    needs: tuple[Need, ...] = ()
    never: bool = False
    meets: tuple[AnyBit, ...] = ()


class LockOrder:
    """The waits of a program's threads.

    freed_unsurely: the locks that some thread may free although it does not surely hold them.
    """

    def __init__(self, machine: Machine) -> None:
        self._threads = machine.program.threads
        written = {bit for rule in machine.rules for bit in rule.sets(True)}

        def flushed(bits: Iterable[Bit]) -> list[Ready]:
            return [it for bit in bits if bit in written for it in locks_of(machine, bit)]

        drains: dict[Fifo, list[Ready]] = {fifo: [] for fifo in machine.fifos}
        for (fifo, _), rule in machine.shapes.leaving.items():
            drains[fifo] += flushed(bit for bit, _ in rule.literals)
        self._at_the_end = [Need(it, False) for it in flushed(dict.fromkeys(machine.final()))]
        walks = [_Walk(machine, drains, code) for code in machine.code]
        self.freed_unsurely = frozenset(lock for walk in walks for lock in walk.freed_unsurely)
        self._places = {
            (thread, number): place
            for thread, walk in enumerate(walks)
            for number, place in enumerate(walk.places)
        }
        self._ends = [walk.places[-1] for walk in walks]
        self._arrivals = {
            bit: (thread, place)
            for thread, walk in enumerate(walks)
            for bit, place in walk.arrivals.items()
        }

    def held(self, thread: int, place: int) -> frozenset[Lock]:
        """The locks that a thread may hold before the instruction at a place of its code."""
        return self._places[thread, place].held

    @cached_property
    def holds(self) -> bool:
        """Whether no wait can last for ever."""
        if any(place.never for place in self._places.values()):
            return False
        waits: dict[_Wait, set[_Wait]] = {}
        holders: dict[Lock, set[int]] = {}
        for spot, place in self._places.items():
            for lock in place.held:
                waits.setdefault((spot[0], lock), set()).add(spot)
                holders.setdefault(lock, set()).add(spot[0])
        for spot, place in self._places.items():
            waits[spot] = {*self._blockers(spot[0], place.needs, holders)}
        awaited = {*self._blockers(None, self._at_the_end, holders)}.union(*waits.values())
        for thread, end in enumerate(self._ends):
            for kept in awaited & {(thread, lock) for lock in end.held}:
                waits[kept].add(kept)
        for spot, place in self._places.items():
            for guard in place.meets:
                arrival = None if guard.only is None else self._arrivals.get(guard.only[0])
                if arrival is None:
                    return False  # Somebody may never arrive.
                thread, last = arrival
                waits[spot] |= {(thread, number) for number in range(last + 1)}
        return on_circle(waits) is None

    def _blockers(
        self, waiting: int | None, needs: Iterable[Need], holders: Mapping[Lock, set[int]]
    ) -> Iterator[_Wait]:
        """Who may hold what is needed, and keep it from whoever waits."""
        for need in needs:
            lock = need.ready.lock
            surely = need.surely and lock not in self.freed_unsurely
            for holder in holders.get(lock, ()):
                passes = self._threads[holder] in need.ready.threads
                if not passes and (holder == waiting or not surely):
                    yield holder, lock


class _Walk:
    """One walk through the code of a thread: what it may hold and wait for at each place.

    A lock is held under the guards of the instructions that took it; a marker is on its way under
    the guard of the instruction that set it. What a guard lets happen, the same guard, or no
    guard, undoes. arrivals: the place of each that happens in any case.
    """

    def __init__(self, machine: Machine, drains: Drains, code: tuple[InstructionRule, ...]) -> None:
        self.freed_unsurely: set[Lock] = set()
        self.places: list[Place] = []
        self.arrivals: dict[Bit, int] = {}
        self._machine = machine
        self._drains = drains
        self._held: dict[Lock, set[Expression]] = {}
        self._marked: dict[Fifo, set[Expression]] = {}
        for number, rule in enumerate(code):
            guard = rule.instruction.guard
            if isinstance(guard, Constant):
                guard = Constant(int(guard.value != 0))
            held = frozenset(self._held)
            if guard == _NEVER:
                self.places.append(Place(held))
                continue
            needs = (Need(each, self._surely(each.lock, guard)) for each in self._needs(rule))
            meets = (it for it in rule.guards if isinstance(it, AnyBit) and of_arrivals(it))
            self.places.append(Place(held, tuple(needs), rule.never, tuple(meets)))
            if guard == _ALWAYS:
                self.arrivals |= {bit: number for bit in rule.sets(True) if is_arrival(bit)}
            self._follow(rule, guard)
        self.places.append(Place(frozenset(self._held)))

    def _needs(self, rule: InstructionRule) -> Iterator[Ready]:
        for guard in rule.guards:
            match guard:
                case Ready():
                    yield guard
                case AnyBit(bits):
                    for bit, _ in bits:
                        yield from locks_of(self._machine, bit)
                case Without(fifos, _):
                    for fifo in self._marked.keys() & fifos:
                        yield from self._drains[fifo]
                case _:
                    assert_never(guard)

    def _surely(self, lock: Lock, guard: Expression) -> bool:
        return not {guard, _ALWAYS}.isdisjoint(self._held.get(lock, ()))

    def _follow(self, rule: InstructionRule, guard: Expression) -> None:
        waited = {it for each in rule.guards if isinstance(each, Without) for it in each.fifos}
        for fifo in waited & self._marked.keys():
            _end(self._marked, fifo, guard)
        for fifo in rule.marks:
            self._marked.setdefault(fifo, set()).add(guard)
        for lock, holder in rule.holders.items():
            if holder is not None:
                self._held.setdefault(lock, set()).add(guard)
                continue
            surely = self._surely(lock, guard)
            _end(self._held, lock, guard)
            if lock in self._held or not surely:
                self.freed_unsurely.add(lock)


def _end(under: dict[_Thing, set[Expression]], what: _Thing, guard: Expression) -> None:
    """Leave the guards under which something is left after an instruction that ends it."""
    left = under.pop(what, set()) - {guard}
    if left and guard != _ALWAYS:
        under[what] = left
