"""Deadlocks by the events engine: is there an execution after which nothing can go on?

A deadlock is told from what is there at its end alone: who holds which lock, what is DIRTY or
INV'D, and what stands before a marker (docs/proofs.md, «Progress»). Nothing that the environment
does later changes these where it matters: an entry is *shut* while its lock is held outside.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import assert_never

from rspverify.limits import Limits
from rspverify.machine import rules
from rspverify.machine.draining import drains, ends_tell, locks_of
from rspverify.machine.event import Event
from rspverify.machine.event_fifos import Enqueued, enqueued
from rspverify.machine.events import Events, ShapeUnknown
from rspverify.machine.machine import Machine
from rspverify.machine.rendezvous import is_arrival
from rspverify.machine.replay import Replayer, ReplayError
from rspverify.machine.rules import Bit, Fifo, InstructionRule, Rule, Wait
from rspverify.machine.shapes import Shape
from rspverify.machine.state_graph import Hang, HangSearch
from rspverify.smt.solver import Model, Solver
from rspverify.smt.term import FALSE, TRUE, Term, all_of, any_of


def deadlock_by_events(machine: Machine, limits: Limits) -> HangSearch:
    """An execution to a deadlock, if there is any, which need not be a shortest one.

    Raises LimitReached, and ShapeUnknown where a deadlock of the machine is not told from its end.
    """
    events = DeadlockEvents(machine, limits)
    solver = Solver(limits, reproducible=True)
    solver.add(*events.constraints)
    model = solver.find()
    hang = None if model is None else Hang(_with_losses(machine, events.deadlocked(model)))
    return HangSearch(hang, "by the events engine")


def _with_losses(machine: Machine, schedule: Sequence[Rule]) -> tuple[Rule, ...]:
    """A schedule that ends in a deadlock but for entries which must still be lost, completed.

    Lost is what an instruction looks at that could go on otherwise. Raises ReplayError if a step
    may not happen or the end is no deadlock even so.
    """
    replayer = Replayer(machine)
    explicit, shapes = replayer.explicit, replayer.machine.shapes
    losses = [it for it in replayer.machine.steps if shapes.shape(it) is Shape.LOSES]
    state, found = replayer.states(schedule)[-1], list(schedule)
    while True:
        settled = replayer.settled(state)
        going = (it for it in explicit.next_rules(settled) if explicit.apply(settled, it))
        rule = next(going, None)
        if rule is None:
            return tuple(found)
        awaited = (it for it in losses if any(map(rule.awaits, it.sets(False))))
        lost = ((it, explicit.apply(state, it)) for it in awaited)
        loss = next(((it, after) for it, after in lost if after is not None), None)
        if loss is None:
            raise ReplayError("the execution does not end in a deadlock")
        found.append(loss[0])
        state = loss[1]


class DeadlockEvents(Events):
    """All executions, complete or not, that end in a deadlock, as terms and constraints."""

    @staticmethod
    def unable(machine: Machine) -> str | None:
        """Why a deadlock of a machine is not told from its end alone; None if it is."""
        if machine.shapes.unknown is not None:
            return machine.shapes.unknown
        if not drains(machine):
            return "more than locks and entries keeps its steps from happening"
        if not ends_tell(machine):
            return "the locks held in the end do not tell a deadlock"
        return None

    def __init__(self, machine: Machine, limits: Limits) -> None:
        why = self.unable(machine)
        if why is not None:
            raise ShapeUnknown(why)
        super().__init__(machine, limits, complete=False)
        unfinished = []
        for code in self.possible.code:
            for each, is_next in self._next(code):
                unfinished.append(is_next)
                self.constraints.append(is_next.implies(self._never(each)))
        unflushed = [
            self._shut(bit) & ~self.order.clean(bit, None)
            for bit in machine.final()
            if bit in self.possible.setting
        ]
        self.constraints.append(any_of([*unfinished, *unflushed]))
        self.constraints += self.order.constraints(limits)

    def deadlocked(self, model: Model) -> list[Rule]:
        """The execution that a model describes, each dequeue now a step; without EVICT steps.

        A location leaves its fifo when the model says, if ever; where nobody waits for it, never.
        """
        steps: list[Rule] = []
        fifos: dict[Fifo, list[Enqueued]] = {}
        past: set[Event | None] = set()
        for each in self.order.present(model):
            past.add(each)
            if each.shape is not Shape.LEAVES:
                steps.append(each.rule)
            for element in enqueued(each):
                fifos.setdefault(element.fifo, []).append(element)
            for fifo, queue in fifos.items():
                while queue and self._leaves(queue[0], past):
                    steps.append(self.possible.shapes.leaving[fifo, queue.pop(0).element])
        return steps

    def _leaves(self, oldest: Enqueued, past: set[Event | None]) -> bool:
        return isinstance(oldest.element, rules.Marker) or self.fifos.leaving.get(oldest) in past

    def _next(self, code: list[Event]) -> Iterator[tuple[Event, Term]]:
        """Each instruction of a thread, and that it is the one to be dispatched next."""
        passed: list[Term] = []
        for each in code:
            guard = self.guards[each.instruction.index]
            yield each, all_of([guard, self.order.absent(each), *passed])
            passed.append(self.order.happens(each) | ~guard)

    def _never(self, instruction: Event) -> Term:
        """That an instruction, the next of its thread, can never be dispatched."""
        held_up = [
            all_of((stays, self._shut(bit), ~self.order.clean(bit, None)))
            for each, stays in self.fifos.remaining(self.order, instruction)
            for bit in self.fifos.wanted_clean(each)
        ]
        assert isinstance(instruction.rule, InstructionRule)
        return any_of([*held_up, *(self._fails(guard) for guard in instruction.rule.guards)])

    def _fails(self, guard: Wait) -> Term:
        """That a guard will never hold."""
        match guard:
            case rules.Ready(lock, threads):
                return ~self.order.ready(lock, threads, None)
            case rules.AnyBit(bits):
                return all_of(self._stays_wrong(bit, value) for bit, value in bits)
            case rules.Without():
                return FALSE  # What a marker stands behind is told apart above.
            case _:
                assert_never(guard)

    def _stays_wrong(self, bit: Bit, value: bool) -> Term:
        if is_arrival(bit):
            return ~self.order.is_set(bit, None, at_first=False)
        entry = self.machine.shapes.entries.get(bit)
        if entry is not None and value:
            clean = TRUE if entry.dirty is None else self.order.clean(entry.dirty, None)
            stale = clean | self.order.spoilt(entry)
            return self._shut(bit) & stale
        if bit in self.machine.shapes.clearing and not value:
            return self._shut(bit) & ~self.order.clean(bit, None)
        raise AssertionError(f"no instruction awaits {bit} being {value}")

    def _shut(self, bit: Bit) -> Term:
        """That an entry can be neither flushed nor fetched any more."""
        return any_of(self._fails(lock) for lock in locks_of(self.machine, bit))
