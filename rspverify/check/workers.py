"""Worker processes: how a pool of them begins and ends."""

from __future__ import annotations

import gc
import os
import signal
import threading
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_all_start_methods, get_context, parent_process
from multiprocessing.connection import wait
from typing import Any

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
