"""Worker processes: how a pool of them begins and ends."""

from __future__ import annotations

import gc
import os
import signal
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from itertools import islice
from multiprocessing import get_all_start_methods, get_context, parent_process
from multiprocessing.connection import wait
from typing import Any, TypeVar

from rspverify.limits import LimitReached

T = TypeVar("T")
R = TypeVar("R")

LOST = "a worker process ended unexpectedly, perhaps for lack of memory; try -j 1"
"""What is said of a task whose worker was lost."""


def forked(
    count: int, start: Callable[..., None], arguments: tuple[Any, ...]
) -> ProcessPoolExecutor:
    """A pool of so many workers, forked where there is fork. `start` must call `begin`."""
    method = "fork" if "fork" in get_all_start_methods() else "spawn"
    return ProcessPoolExecutor(
        count, mp_context=get_context(method), initializer=start, initargs=arguments
    )


def begin() -> None:
    """What a worker process does first."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    gc.freeze()  # What was read before the fork stays; not visiting it saves a tenth of the time.
    gc.set_threshold(20_000, 20, 20)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def end(pool: ProcessPoolExecutor) -> None:
    """End the workers, whatever they are at."""
    for process in list((pool._processes or {}).values()):
        process.terminate()
    pool.shutdown(cancel_futures=True)


def _end_with_parent() -> None:
    """Nobody waits for the results of a worker whose parent was killed."""
    parent = parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os._exit(1)


def spread(
    work: Callable[[T], R], items: Iterable[T], workers: int, *, ahead: int = 4
) -> Generator[R, None, None]:
    """work(item) for each item, in their order, by worker processes; by one in this process.

    Workers are forked at the first item and inherit all that `work` holds, so that only items and
    results are passed on. `ahead`: how many items per worker may wait, or have their results wait.
    Raises LimitReached if a worker is lost.
    """
    if workers <= 1 or "fork" not in get_all_start_methods():
        yield from map(work, items)
        return
    _inherited.append(work)
    pool = forked(workers, begin, ())
    rest = iter(items)
    try:
        place = len(_inherited) - 1
        first = islice(rest, ahead * workers)
        waiting: deque[Future[R]] = deque(pool.submit(_inherited_work, place, it) for it in first)
        while waiting:
            result = waiting.popleft().result()
            waiting.extend(pool.submit(_inherited_work, place, it) for it in islice(rest, 1))
            yield result
    except BrokenProcessPool:
        raise LimitReached(LOST) from None
    finally:
        end(pool)
        _inherited.pop()


_inherited: list[Callable[[Any], Any]] = []
"""What workers do, put here before they are forked; the last is that of the pool made last."""


def _inherited_work(place: int, item: Any) -> Any:
    return _inherited[place](item)
