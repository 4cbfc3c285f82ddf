"""A cluster beside the process pool, on two workers of this machine; and how far it may go."""

from __future__ import annotations

import os
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import astuple, dataclass

import psutil
from distributed import Client

from bench.cases import ROOT
from bench.engineering import ORIGINAL, PROPOSED
from bench.measure import digits
from bench.sheet import Sheet

RUNS: Sequence[Sequence[str]] = (
    ("check", ORIGINAL, PROPOSED, "litmus/rsp", "--no-cache"),
    ("hunt", PROPOSED, "--threads", "2", "--no-count", "--no-cache"),
)
WORKERS = 2
REPEATS = 3
MANY = 64
_LAST = 1.0
"""Seconds that a task takes, for the last of which all others wait."""


@dataclass(frozen=True)
class Cost:
    """Seconds of a run, and CPU seconds: of who asked, with the processes that it forked, of a
    scheduler, and of workers that ran before."""

    seconds: float
    asker: float
    scheduler: float = 0.0
    workers: float = 0.0

    @property
    def cpu(self) -> float:
        """CPU seconds of everybody."""
        return self.asker + self.scheduler + self.workers


@dataclass(frozen=True)
class Running:
    """A scheduler that runs, and its workers."""

    address: str
    scheduler: psutil.Process
    workers: Sequence[psutil.Process]

    def used(self) -> tuple[float, float]:
        """CPU seconds of the scheduler, and of all workers."""
        return _cpu(self.scheduler), sum(map(_cpu, self.workers))


def cluster(runs: Sequence[Sequence[str]] = RUNS) -> Sheet:
    """Seconds by each, in turns, CPU seconds of everybody, and what follows for many.

    A local one is started, once; one that runs has loaded the package. CPU seconds tell more where
    the machine is busy. With many workers a run takes at least what the busiest takes: one of the
    workers, if work were shared out evenly; who asks; the scheduler. And then the last task.
    """
    sheet = Sheet(
        "cluster",
        f"a cluster of {WORKERS} workers beside {WORKERS} processes (s, median of {REPEATS})",
        ["command"],
        [
            f"-j {WORKERS}",
            f"local:{WORKERS}",
            "running cluster",
            "more, %",
            f"CPU of -j {WORKERS}",
            "of a running cluster",
            "more, %",
            "of its workers",
            "who asks",
            "scheduler",
            f"{MANY} workers (estimate)",
        ],
    )
    for words in runs:
        pool, far = _in_turns(words)
        local = _timed([*words, "--cluster", f"local:{WORKERS}"])
        many = max(far.workers / MANY, far.asker, far.scheduler) + _LAST
        sheet.add(
            " ".join(words),
            *map(digits, (pool.seconds, local.seconds, far.seconds)),
            str(round(100 * (far.seconds / pool.seconds - 1))),
            *map(digits, (pool.cpu, far.cpu)),
            str(round(100 * (far.cpu / pool.cpu - 1))),
            *map(digits, (far.workers, far.asker, far.scheduler, many)),
        )
    return sheet


def _in_turns(words: Sequence[str]) -> tuple[Cost, Cost]:
    """What a run costs with processes, and on a cluster that has loaded the package."""
    pools, clusters = [], []
    with _running() as there:
        at = ("--cluster", there.address)
        _timed(["check", PROPOSED, "litmus/rsp/paper", "--no-cache", *at])
        for _ in range(REPEATS):
            pools.append(_timed([*words, "-j", str(WORKERS)]))
            before = there.used()
            found = _timed([*words, *at])
            used = (now - then for now, then in zip(there.used(), before, strict=True))
            clusters.append(Cost(found.seconds, found.asker, *used))
    return _median(pools), _median(clusters)


def _median(costs: Sequence[Cost]) -> Cost:
    return Cost(*map(statistics.median, zip(*map(astuple, costs), strict=True)))


def _timed(words: Sequence[str]) -> Cost:
    """A run with an empty cache."""
    with tempfile.TemporaryDirectory() as folder:
        started = time.perf_counter()
        process = subprocess.Popen(
            [sys.executable, "-m", "rspverify", *words],
            cwd=ROOT,
            env={**os.environ, "RSPVERIFY_CACHE": folder},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        _, _, used = os.wait4(process.pid, 0)
        return Cost(time.perf_counter() - started, used.ru_utime + used.ru_stime)


@contextmanager
def _running() -> Iterator[Running]:
    """A scheduler and workers, each a process of one thread."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port = str(found.getsockname()[1])
    address = f"tcp://127.0.0.1:{port}"
    alone = ("--nthreads", "1", "--no-nanny", "--no-dashboard", "--memory-limit", "0")
    started = [_started("scheduler", "--host", "127.0.0.1", "--port", port, "--no-dashboard")]
    started += [_started("worker", address, *alone) for _ in range(WORKERS)]
    try:
        with Client(address, set_as_default=False) as client:
            client.wait_for_workers(WORKERS, timeout=60)
        scheduler, *workers = (psutil.Process(each.pid) for each in started)
        yield Running(address, scheduler, workers)
    finally:
        for each in started:
            each.kill()
            each.wait()


def _started(*words: str) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "dask", *words]
    nowhere = subprocess.DEVNULL
    return subprocess.Popen(command, cwd=tempfile.gettempdir(), stdout=nowhere, stderr=nowhere)


def _cpu(process: psutil.Process) -> float:
    times = process.cpu_times()
    return float(times.user + times.system)
