"""A scheduler and workers of dask.distributed, as processes that tests can kill."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def free_port() -> int:
    """A port of this machine that nobody listens at."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port: int = found.getsockname()[1]
        return port


class Processes:
    """What `dask scheduler` and `dask worker` start, in a folder that has none of our files."""

    def __init__(self, folder: Path) -> None:
        self.port = free_port()
        self.address = f"tcp://127.0.0.1:{self.port}"
        self.log = folder / "log"
        self._folder = folder
        self._started: list[tuple[str, subprocess.Popen[bytes]]] = []

    def complete(self, workers: int) -> None:
        """Start what does not run of a scheduler and so many workers."""
        running = [kind for kind, process in self._started if process.poll() is None]
        if "scheduler" not in running:
            self.scheduler()
        for _ in range(workers - running.count("worker")):
            self.worker()

    def scheduler(self, **settings: str) -> subprocess.Popen[bytes]:
        """A scheduler at the port of these processes.

        settings: of Dask, as variables of the environment.
        """
        where = ("--host", "127.0.0.1", "--port", str(self.port))
        return self._start("scheduler", *where, "--no-dashboard", settings=settings)

    def worker(self, *packages: Path) -> subprocess.Popen[bytes]:
        """A worker with one thread, which nobody starts again.

        packages: folders of packages that it is to take instead of ours.
        """
        how = ("--nthreads", "1", "--no-dashboard", "--no-nanny", "--memory-limit", "0")
        return self._start("worker", self.address, *how, packages=packages)

    def nanny(self) -> subprocess.Popen[bytes]:
        """A worker with one thread, which is started again where it ends."""
        how = ("--nthreads", "1", "--no-dashboard", "--memory-limit", "0")
        return self._start("worker", self.address, *how)

    def of(self, kind: str) -> subprocess.Popen[bytes]:
        """The first of a kind that runs."""
        return next(it for each, it in self._started if each == kind and it.poll() is None)

    def end(self) -> None:
        """Kill what is left."""
        for _, each in self._started:
            with suppress(ProcessLookupError):
                os.killpg(each.pid, signal.SIGKILL)
            kill(each)

    def _start(
        self, *words: str, packages: Sequence[Path] = (), settings: Mapping[str, str] | None = None
    ) -> subprocess.Popen[bytes]:
        folders = os.pathsep.join(map(str, (*packages, ROOT / "tests", ROOT)))
        with self.log.open("ab") as log:
            process = subprocess.Popen(
                [sys.executable, "-m", "dask", *words],
                cwd=self._folder,
                env={**os.environ, "PYTHONPATH": folders, **(settings or {})},
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        self._started.append((words[0], process))
        return process


def kill(process: subprocess.Popen[bytes]) -> None:
    """kill -9."""
    with suppress(ProcessLookupError):
        process.send_signal(signal.SIGKILL)
    process.wait()
