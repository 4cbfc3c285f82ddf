"""Worker processes that are forked: they inherit all questions, and only numbers and replies are
passed on."""

from __future__ import annotations

import gc
import os
import signal
import threading
from collections import deque
from collections.abc import Callable, Generator, Sequence
from contextlib import suppress
from multiprocessing import get_all_start_methods, get_context, parent_process
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Any, Generic, TypeVar

from rspverify.judge.question import Reply

T = TypeVar("T")
R = TypeVar("R")

_OF_THE_PARENT = (signal.SIGINT, signal.SIGTERM)
"""A terminal, and `timeout`, send them to all processes; what they end, the parent ends."""

_AT_ONCE = 2
"""Items that a worker is given: while it is at one, the next one waits in its pipe."""


def replies(
    do: Callable[[T], R], items: Sequence[T], workers: int, before_fork: Callable[[], None]
) -> Generator[R | None, None, None]:
    """do(item) for each item, in their order; None of one that ended its worker.

    Close it when done. before_fork: what this process must let go of.
    """
    if "fork" not in get_all_start_methods():
        yield from map(do, items)
        return
    crew = _Crew(do, items, min(workers, len(items)), before_fork)
    try:
        for number in range(len(items)):
            yield crew.reply(number)
    finally:
        crew.end()


class _Worker:
    """A worker process, and the items that it was given: first the one that it is at."""

    def __init__(self, process: BaseProcess, pipe: Connection) -> None:
        self.process, self.pipe = process, pipe
        self.given: deque[int] = deque()

    def end(self) -> None:
        self.process.kill()
        self.process.join()
        self.pipe.close()


class _Crew(Generic[T, R]):
    """Worker processes, at most `size` of them; one that is lost is replaced."""

    def __init__(
        self, do: Callable[[T], R], items: Sequence[T], size: int, before_fork: Callable[[], None]
    ) -> None:
        self._size = size
        self._serve = lambda pipe: _serve(do, items, pipe)
        self._before_fork = before_fork
        self._workers: list[_Worker] = []
        self._waiting = deque(range(len(items)))
        self._replies: dict[int, R | None] = {}

    def reply(self, number: int) -> R | None:
        """What came of an item, as soon as it is there; None if its worker was lost."""
        while number not in self._replies:
            self._feed()
            pipes = {each.pipe: each for each in self._workers if each.given}
            for ready in wait(list(pipes)):
                self._receive(pipes[ready])  # type: ignore[index]
        self._feed()
        return self._replies.pop(number)

    def end(self) -> None:
        """End the workers, whatever they are at."""
        for each in self._workers:
            each.process.kill()
        for each in self._workers:
            each.end()

    def _receive(self, worker: _Worker) -> None:
        """A reply, or the end of a worker: what it had not begun is for others."""
        try:
            self._replies[worker.given[0]] = worker.pipe.recv()
            worker.given.popleft()
        except (EOFError, OSError):
            self._workers.remove(worker)
            worker.end()
            self._replies[worker.given.popleft()] = None
            self._waiting.extendleft(reversed(worker.given))

    def _feed(self) -> None:
        """Give what waits to whoever has the least to do."""
        while self._waiting:
            worker = min(self._workers, key=lambda it: len(it.given), default=None)
            if (worker is None or worker.given) and len(self._workers) < self._size:
                worker = self._forked()
            if worker is None or len(worker.given) >= _AT_ONCE:
                return
            worker.given.append(self._waiting.popleft())
            with suppress(OSError):  # That it is gone is met when its reply is awaited.
                worker.pipe.send(worker.given[-1])

    def _forked(self) -> _Worker:
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
        self._workers.append(_Worker(process, ours))
        return self._workers[-1]


def _serve(do: Callable[[T], R], items: Sequence[T], pipe: Connection) -> None:
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
