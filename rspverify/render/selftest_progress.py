"""`selftest` as it goes: how many pairs, how fast, and the time that is left."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rspverify.render.progress import counting

_EVERY = 10.0
"""Seconds between two lines where there is no terminal to draw on."""


@contextmanager
def shown_progress(total: int, shown: bool) -> Iterator[Callable[[], None]]:
    """What to call after each pair. On standard error: a bar, or without a terminal a few lines."""
    if not shown:
        yield lambda: None
    elif sys.stderr.isatty():
        with counting("pairs", total) as advance:
            yield advance
    else:
        yield _Lines(total)


class _Lines:
    """A line now and then."""

    def __init__(self, total: int) -> None:
        self._total = total
        self._done = 0
        self._started = self._said = time.monotonic()

    def __call__(self) -> None:
        self._done += 1
        now = time.monotonic()
        if now - self._said < _EVERY:
            return
        self._said = now
        rate = self._done / (now - self._started)
        left = (self._total - self._done) / rate
        words = f"{self._done} of {self._total} pairs, {rate:.1f}/s, {left:.0f} s left"
        print(words, file=sys.stderr, flush=True)
