"""Tells of what takes long, of things that are done one after the other."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Generic, Self, TypeVar

from rspverify.limits import LONG

T = TypeVar("T")


class Unseen:
    """Is told how far a question is where nobody looks: a stream of answers shows it otherwise."""

    def __getattr__(self, name: str) -> Callable[..., None]:
        return lambda *_: None


class Watch(Generic[T]):
    """One thread for all of them: to start one for each takes as long as a small test."""

    def __init__(self, is_late: Callable[[T], None]) -> None:
        self._is_late, self._over = is_late, threading.Event()
        self._begun: tuple[T, float] | None = None

    def __enter__(self) -> Self:
        threading.Thread(target=self._wait, daemon=True).start()
        return self

    def __exit__(self, *error: object) -> None:
        self._over.set()

    def begin(self, it: T) -> None:
        """The one before it is done, and this begins."""
        self._begun = it, time.monotonic()

    def _wait(self) -> None:
        told, left = self._begun, LONG
        while not self._over.wait(left):
            begun, left = self._begun, LONG
            if begun is not None and begun is not told:
                left = begun[1] + LONG - time.monotonic()
                if left <= 0:
                    self._is_late(begun[0])
                    told, left = begun, LONG
