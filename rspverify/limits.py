"""What an answer may cost, and the exception that says which limit was met."""

from __future__ import annotations

import time

from msgspec import Struct, field

DEFAULT_UNROLL = 8
"""How many iterations of a loop are looked at, unless another number is asked for."""


LOST = "a worker process ended unexpectedly, perhaps for lack of memory; try -j 1"
"""What is said of what a worker process was at when it was lost."""


class LimitReached(Exception):
    """A limit was met before there was an answer; the text says which, in words for users."""


class Limits(Struct, frozen=True):
    """Bounds on one question; meeting one of them makes a verdict UNKNOWN, never SOUND.

    seconds: wall time for the whole question, or None; states: of the explicit machine;
    values: that one location may take; outcomes: that a program may have.
    """

    seconds: float | None = None
    states: int = 2_000_000
    values: int = 256
    outcomes: int = 20_000
    started: float = field(default_factory=time.monotonic)

    def remaining(self) -> float | None:
        """Seconds left, None if there is no bound on time; raises LimitReached at zero."""
        if self.seconds is None or self.seconds == float("inf"):
            return None
        left = self.started + self.seconds - time.monotonic()
        if left <= 0:
            raise LimitReached(f"timeout of {self.seconds:g} s")
        return left

    def require_outcomes(self, found: int) -> None:
        """Raises LimitReached where a program has more outcomes than it may have."""
        if found > self.outcomes:
            raise LimitReached(f"more than {self.outcomes:,} outcomes")
