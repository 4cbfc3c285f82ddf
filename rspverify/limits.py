"""What an answer may cost, and the exception that says which limit was met."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from math import inf
from types import FrameType

from msgspec import Struct, field

SECONDS = 120.0
"""What one test under one scheme may take where nothing is said: shipped ones take a tenth."""

MEMORY = 2 * 2**30
"""The bytes that it may need then."""

DEFAULT_UNROLL = 8
"""How many iterations of a loop are looked at, unless another number is asked for."""


LONG = 20.0
"""After so many seconds it is said which test takes so long."""

LOST = "a worker process ended unexpectedly, perhaps for lack of memory; try -j 1"
"""What is said of what a worker process was at when it was lost."""


class LimitReached(Exception):
    """A limit was met before there was an answer; the text says which, in words for users."""


class Limits(Struct, frozen=True):
    """Bounds on one question; meeting one of them makes a verdict UNKNOWN, never SOUND.

    seconds: wall time for the whole question, or None; states: of the explicit machine;
    values: that one location may take; outcomes: that a program may have; memory: bytes, or None.
    """

    seconds: float | None = None
    states: int = 2_000_000
    values: int = 256
    outcomes: int = 20_000
    memory: int | None = None
    started: float = field(default_factory=time.monotonic)

    @property
    def _end(self) -> float:
        return inf if self.seconds is None else self.started + self.seconds

    def remaining(self) -> float | None:
        """Seconds left, None if there is no bound on time; raises LimitReached at zero."""
        outer = _ENFORCED.get()
        others = None if outer is None or outer is self else outer.remaining()
        if self._end == inf:
            return others
        left = self._end - time.monotonic()
        if left <= 0:
            raise LimitReached(f"timeout of {self.seconds:g} s")
        return left if others is None else min(left, others)

    def require_room(self, count: int, what: str, seconds: float, memory: int) -> None:
        """Raises LimitReached where so many things, not made yet, are too much for what is left.

        seconds, memory: what each of them takes at least, with all that is made of it.
        """
        left, most = self.remaining(), self.most_memory
        if left is not None and count * seconds > left:
            raise LimitReached(
                f"{count:,} {what} take longer than the {left:.1f} s left of --timeout"
            )
        if most is not None and count * memory > most:
            raise LimitReached(f"{count:,} {what} need {self.too_large}")

    def require_outcomes(self, found: int) -> None:
        """Raises LimitReached where a program has more outcomes than it may have."""
        if found > self.outcomes:
            raise LimitReached(f"more than {self.outcomes:,} outcomes")

    @contextmanager
    def enforced(self) -> Iterator[None]:
        """What is done here is within these limits, besides its own; those around them count on.

        In the main thread of a process a signal interrupts it where it does not look at the clock.
        What is shared with others must then be made anew: it may be half done.
        """
        tighter = min(self, _ENFORCED.get() or self, key=lambda each: each._end)
        token = _ENFORCED.set(tighter)
        try:
            with tighter._interrupting():
                yield
        finally:
            _ENFORCED.reset(token)

    @contextmanager
    def _interrupting(self) -> Iterator[None]:
        left = self.remaining()
        here = threading.current_thread() is threading.main_thread()
        if left is None or not here or not hasattr(signal, "setitimer"):
            yield
            return
        began, started, armed = _resident(), time.monotonic(), True

        def look(number: int, frame: FrameType | None) -> None:
            if armed and time.monotonic() - started > left + _GRACE:
                raise LimitReached(f"timeout of {self.seconds:g} s")
            if armed and self.memory is not None and _resident() - began > self.memory:
                raise LimitReached(self.too_large)

        handler = signal.signal(signal.SIGALRM, look)
        before = signal.setitimer(signal.ITIMER_REAL, _TICK, _TICK)
        try:
            try:
                yield
            finally:
                armed = False
        finally:
            armed = False
            signal.setitimer(signal.ITIMER_REAL, 0)  # Without a handler it would end the process.
            signal.signal(signal.SIGALRM, handler)
            rest = max(before[0] - time.monotonic() + started, 0.01) if before[0] else 0.0
            signal.setitimer(signal.ITIMER_REAL, rest, before[1])

    @property
    def are_enforced(self) -> bool:
        """Whether all that is done now is within some limits."""
        return _ENFORCED.get() is not None

    @property
    def most_memory(self) -> int | None:
        """The bytes that may be needed, None where there is no limit."""
        outer = _ENFORCED.get()
        return outer.memory if self.memory is None and outer is not None else self.memory

    @property
    def too_large(self) -> str:
        """What is said where there is not enough memory."""
        return f"more than {(self.most_memory or 0) / 2**30:g} GiB of memory (--timeout 0 for more)"


_ENFORCED: ContextVar[Limits | None] = ContextVar("_ENFORCED", default=None)


_TICK, _GRACE = 0.25, 0.5
"""Seconds between two looks at the clock, and after which who does not look is interrupted."""


def _resident() -> int:
    """The memory of this process in bytes, 0 where the system does not say."""
    with suppress(OSError), open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * _PAGE
    return 0


_PAGE = 4096
"""The bytes of a page; where they are more, the limit is larger than it says."""
