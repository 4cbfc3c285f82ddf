"""What is said of a program under a scheduler: plain data."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from msgspec import Struct, field

from rspverify.answers import UNANSWERED, Internal
from rspverify.convert import Bounds, Count, Place, Seconds, one_of
from rspverify.schedulers import Unit
from rspverify.verdict import Event, ProgressWord, Word


class LastRead(Struct, frozen=True):
    """A read of a loop that goes round for ever, and the last write to its location."""

    read: Event
    write: Event


class StuckThread(Struct, frozen=True):
    """A thread that goes round in a loop for ever. line: of the loop; reads: in its order."""

    thread: Count
    line: Place
    reads: tuple[LastRead, ...]


class WaitingThread(Struct, frozen=True):
    """A thread that waits at a barrier for ever. missing: the threads that do not come to it."""

    thread: Count
    line: Place
    label: str
    missing: tuple[Count, ...]


class StoppedThread(Struct, frozen=True):
    """A thread that is scheduled no more. line: of what it would do next; null if nothing."""

    thread: Count
    line: Place | None


class StoppedGroup(Struct, frozen=True):
    """A work-group that is stopped for ever, or a thread where the scheduler stops those.

    group: its number, by device and then by work-group. started: whether it has executed anything.
    threads: those that have not ended.
    """

    group: Count
    started: bool
    threads: tuple[StoppedThread, ...]


class Hang(Struct, frozen=True):
    """An execution that hangs. Threads that are not named have ended.

    occupancy: how many work-groups are occupant at once, if the scheduler says how many. events:
    every event, in order; edges: its rf and mo by name. repeats: the last so many events happen
    again and again for ever; 0 where nothing but reads does.
    """

    stuck: tuple[StuckThread, ...]
    waiting: tuple[WaitingThread, ...]
    stopped: tuple[StoppedGroup, ...]
    occupancy: Place | None
    events: tuple[Event, ...]
    edges: Mapping[str, tuple[tuple[int, int], ...]]
    repeats: Count = 0


class ScheduledAnswer(Struct, frozen=True, kw_only=True):
    """What `progress` says of one test under one scheduler.

    test: the title in the file. progress: LIVE if no execution that the scheduler allows hangs,
    STUCK if one does, otherwise UNKNOWN; reason: why, in words. undefined: whether that is because
    the program may do anything. word: why there is no answer, if that is the test, what is beyond
    this version, or a limit. hang: of STUCK. within: every bound that the answer depends on.
    unit: what the scheduler stops, and a `group` of the hang is. internal: the internal error that
    came instead. seconds: what deciding it took, in the earlier run if it is cached.
    """

    test: str
    file: str
    model: str
    scheduler: str
    unit: Unit = Unit.GROUP
    progress: ProgressWord
    word: Annotated[Word | None, one_of(*UNANSWERED, None)] = None
    reason: str
    undefined: bool = False
    hang: Hang | None = None
    within: Bounds = field(default_factory=dict)
    internal: Internal | None = None
    seconds: Seconds = 0.0
    cached: bool = False


class ProgressReport(Struct, frozen=True):
    """All that `progress` says: each test under each scheduler. stopped: why no more were asked."""

    model: str
    schedulers: tuple[str, ...]
    results: tuple[ScheduledAnswer, ...]
    stopped: str | None
