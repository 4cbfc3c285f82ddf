"""Executions in which threads may end before their time: stuck, waiting, or stopped.

A thread has *points* in the order of its code, and in each execution it ends at one of them: it has
finished; it is stuck in a loop that only spins, whose last iteration goes on and reads what is last
in memory; it waits at a barrier to which not everybody comes; or it is stopped, anywhere. What
stands after the point is not executed. The program is given guards that say so, and its candidate
executions are then these.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from itertools import count
from typing import TypeAlias

from msgspec import Struct

from rspverify.axiomatic.divergence import DIVERGENCE, barrier_in_words
from rspverify.axiomatic.model import MemoryModel
from rspverify.axiomatic.read_values import candidates_of
from rspverify.isa.execution import LATE
from rspverify.limits import LimitReached, Limits
from rspverify.litmus.program import (
    Cut,
    Fault,
    Kind,
    Operation,
    Order,
    Program,
    Spin,
    Thread,
    one_barrier,
)
from rspverify.records import replace
from rspverify.smt.choice import Choice, pick, truth
from rspverify.smt.term import FALSE, Term, all_of, any_of
from rspverify.value import Read, conjunction


class Finished(Struct, frozen=True):
    """The thread has executed all of its code."""


class Stuck(Struct, frozen=True):
    """The thread goes round in a loop for ever."""

    spin: Spin


class Waiting(Struct, frozen=True):
    """The thread is at a barrier, and some thread that must come to it does not."""

    barrier: Operation


class Stopped(Struct, frozen=True):
    """The thread is not scheduled any more. next: the operation before which it is stopped."""

    next: int


End: TypeAlias = Finished | Stuck | Waiting | Stopped


class _Point(Struct, frozen=True):
    """Where a thread may end, or reach a cut: before the operation with this index."""

    at: int
    what: End | Cut


class PartialExecutions:
    """The executions of a program under a model in which threads may end early.

    candidates: what the model makes of them; their constraints and axioms hold in each that is
    consistent. ends: thread → where it may end, in the order of its code, and the term that it
    does. constraints: what makes a candidate such an execution besides. An execution in which a
    thread reaches a cut is left out. Raises LimitReached.
    """

    def __init__(self, program: Program, model: MemoryModel, limits: Limits) -> None:
        self.program = program
        self._points: list[list[_Point]] = []
        self.ends: list[Mapping[End, Term]] = []
        self.constraints: list[Term] = []
        first = 0
        for thread in program.threads:
            points = [*_points(program, thread, first)]
            ends = [each.what for each in points if not isinstance(each.what, Cut)]
            chosen, constraints = pick(f"end of {thread.name}", ends)
            self._points.append(points)
            self.ends.append(chosen)
            self.constraints += constraints
            first += len(thread.operations)
        given: dict[int, Choice[int]] = {}
        numbers = count(first)
        threads = tuple(
            replace(thread, operations=tuple(self._guarded(thread, given, numbers)))
            for thread in program.threads
        )
        guarded = replace(program, threads=threads, cuts=(), spins=(), blocked=())
        self.candidates = candidates_of(guarded, model, limits, given)
        self._executed = {
            event.operation.index: self.candidates.executed[event.index]
            for event in reversed(self.candidates.events)
            if event.operation is not None
        }
        self.constraints += self._loops()
        self.constraints += self._barriers()
        self.constraints += self._meetings()

    def executed(self, operation: Operation) -> Term:
        """That an operation is executed."""
        return self._executed[operation.index]

    def finished(self, thread: int) -> Term:
        """That a thread has executed all of its code."""
        return self.ends[thread][Finished()]

    def _party(self, barrier: Operation) -> frozenset[int]:
        return frozenset(it.index for it in self.program.party(barrier))

    # ---- what is executed ----------------------------------------------------------------------

    def _guarded(
        self, thread: Thread, given: dict[int, Choice[int]], numbers: Iterator[int]
    ) -> Iterator[Operation]:
        """The operations of a thread, with guards that look at where it ends.

        A read-modify-write that writes what it read in an iteration that goes on is there a load.
        """

        def told(term: Term) -> Read:
            number = next(numbers)
            given[number] = {1: term, 0: ~term}
            return Read(number)

        points, ends = self._points[thread.index], self.ends[thread.index]
        for it in thread.operations:
            before = [each.what for each in points if each.at <= it.index]
            ended = any_of(ends[end] for end in before if not isinstance(end, Cut))
            if ended is not FALSE:
                it = replace(it, guard=conjunction(it.guard, told(~ended)))
            goes_on = any_of(
                term
                for end, term in ends.items()
                if isinstance(end, Stuck) and it.index in end.spin.rmws
            )
            if goes_on is not FALSE:
                it = replace(it, success=told(~goes_on), failure=_of_load(it.order))
            yield it

    def _after(self, thread: int, point: _Point) -> Term:
        points = self._points[thread]
        later = (each.what for each in points[points.index(point) + 1 :])
        return any_of(self.ends[thread][end] for end in later if not isinstance(end, Cut))

    def _loops(self) -> Iterator[Term]:
        """Who is stuck goes on, and reads what is last in memory; who comes out does not go on."""
        for thread, points in enumerate(self._points):
            for point in points:
                match point.what:
                    case Cut(_, guard):
                        yield self._after(thread, point).implies(~truth(guard, self._reads))
                    case Stuck(spin):
                        goes_on = truth(spin.guard, self._reads)
                        stuck = self.ends[thread][point.what]
                        yield self._after(thread, point).implies(~goes_on)
                        yield stuck.implies(goes_on)
                        for it in self.program.operations[spin.first : spin.end]:
                            if it.reads:
                                yield all_of((stuck, self.executed(it))).implies(self._current(it))

    @property
    def _reads(self) -> Mapping[int, Choice[int]]:
        return self.candidates.reads

    def _current(self, operation: Operation) -> Term:
        reader = self.candidates.reader[operation.index]
        last = self.candidates.last[reader.at.name]
        rf = self.candidates.rf
        return any_of(
            rf.get((write, reader.index), FALSE) & is_last for write, is_last in last.items()
        )

    def faults(self) -> Iterator[tuple[Fault, Term]]:
        """What makes the program undefined besides races, and that a thread has come to it."""
        for fault in self.program.faults:
            ends, points = self.ends[fault.thread], self._points[fault.thread]
            before = [each.what for each in points if each.at <= fault.at]
            ended = any_of(ends[end] for end in before if not isinstance(end, Cut))
            yield fault, all_of((truth(fault.guard, self._reads), ~ended))
        yield from self._divergence()

    # ---- barriers ------------------------------------------------------------------------------

    @cached_property
    def _barriers_of_all(self) -> tuple[Operation, ...]:
        return tuple(it for it in self.program.operations if it.kind is Kind.BARRIER)

    def _waiting(self, barrier: Operation) -> Term:
        """That a thread waits at this barrier for ever."""
        return self.ends[barrier.thread].get(Waiting(barrier), FALSE)

    def _own(self, thread: int, barrier: Operation) -> list[Operation]:
        """The barriers of a thread at which it meets those who are at this one."""
        return [
            it for it in self._barriers_of_all if it.thread == thread and one_barrier(it, barrier)
        ]

    def absent(self, barrier: Operation) -> Iterator[tuple[int, Term]]:
        """The threads that must come to a barrier, each with the term that it does not."""
        for thread in sorted(self._party(barrier)):
            own = self._own(thread, barrier)
            yield thread, ~any_of(self.executed(it) | self._waiting(it) for it in own)

    def _barriers(self) -> Iterator[Term]:
        """All go through a barrier or none does; one waits only if another does not come."""
        for barrier in self._barriers_of_all:
            for thread in self._party(barrier) - {barrier.thread}:
                through = any_of(self.executed(it) for it in self._own(thread, barrier))
                yield self.executed(barrier).implies(through)
            waits = self._waiting(barrier)
            yield waits.implies(truth(barrier.guard, self._reads))
            yield waits.implies(any_of(term for _, term in self.absent(barrier)))

    def _meetings(self) -> Iterator[Term]:
        """In assembly nobody comes past a barrier before all are there. Raises LimitReached where
        it is not for all."""
        barriers = self.program.barriers_of_assembly
        for it in barriers:
            if LATE in it.tags.write:
                raise LimitReached("a barrier with a quorum is not looked at where threads may end")
            own = self.program.threads[it.thread].operations
            later = [self.executed(each) for each in own if each.index > it.index]
            past = any_of([*later, self.finished(it.thread)])
            others = self._party(it) - {it.thread}
            for other in barriers:
                if other.thread in others and one_barrier(it, other):
                    yield all_of((self.executed(it), past)).implies(self.executed(other))

    def _divergence(self) -> Iterator[tuple[Fault, Term]]:
        """Barriers that part: one waits, and another has ended, or waits at another barrier."""
        for barrier in self._barriers_of_all:
            waits = self._waiting(barrier)
            for thread in sorted(self._party(barrier) - {barrier.thread}):
                yield _parted(barrier, f"P{thread} ends without it", waits & self.finished(thread))
                for it in self._barriers_of_all:
                    met = it.thread == thread and barrier.thread in self._party(it)
                    if met and not one_barrier(it, barrier):
                        there = f"P{thread} line {it.span.line} comes to {barrier_in_words(it)}"
                        yield _parted(barrier, there, waits & self._waiting(it))


def _parted(barrier: Operation, other: str, term: Term) -> tuple[Fault, Term]:
    at, guard, span = barrier.index, barrier.guard, barrier.span
    what = f"comes to {barrier_in_words(barrier)}, and {other}"
    return Fault(DIVERGENCE, barrier.thread, at, guard, span, what), term


def _points(program: Program, thread: Thread, first: int) -> Iterator[_Point]:
    """Where a thread may end.

    Of loops that end at one place the inner ones come first, as far as that can be told: one that
    does nothing comes last, so that an execution that is stuck there may be left out.
    """
    last = first + len(thread.operations)
    spins = [it for it in program.spins if it.thread == thread.index]
    cuts = [it for it in program.cuts if it.thread == thread.index]
    for at in range(first, last + 1):
        here = [it for it in spins if it.end == at]
        ways: list[End | Cut] = [Stuck(it) for it in here if it.first < at]
        ways += (it for it in cuts if it.at == at)
        ways += (Stuck(it) for it in here if it.first == at)
        if at < last or ways:
            yield _Point(at, Stopped(at))
        for each in ways:
            yield _Point(at, each)
        if at < last and program.operations[at].kind is Kind.BARRIER:
            yield _Point(at, Waiting(program.operations[at]))
    yield _Point(last + 1, Finished())


def _of_load(order: Order | None) -> Order | None:
    match order:
        case Order.ACQ_REL:
            return Order.ACQUIRE
        case Order.RELEASE:
            return Order.RELAXED
        case _:
            return order
