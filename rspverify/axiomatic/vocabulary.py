"""The names that a .cat model may use without defining them, and what each means (Fig. 2).

Adding a base set or relation is one line here. A relation holds between executed events only.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from rspverify.litmus import Kind, Location, Operation, Order, Scope, Thread

_RELEASES = {Order.RELEASE, Order.ACQ_REL, Order.SEQ_CST}
_ACQUIRES = {Order.ACQUIRE, Order.ACQ_REL, Order.SEQ_CST}


@dataclass(frozen=True)
class Event:
    """A node of an execution: an operation of a thread, or the initial write of a location."""

    index: int
    location: Location
    operation: Operation | None = None
    thread: Thread | None = None

    @property
    def initial(self) -> bool:
        """Whether it is an initial write: non-atomic, and in no thread, work-group or device."""
        return self.operation is None

    @property
    def reads(self) -> bool:
        """Whether it is in R."""
        return self.operation is not None and self.operation.reads

    @property
    def writes(self) -> bool:
        """Whether it is in W."""
        return self.operation is None or self.operation.writes


def _operation(test: Callable[[Operation], bool]) -> Callable[[Event], bool]:
    return lambda event: event.operation is not None and test(event.operation)


SETS: Mapping[str, Callable[[Event], bool]] = {
    "_": lambda event: True,
    "R": lambda event: event.reads,
    "W": lambda event: event.writes,
    "RMW": _operation(lambda it: it.kind is Kind.RMW),
    "I": lambda event: event.initial,
    "IW": lambda event: event.initial,
    "A": _operation(lambda it: it.atomic),
    "na": lambda event: event.operation is None or not event.operation.atomic,
    "nal": lambda event: not event.location.atomic,
    "REL": _operation(lambda it: it.order in _RELEASES),
    "ACQ": _operation(lambda it: it.order in _ACQUIRES),
    "SC": _operation(lambda it: it.order is Order.SEQ_CST),
    "WG": _operation(lambda it: it.scope is Scope.WG),
    "DV": _operation(lambda it: it.scope is Scope.DV),
    "ALL": _operation(lambda it: it.scope is Scope.ALL),
    "rem": _operation(lambda it: it.remote),
}
"""Base sets: name → which events belong to it, if executed."""


def _place(event: Event, levels: int) -> tuple[int, ...] | None:
    thread = event.thread
    return (thread.device, thread.workgroup, thread.index)[:levels] if thread else None


def _together(levels: int) -> Callable[[Event, Event], bool]:
    return lambda a, b: a.thread is not None and _place(a, levels) == _place(b, levels)


def _sequenced(a: Event, b: Event) -> bool:
    if a.initial:
        return not b.initial
    return a.thread is b.thread and a.index < b.index


RELATIONS: Mapping[str, Callable[[Event, Event], bool]] = {
    "id": lambda a, b: a is b,
    "unv": lambda a, b: True,
    "thd": _together(3),
    "wg": _together(2),
    "dv": _together(1),
    "loc": lambda a, b: a.location is b.location,
    "sb": _sequenced,
    "po": _sequenced,
}
"""Base relations that the program alone decides."""

READS_FROM = ("rf",)
MODIFICATION_ORDER = ("mo", "co")
"""The names of the execution witness."""
