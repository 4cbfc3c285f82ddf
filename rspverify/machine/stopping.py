"""Standstills by the events engine: is there an execution after which nothing can go on?

A standstill is told from what is there at its end alone: who holds which lock, what is DIRTY or
INV'D, and what stands before a marker (docs/machine.md, «Progress»). Nothing that the environment
does later changes these where it matters: an entry is *shut* while its lock is held outside.
"""

from __future__ import annotations

from collections.abc import Iterator

from rspverify.limits import Limits
from rspverify.machine.events import Events
from rspverify.machine.happening import Entry, Happening
from rspverify.machine.machine import Machine
from rspverify.machine.rules import (
    AnyBit,
    Bit,
    Cache,
    Guard,
    IsDirty,
    IsValid,
    LocationLock,
    Marker,
    Ready,
    Rule,
)
from rspverify.smt import Model, Term, all_of, any_of


class StoppingEvents(Events):
    """All executions, complete or not, that end in a standstill, as terms and constraints."""

    def __init__(self, machine: Machine, limits: Limits) -> None:
        super().__init__(machine, limits, complete=False)
        self._shut_entries: dict[Entry, Term] = {}
        self._dequeues = {
            (rule.cache, rule.marker or rule.location): rule
            for rule in machine.rules
            if rule.dequeues
        }
        unfinished = []
        for code in self.happenings.code:
            for each, is_next in self._next(code):
                unfinished.append(is_next)
                self.constraints.append(is_next.implies(self._never(each)))
        unflushed = [
            self._shut(entry) & ~self.clean(entry, None) for entry in self.happenings.dirtying
        ]
        self.constraints.append(any_of([*unfinished, *unflushed]))
        self.constraints += self.order.constraints(limits)

    def stopped(self, model: Model) -> list[Rule]:
        """The execution that a model describes, each dequeue now a step; without EVICT steps.

        A location leaves its fifo when the model says, if ever; where nobody waits for it, never.
        """
        steps: list[Rule] = []
        fifos: dict[Cache, list[tuple[Happening, int]]] = {}
        past: set[Happening] = set()
        for each in self.present(model):
            past.add(each)
            if not each.rule.dequeues:
                steps.append(each.rule)
            for place, enqueue in enumerate(each.enqueues):
                fifos.setdefault(enqueue.cache, []).append((each, place))
            for cache, fifo in fifos.items():
                while fifo and (rule := self._leaves(cache, *fifo[0], past)) is not None:
                    steps.append(rule)
                    fifo.pop(0)
        return steps

    def _leaves(self, cache: Cache, by: Happening, place: int, past: set[Happening]) -> Rule | None:
        """The dequeue of an oldest element, if it has come to that."""
        element = by.enqueues[place].element
        if isinstance(element, Marker):
            return self._dequeues[cache, element]
        leaving = self.queues.leaving(by, place)
        return self._dequeues[cache, element] if leaving in past else None

    def _next(self, code: list[Happening]) -> Iterator[tuple[Happening, Term]]:
        """Each instruction of a thread, and that it is the one to be dispatched next."""
        passed: list[Term] = []
        for each in code:
            assert each.rule.instruction is not None
            guard = self.guards[each.rule.instruction.index]
            yield each, all_of([guard, self.absent(each), *passed])
            passed.append(self.happens[each.number] | ~guard)

    def _never(self, instruction: Happening) -> Term:
        """That an instruction, the next of its thread, can never be dispatched."""
        held_up = [
            all_of((stays, self._shut(entry), ~self.clean(entry, None)))
            for each, stays in self.queues.remaining(self, instruction)
            for entry in ((each.cache, str(each.element)),)
        ]
        return any_of([*held_up, *(self._fails(guard) for guard in instruction.rule.guards)])

    def _fails(self, guard: Guard) -> Term:
        """That a guard will never hold."""
        match guard:
            case Ready(lock, threads):
                return ~self.ready(lock, threads, None)
            case AnyBit(bits):
                return all_of(self._stays_wrong(bit, value) for bit, value in bits)
        raise AssertionError("fifos are no guards of instructions")

    def _stays_wrong(self, bit: Bit, value: bool) -> Term:
        entry = (bit.cache, bit.location)
        match bit:
            case IsDirty() if not value:
                return self._shut(entry) & ~self.clean(entry, None)
            case IsValid() if value:
                return self._shut(entry) & (self.clean(entry, None) | self._spoilt(entry))
        raise AssertionError(f"no instruction awaits {bit} being {value}")

    def _shut(self, entry: Entry) -> Term:
        """That an entry can be neither flushed nor fetched any more."""
        if entry not in self._shut_entries:
            cache, x = entry
            group = self.machine.group(cache)
            ready = self.ready(LocationLock(cache.device, x), group, None)
            self._shut_entries[entry] = ~ready
        return self._shut_entries[entry]

    def _spoilt(self, entry: Entry) -> Term:
        """Of a DIRTY entry: that it has been invalidated after the last write to it."""
        return all_of(
            any_of(
                [
                    self.absent(write),
                    *(
                        self.between(spoils, write, None)
                        for spoils in self.happenings.invalidating.get(entry, ())
                    ),
                ]
            )
            for write in self.happenings.dirtying.get(entry, ())
        )
