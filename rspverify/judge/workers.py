"""Work that is spread over processes, results in order; what a lost process was at is known."""

from __future__ import annotations

import gc
import os
import signal
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing import get_all_start_methods, get_context, parent_process
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from multiprocessing.reduction import ForkingPickler
from typing import Any, Generic, TypeVar

from rspverify.judge.work import Outcome, Raised, Work, taken, told_outcome

T = TypeVar("T")
R = TypeVar("R")

_SMALL = 16_384
"""Up to so many bytes, an item may wait in the pipe of a worker that is busy: it always fits."""

_OF_THE_PARENT = (signal.SIGINT, signal.SIGTERM)
"""A terminal, and `timeout`, send them to all processes; what they end, the parent ends."""


@dataclass(frozen=True)
class Processes:
    """This process, and those that it forks for each work, so many at a time.

    before_fork: what this process must let go of.
    """

    workers: int
    before_fork: Callable[[], None]
    shares_cache: bool = field(default=True, init=False)

    def each(
        self,
        work: Work[T, R],
        items: Iterable[T],
        *,
        most: int | None,
        ahead: int,
        lost: Callable[[T], R] | None,
    ) -> Generator[R, None, None]:
        """What is done with each item, in their order, as `spread` says. Close it when done."""
        size = self.workers if most is None else min(most, self.workers)
        before = self.before_fork
        return spread(work.do, items, size, ahead=ahead, lost=lost, before_fork=before)

    def close(self) -> None:
        """Nothing is left: processes end with the work that they were forked for."""


def spread(
    work: Callable[[T], R],
    items: Iterable[T],
    workers: int,
    *,
    ahead: int = 4,
    lost: Callable[[T], R] | None = None,
    before_fork: Callable[[], None] = lambda: None,
) -> Generator[R, None, None]:
    """work(item) for each item, in their order, by so many worker processes. Close it when done.

    Workers are forked when they are needed and inherit all that `work` holds, so that only items
    and results are passed on. ahead: how many items per worker are taken before their turn. lost:
    the result of the item that a lost worker was at; without it that raises LimitReached, and one
    worker is this process itself. before_fork: what this process must let go of. What work raises
    is raised.
    """
    if "fork" not in get_all_start_methods() or (workers <= 1 and lost is None):
        yield from map(work, items)
        return
    crew = _Crew(work, max(1, workers), before_fork)
    rest, begun, given = iter(items), dict[int, T](), 0
    try:
        while True:
            while len(begun) < ahead * crew.size:
                number = given + len(begun)
                try:
                    begun[number] = next(rest)
                except StopIteration:
                    break
                crew.add(number, begun[number])
            if not begun:
                return
            result = crew.result(given)
            item = begun.pop(given)
            given += 1
            yield taken(result, item, lost)
    finally:
        crew.end()


@dataclass
class _Worker:
    """A worker process, and what it has been given to do: first what it is at."""

    process: BaseProcess
    pipe: Connection
    tasks: deque[tuple[int, bytes]] = field(default_factory=deque)

    def takes(self, data: bytes) -> bool:
        """Whether one more item may be sent, so that the worker need not wait for it."""
        return not self.tasks or (len(self.tasks) == 1 and len(data) <= _SMALL)

    def send(self, number: int, data: bytes) -> None:
        """Give it an item. That it is gone is met when its result is awaited."""
        self.tasks.append((number, data))
        with suppress(OSError):
            self.pipe.send_bytes(data)


class _Crew(Generic[T, R]):
    """Worker processes, at most `size` of them; one that is lost is replaced."""

    def __init__(self, work: Callable[[T], R], size: int, before_fork: Callable[[], None]) -> None:
        self.size = size
        self._before_fork = before_fork
        self._work = work
        self._workers: list[_Worker] = []
        self._waiting: deque[tuple[int, bytes]] = deque()
        self._results: dict[int, Outcome[R] | None] = {}

    def add(self, number: int, item: T) -> None:
        """Have an item done, by its number."""
        self._waiting.append((number, bytes(ForkingPickler.dumps(item))))
        self._feed()

    def result(self, number: int) -> Outcome[R] | None:
        """What came of an item, as soon as it is there; None if its worker was lost."""
        while number not in self._results:
            pipes = {each.pipe: each for each in self._workers if each.tasks}
            for ready in wait(list(pipes)):
                self._receive(pipes[ready])  # type: ignore[index]
            self._feed()
        return self._results.pop(number)

    def end(self) -> None:
        """End the workers, whatever they are at."""
        for each in self._workers:
            each.process.kill()
        for each in self._workers:
            each.process.join()
            each.pipe.close()

    def _receive(self, worker: _Worker) -> None:
        """A result, or the end of a worker: what waited in its pipe is for others."""
        try:
            result = worker.pipe.recv()
        except (EOFError, OSError):
            self._workers.remove(worker)
            worker.process.kill()
            worker.process.join()
            worker.pipe.close()
            (number, _), *rest = worker.tasks
            self._results[number] = None
            self._waiting.extendleft(reversed(rest))
        else:
            number, _ = worker.tasks.popleft()
            self._results[number] = result

    def _feed(self) -> None:
        while self._waiting:
            number, data = self._waiting[0]
            idle = min(self._workers, key=lambda it: len(it.tasks), default=None)
            if (idle is None or idle.tasks) and len(self._workers) < self.size:
                idle = self._forked()
            if idle is None or not idle.takes(data):
                return
            self._waiting.popleft()
            idle.send(number, data)

    def _forked(self) -> _Worker:
        self._before_fork()
        context = get_context("fork")
        ours, theirs = context.Pipe()
        process = context.Process(target=_serve, args=(self._work, theirs), daemon=True)
        before = signal.pthread_sigmask(signal.SIG_BLOCK, _OF_THE_PARENT)
        try:
            process.start()
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
        theirs.close()
        self._workers.append(_Worker(process, ours))
        return self._workers[-1]


def _serve(work: Callable[[Any], Any], pipe: Connection) -> None:
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
            item = pipe.recv()
        except EOFError:
            return
        try:
            result = told_outcome(work, item, "a worker process")
        except KeyboardInterrupt:  # The solver's library heeds SIGINT whatever we do of it.
            return
        try:
            pipe.send(result)
        except OSError:
            raise
        except Exception as error:  # what cannot be pickled
            pipe.send(Raised(RuntimeError(f"{type(error).__name__}: {error}")))


def _end_with_parent() -> None:
    """Nobody waits for the results of a worker whose parent was killed."""
    parent = parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os._exit(1)
