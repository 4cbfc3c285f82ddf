"""Questions that workers decide: one loop over those of this machine and those of a cluster.

Processes of this machine are forked: they inherit all questions, and only numbers and replies are
passed on.
"""

from __future__ import annotations

import gc
import math
import os
import signal
import threading
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import suppress
from multiprocessing import get_all_start_methods, get_context, parent_process
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Any, Protocol, TypeVar

from rspverify.judge.question import Reply
from rspverify.limits import LONG

T = TypeVar("T")

_OF_THE_PARENT = (signal.SIGINT, signal.SIGTERM)
"""A terminal, and `timeout`, send them to all processes; what they end, the parent ends."""


class Pool(Protocol):
    """Workers that are given questions by their numbers. Methods may raise LimitReached."""

    def takes(self) -> bool:
        """Whether it takes one more question now."""

    def give(self, number: int) -> None:
        """Have a question decided."""

    def received(self) -> Iterator[tuple[int, Reply[Any] | None]]:
        """Replies that were waited for, if only for a while; None for a question that ended its
        worker. What was beside it is for others to decide.
        """

    def end(self) -> None:
        """Have nothing more done, whatever the workers are at."""


def replies(pool: Pool, count: int) -> Generator[Reply[Any] | None, None, None]:
    """The reply to each of so many questions, in their order. Close it when done."""
    given, found = 0, dict[int, Reply[Any] | None]()
    try:
        for number in range(count):
            while True:
                while given < count and pool.takes():
                    pool.give(given)
                    given += 1
                if number in found:
                    break
                found |= dict(pool.received())
            yield found.pop(number)
    finally:
        pool.end()


def can_fork() -> bool:
    """Whether this machine has processes that inherit questions."""
    return "fork" in get_all_start_methods()


class Processes:
    """A pool of forked processes, so many of them; one that is lost is replaced.

    before_fork: lets go of what must not be inherited. late: told the number of a question that
    takes long, once.
    """

    def __init__(
        self,
        do: Callable[[T], Any],
        items: Sequence[T],
        size: int,
        before_fork: Callable[[], None] = lambda: None,
        late: Callable[[int], None] = lambda _: None,
    ) -> None:
        self._size = min(size, len(items))
        self._serve = lambda pipe: _serve(do, items, pipe)
        self._before_fork = before_fork
        self._processes: dict[Connection, BaseProcess] = {}
        self._at: dict[Connection, int] = {}
        self._late, self._since = late, dict[int, float]()

    def takes(self) -> bool:
        return len(self._at) < self._size

    def give(self, number: int) -> None:
        idle = (each for each in self._processes if each not in self._at)
        pipe = next(idle, None) or self._forked()
        self._at[pipe] = number
        self._since[number] = time.monotonic()
        with suppress(OSError):  # That it is gone is met when its reply is awaited.
            pipe.send(number)

    def received(self) -> Iterator[tuple[int, Reply[Any] | None]]:
        ready = wait(self._at, LONG)
        for number in self._at.values():
            if time.monotonic() - self._since.get(number, math.inf) >= LONG:
                del self._since[number]
                self._late(number)
        for pipe in ready:
            assert isinstance(pipe, Connection)
            number = self._at.pop(pipe)
            try:
                yield number, pipe.recv()
            except (EOFError, OSError):
                self._lose(pipe)
                yield number, None

    def end(self) -> None:
        for each in self._processes.values():
            each.kill()
        for pipe in [*self._processes]:
            self._lose(pipe)

    def _lose(self, pipe: Connection) -> None:
        process = self._processes.pop(pipe)
        process.kill()
        process.join()
        pipe.close()

    def _forked(self) -> Connection:
        self._before_fork()
        context = get_context("fork")
        ours, theirs = context.Pipe()
        process = context.Process(target=self._serve, args=(theirs,), daemon=True)
        before = signal.pthread_sigmask(signal.SIG_BLOCK, _OF_THE_PARENT)
        try:
            process.start()
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
        theirs.close()
        self._processes[ours] = process
        return ours


def _serve(do: Callable[[T], Any], items: Sequence[T], pipe: Connection) -> None:
    """What a worker process does until there is nothing more to do."""
    for each in _OF_THE_PARENT:
        signal.signal(each, signal.SIG_IGN)
    signal.set_wakeup_fd(-1)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _OF_THE_PARENT)
    gc.freeze()  # What was read before the fork stays; not visiting it saves a tenth of the time.
    gc.set_threshold(20_000, 20, 20)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    while True:
        try:
            reply: Any = do(items[pipe.recv()])
        except (EOFError, KeyboardInterrupt):  # The solver's library heeds SIGINT whatever we do.
            return
        try:
            pipe.send(reply)
        except OSError:
            raise
        except Exception as error:  # what cannot be pickled
            pipe.send(Reply(error=RuntimeError(f"{type(error).__name__}: {error}")))


def _end_with_parent() -> None:
    """Nobody waits for the replies of a worker whose parent was killed."""
    parent = parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os._exit(1)
