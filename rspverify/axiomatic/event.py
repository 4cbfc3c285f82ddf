"""The events of an execution: what the operations of a program are under a model."""

from __future__ import annotations

from enum import Enum
from functools import cached_property

from msgspec import Struct

from rspverify.axiomatic.model import MemoryModel
from rspverify.litmus.program import Kind, Location, Operation, Program, Thread
from rspverify.records import replace
from rspverify.value import Constant

_ONE_OF_TWO_FENCES = {"EF", "XF", "entry_fence", "exit_fence"}

PARTY = "party"
"""The base relation between a barrier and the events of the threads that must come to it."""


class Part(Enum):
    """Which part of its operation an event is, where an operation is two events."""

    WHOLE = "whole"
    READ = "read"
    WRITE = "write"
    ENTRY = "entry"
    EXIT = "exit"
    START = "start"


class Event(Struct, frozen=True, dict=True):
    """A node of an execution: (a part of) an operation, an initial write, or a thread's start.

    index: unique in the execution; initial writes come first, in the order of the program's
    locations, then starts, then the operations in their order. location: None for a fence, a
    barrier, or a start. operation: None for an initial write and a start; thread: None for the
    first of these alone.
    """

    index: int
    location: Location | None
    operation: Operation | None = None
    thread: Thread | None = None
    part: Part = Part.WHOLE

    @property
    def initial(self) -> bool:
        """Whether it is an initial write: non-atomic, and in no thread, work-group or device."""
        return self.thread is None

    @property
    def reads(self) -> bool:
        """Whether it is in R."""
        it = self.operation
        return it is not None and it.reads and self.part is not Part.WRITE

    @property
    def writes(self) -> bool:
        """Whether it is in W, for a compare-exchange where that succeeds."""
        it = self.operation
        return self.initial if it is None else it.writes and self.part is not Part.READ

    @property
    def at(self) -> Location:
        """The location of an access. Only fences, barriers and starts have none."""
        assert self.location is not None
        return self.location

    def is_one_of(self, operations: frozenset[int]) -> bool:
        """Whether its operation is one of these, by index."""
        return self.operation is not None and self.operation.index in operations

    @cached_property
    def failed(self) -> Event | None:
        """What a compare-exchange is where it fails; None for any other event.

        The write of a compare-exchange that is two events is not executed then.
        """
        it = self.operation
        if it is None or it.success is None or self.part is Part.WRITE:
            return None
        return replace(self, operation=it.failed)


def events_of(program: Program, model: MemoryModel) -> list[Event]:
    """The events of a program under a model; the one with index i stands at place i."""
    locations = {location.name: location for location in program.locations}
    events = [Event(index, location) for index, location in enumerate(program.locations)]
    for thread in _of_unknown_events(program, model):
        events.append(Event(len(events), None, None, thread, Part.START))
    for it in program.operations:
        if it.kind is Kind.CHOICE:
            continue
        location = None if it.location is None else locations[it.location]
        for part in _parts(it, model):
            events.append(Event(len(events), location, it, program.threads[it.thread], part))
    return events


def _of_unknown_events(program: Program, model: MemoryModel) -> list[Thread]:
    """The threads that may execute nothing, where a model asks who does not come to a barrier.

    Their starts are events: what is asked of the events of a thread is asked of each thread then.
    """
    if PARTY not in model.names or all(it.kind is not Kind.BARRIER for it in program.operations):
        return []
    return [
        thread
        for thread in program.threads
        if not any(isinstance(it.guard, Constant) for it in thread.operations)
    ]


def _parts(operation: Operation, model: MemoryModel) -> tuple[Part, ...]:
    """The parts of an operation that a model tells apart by the names that it uses.

    A read-modify-write is a read and a write for a model that speaks of `rmw` or `amo`, and
    otherwise one event in R and in W. A barrier is the two fences of OpenCL 2.0 §3.3.6.2, at its
    entry and its exit, for a model that speaks of one of them, and otherwise one event.
    """
    halves = operation.kind is Kind.RMW and not operation.whole
    if halves and {"rmw", "amo"} & model.names:
        return Part.READ, Part.WRITE
    if operation.kind is Kind.BARRIER and _ONE_OF_TWO_FENCES & model.names:
        return Part.ENTRY, Part.EXIT
    return (Part.WHOLE,)
