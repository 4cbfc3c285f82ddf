"""Processes that answer: what that may cost, and how they are confined, and ended from outside."""

from __future__ import annotations

import os
import resource
import shutil
import signal
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from multiprocessing import get_context
from multiprocessing.connection import Connection
from multiprocessing.context import ForkServerContext
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
    from rspverify.server.answering import Answering

WARM = "rspverify.server.warm"
_SHARE = 0.5
"""Of the time of an answer, so much is for each question that it asks."""
_NICE = 10
"""Workers for what takes long stand back behind the others by so much."""


class Allowance(Struct, frozen=True):
    """Limits of an instance.

    workers: processes that answer verdicts; long_workers: those for everything that takes longer.
    seconds, long_seconds: for one answer of theirs. memory: bytes of address space of a process.
    answer: bytes of one answer. question: bytes of one question. waiting: how many questions may
    wait at a time; of_one: of one client.
    """

    workers: int = 2
    long_workers: int = 1
    seconds: float = 20.0
    long_seconds: float = 1_800.0
    memory: int = 4 * 2**30
    answer: int = 16 * 2**20
    question: int = 600_000
    waiting: int = 400
    of_one: int = 8

    @staticmethod
    def here() -> Allowance:
        """That of one's own machine."""
        return Allowance(workers=max(2, os.cpu_count() or 1))


PUBLIC = Allowance(
    seconds=10.0,
    long_seconds=120.0,
    memory=2 * 2**30,
    answer=4 * 2**20,
    question=200_000,
    of_one=4,
)
"""Those of an instance that strangers use."""


def context() -> ForkServerContext:
    """Where workers are forked from: one process that has read everything, and has no threads."""
    made = get_context("forkserver")
    made.set_forkserver_preload([WARM])
    return made


class Worker(Struct, frozen=True):
    """A worker, as the server knows it. folder: its own, which goes with it."""

    process: BaseProcess
    pipe: Connection
    folder: Path

    def end(self) -> None:
        """End it at once, and all that it has started. Its pipe is closed by who reads it."""
        pid = self.process.pid
        if pid is not None:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(pid, signal.SIGKILL)
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self.process.join(5)
        shutil.rmtree(self.folder, ignore_errors=True)


def started(allowance: Allowance, cache: Path, *, long: bool) -> Worker:
    """A new worker, once it is ready. cache: the folder where answers are kept.

    Raises EOFError where it has ended before that, for want of memory, say.
    """
    ours, theirs = context().Pipe()
    folder = Path(tempfile.mkdtemp(prefix="rspverify-page-"))
    process = context().Process(target=work, args=(theirs, allowance, cache, folder, long))
    process.start()
    theirs.close()
    return ready(Worker(process, ours, folder))


def ready(worker: Worker) -> Worker:
    """The same, once it has said that it is ready, with an empty message. Raises EOFError."""
    try:
        worker.pipe.recv_bytes()
    except (EOFError, OSError):
        worker.end()
        worker.pipe.close()
        raise EOFError("a worker ended before it was ready") from None
    return worker


def work(pipe: Connection, allowance: Allowance, cache: Path, folder: Path, long: bool) -> None:
    """Answer questions until nobody asks any more. After each answer comes an empty message."""
    from rspverify.api.judges import Judge
    from rspverify.server.answering import Answering
    from rspverify.shipped import sealed

    os.setsid()
    for each in (signal.SIGINT, signal.SIGTERM):  # of a terminal: the server ends its workers
        signal.signal(each, signal.SIG_IGN)
    os.chdir(folder)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_AS, (allowance.memory, allowance.memory))
    if long:
        os.nice(_NICE)
    seconds = _SHARE * allowance.seconds
    with sealed(folder), Judge(cache) as judge:
        Answering(Judge(), folder, seconds).warm_up()  # by a judge that knows no answer
        answering = Answering(judge, folder, seconds)
        with suppress(EOFError, OSError):
            pipe.send_bytes(b"")
            while True:
                for message in answers(answering, pipe.recv_bytes()):
                    pipe.send_bytes(message)
                pipe.send_bytes(b"")
    shutil.rmtree(folder, ignore_errors=True)  # the server has gone


def answers(answering: Answering, data: bytes) -> Iterator[bytes]:
    """The events of one answer; whatever goes wrong is the last of them."""
    from rspverify.judge.incident import Unreported, reports_elsewhere
    from rspverify.limits import LimitReached
    from rspverify.server.question import Refused, encoded, failed, problem_view, read_question
    from rspverify.source import InputError

    try:
        with reports_elsewhere():
            for event in answering.events(read_question(data)):
                yield encoded(event)
    except InputError as error:
        problems = [problem_view(each) for each in error.problems]
        yield encoded(("read", {"problems": problems, "table": None, "title": None}))
        yield encoded(("end", {}))
    except (LimitReached, Refused) as limit:
        yield failed(str(limit))
    except MemoryError:
        yield failed("out of memory")
    except (Unreported, Exception) as error:
        cause = error.__cause__ or error
        words = f"internal error: {type(cause).__name__}"
        yield failed(f"{words}; the command line writes a report of it")
