"""The events of an execution: what the operations of a program are under a model."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum
from functools import cached_property

from rspverify.axiomatic.model import MemoryModel
from rspverify.litmus import Kind, Location, Operation, Program, Thread

_ONE_OF_TWO_FENCES = {"EF", "XF", "entry_fence", "exit_fence"}


class Part(Enum):
    """Which part of its operation an event is, where an operation is two events."""

    WHOLE = "whole"
    READ = "read"
    WRITE = "write"
    ENTRY = "entry"
    EXIT = "exit"


@dataclass(frozen=True)
class Event:
    """A node of an execution: (a part of) an operation, or the initial write of a location.

    index: unique in the execution; initial writes come first, in the order of the program's
    locations, then the operations in theirs. location: None for a fence or a barrier.
    """

    index: int
    location: Location | None
    operation: Operation | None = None
    thread: Thread | None = None
    part: Part = Part.WHOLE

    @property
    def initial(self) -> bool:
        """Whether it is an initial write: non-atomic, and in no thread, work-group or device."""
        return self.operation is None

    @property
    def reads(self) -> bool:
        """Whether it is in R."""
        it = self.operation
        return it is not None and it.reads and self.part is not Part.WRITE

    @property
    def writes(self) -> bool:
        """Whether it is in W, for a compare-exchange where that succeeds."""
        it = self.operation
        return it is None or (it.writes and self.part is not Part.READ)

    @property
    def at(self) -> Location:
        """The location of an access. Only fences and barriers have none."""
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
    for it in program.operations:
        location = None if it.location is None else locations[it.location]
        for part in _parts(it, model):
            events.append(Event(len(events), location, it, program.threads[it.thread], part))
    return events


def _parts(operation: Operation, model: MemoryModel) -> tuple[Part, ...]:
    """The parts of an operation that a model tells apart by the names that it uses.

    A read-modify-write is a read and a write for a model that speaks of `rmw`, and otherwise one
    event in R and in W. A barrier is the two fences of OpenCL 2.0 §3.3.6.2, at its entry and its
    exit, for a model that speaks of one of them, and otherwise one event.
    """
    if operation.kind is Kind.RMW and "rmw" in model.names:
        return Part.READ, Part.WRITE
    if operation.kind is Kind.BARRIER and _ONE_OF_TWO_FENCES & model.names:
        return Part.ENTRY, Part.EXIT
    return (Part.WHOLE,)
