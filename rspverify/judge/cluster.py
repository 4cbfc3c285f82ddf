"""Questions that the workers of a cluster of dask.distributed decide; their replies, in order.

All questions are sent once to each worker, and then their numbers, a task each. A worker that is
lost costs nothing: its tasks are done by others. Tasks that were at workers that ended are done
again, one at a time, so that the one that ends its worker is known.

The one module that knows that library.
"""

from __future__ import annotations

import gc
import logging
import pickle
import signal
import threading
import time
import warnings
from collections import deque
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import lru_cache
from importlib.util import find_spec
from multiprocessing import resource_tracker
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any, TypeVar
from uuid import uuid4

from rspverify.judge.fingerprint import fingerprint, fingerprint_here
from rspverify.judge.judge import Judge, remote_judge
from rspverify.judge.question import Question, Reply
from rspverify.limits import LimitReached
from rspverify.source import InputError, Problem

if TYPE_CHECKING:
    from distributed import Client, Future, LocalCluster

A = TypeVar("A")

INSTALL = "python -m pip install 'rspverify[cluster]'"
PATIENCE = "distributed.comm.timeouts.connect"
"""The setting of Dask that says how long a scheduler, or the first worker, is waited for."""

_AT_ONCE = 4
"""Tasks per worker that are on their way, so that none waits for the next."""
_NAME = 60
"""Characters of what a task is called at the most."""
_LOOK = 2.0
"""Seconds from one look at the workers to the next."""
_SOON = 0.2
"""The same while there is none."""
_STARTS = 3
"""How often a connection is tried where the machine is too busy to start its loop."""
_LONGER = "it is waited for longer with DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT=60s"
_SAME = "install the same versions of rspverify, of its libraries and of Python there"


class ClusterLost(Exception):
    """The cluster can do nothing more; the text says why. hint: what to do."""

    def __init__(self, why: str, hint: str | None = None) -> None:
        super().__init__(why)
        self.hint = hint


class Cluster:
    """The workers of a scheduler, or so many of this machine that are started for this.

    It connects when it is first needed. Raises InputError where it cannot, or where a worker runs
    another version of the package; LimitReached where the cluster is lost meanwhile.
    """

    def __init__(self, address: str) -> None:
        self._address = address
        self._processes = _processes(address)
        if find_spec("distributed") is None:
            message = "--cluster: the library distributed must be installed, and is not"
            raise InputError([Problem(None, message, INSTALL)])
        self._link: _Link | None = None
        self._lost: str | None = None

    @property
    def workers(self) -> int:
        """How many workers there are."""
        return len(self._linked().workers)

    def replies(
        self, questions: Sequence[Question[A]], judge: Judge
    ) -> Generator[Reply[A] | None, None, None]:
        """The reply to each question, in their order; None of one that ended its worker.

        judge: who asks. Close it when done.
        """
        tasks = _Tasks(self._linked(), questions, judge)
        try:
            yield from tasks.replies()
        except ClusterLost as error:
            self._lost = f"{self._address}: {error}"
            raise LimitReached(self._lost) from None
        finally:
            tasks.end()

    def close(self) -> None:
        """Leave the cluster; end what was started on this machine."""
        if self._link is not None:
            link, self._link = self._link, None
            link.close()

    def _linked(self) -> _Link:
        if self._lost is not None:
            raise LimitReached(self._lost)
        if self._link is None:
            self._link = _linked(self._address, self._processes)
        return self._link


def _processes(address: str) -> int | None:
    """How many workers of this machine are meant; None for those of a scheduler."""
    kind, colon, rest = address.partition(":")
    if kind == "local" and rest.isascii() and rest.isdigit() and int(rest):
        return int(rest)
    place = address.partition("://")[2] or address
    if kind == "local" or not colon or not place.rpartition(":")[2].isdigit() or " " in address:
        message = f"--cluster must be local:N or the address of a scheduler, not {address!r}"
        hint = "such as local:4, or tcp://10.0.0.5:8786"
        raise InputError([Problem(None, message, hint)])
    return None


class _Tasks:
    """Questions, a task each, and their replies."""

    def __init__(self, link: _Link, questions: Sequence[Question[Any]], judge: Judge) -> None:
        self._link = link
        self._questions = questions
        self._judge = judge
        self._payload = pickle.dumps(questions)
        self._sent: Future | None = None
        self._waiting = deque(range(len(questions)))
        self._suspects: deque[int] = deque()
        self._alone: int | None = None
        self._flights: dict[Future, int] = {}
        self._finished: SimpleQueue[Future] = SimpleQueue()
        self._replies: dict[int, Reply[Any] | None] = {}

    def replies(self) -> Iterator[Reply[Any] | None]:
        """The replies, in order."""
        for number in range(len(self._questions)):
            self._fill()
            while number not in self._replies:
                with suppress(Empty):
                    self._receive(self._finished.get(timeout=self._link.pause))
                self._link.look()
                self._fill()
            yield self._replies.pop(number)

    def end(self) -> None:
        """Have nothing more done. A scheduler cancels what nobody wants; it is not waited for."""
        futures = [*self._flights, *([self._sent] if self._sent else [])]
        self._flights.clear()
        for future in futures:
            with suppress(Exception):
                future.release()

    def _fill(self) -> None:
        """Send what may be sent now. Suspects go one at a time, while nothing else is done."""
        room = _AT_ONCE * len(self._link.workers)
        if self._suspects or self._alone is not None:
            if room and not self._flights:
                self._alone = self._suspects.popleft()
                self._send(self._alone)
            return
        while self._waiting and len(self._flights) < room:
            self._send(self._waiting.popleft())

    def _send(self, number: int) -> None:
        it, client = self._questions[number], self._link.client
        if self._sent is None or self._sent.status in ("cancelled", "lost", "error"):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # that it is large
                key = ("send", it.kind, uuid4().hex)
                self._sent = client.submit(bytes, self._payload, key=key)
        asked = (self._sent, number, self._judge.given(it), self._judge.keeps, fingerprint_here())
        key = (it.kind, it.name[:_NAME], uuid4().hex)
        future = client.submit(decide, *asked, key=key, pure=False)
        self._flights[future] = number
        future.add_done_callback(self._finished.put)

    def _receive(self, future: Future) -> None:
        """What came of a task. Raises ClusterLost."""
        number = self._flights.pop(future, None)
        if number is None:
            return
        alone, self._alone = self._alone, None
        try:
            reply = self._link.result(future)
        except _Killed:
            if alone is None:
                self._suspects.append(number)
            else:
                self._replies[number] = None
            return
        if reply is None:
            self._waiting.appendleft(number)
        else:
            self._replies[number] = reply


class _Killed(Exception):
    """Workers ended, again and again, while a task was there, perhaps because of it."""


class _Link:
    """A connection to a scheduler, and which workers it has. local: what was started here."""

    def __init__(
        self, address: str, client: Client, patience: float, local: LocalCluster | None
    ) -> None:
        self.client = client
        self.workers: Sequence[str] = ()
        self._address, self._patience, self._local = address, patience, local
        self._looked = -_LOOK
        self._silent_since: float | None = None

    @property
    def pause(self) -> float:
        """Seconds until the next look at the workers."""
        return _LOOK if self.workers else _SOON

    def look(self) -> None:
        """See which workers there are, unless that was just done.

        Raises ClusterLost where there are none for too long.
        """
        now = time.monotonic()
        if now - self._looked < self.pause:
            return
        self._looked = now
        try:
            ask = self.client.scheduler.ncores
            self.workers = tuple(self.client.sync(ask, callback_timeout=self._patience))
            why = "there must be a worker, not none"
        except (OSError, TimeoutError):
            self.workers, why = (), "its scheduler must answer, and does not"
        if self.workers:
            self._silent_since = None
        elif self._silent_since is None:
            self._silent_since = now
        elif now - self._silent_since > self._patience:
            hint = f"start some with: dask worker {self._address} --nthreads 1; {_LONGER}"
            raise ClusterLost(f"{why}, for {self._patience:g} s", hint)

    def require_one_version(self) -> None:
        """Raises ClusterLost where a worker runs another version."""
        how = {"on_error": "return", "callback_timeout": self._patience}
        try:
            found_by = self.client.sync(self.client.run, fingerprint, **how)
        except (OSError, TimeoutError):
            message = f"all workers must say which version they run, within {self._patience:g} s"
            raise ClusterLost(message) from None
        for worker, found in found_by.items():
            if found != fingerprint_here():
                raise ClusterLost(_other(worker, found), _SAME)

    def result(self, future: Future) -> Reply[Any] | None:
        """What came of a task; None if that is lost, and it is to be sent again.

        Raises _Killed and ClusterLost.
        """
        from distributed import KilledWorker
        from distributed.client import FutureCancelledError

        try:
            found: Reply[Any] | str = future.result(timeout=self._patience)
        except KilledWorker:
            raise _Killed from None
        except (FutureCancelledError, OSError, TimeoutError):
            self._wait_for_connection()
            return None
        except (ImportError, AttributeError) as error:
            raise ClusterLost(_other("of the cluster", error)) from None
        if isinstance(found, str):
            raise ClusterLost(found)
        return found

    def _wait_for_connection(self) -> None:
        until = time.monotonic() + self._patience + 1
        while self.client.status != "running":
            if self.client.status in ("closing", "closed") or time.monotonic() > until:
                raise ClusterLost(
                    f"the connection was lost, and is not back in {self._patience:g} s"
                )
            time.sleep(0.05)

    def close(self) -> None:
        """Leave, whatever state it is in."""
        with suppress(Exception):
            self.client.close(timeout=2)
        if self._local is not None:
            with suppress(Exception):
                self._local.close(timeout=10)


def _linked(address: str, processes: int | None) -> _Link:
    """Connect, and wait for the first worker. Raises InputError."""
    import dask
    from dask.utils import parse_timedelta

    if dask.config.get("logging", None) is None:
        _say_nothing()
    patience = parse_timedelta(dask.config.get(PATIENCE))
    try:
        local = None if processes is None else _started(processes)
    except RuntimeError as error:
        message = f"--cluster {address}: a worker did not start: {' '.join(str(error).split())}"
        raise InputError([Problem(None, message, "the same command tries again")]) from None
    try:
        client = _client(local or address, patience)
    except (OSError, ValueError, TypeError, RuntimeError) as error:  # the last two: of TLS
        why = " ".join(str(error).split())
        message = f"--cluster must be the address of a scheduler, not {address}: {why}"
        hint = f"start one with: dask scheduler; {_LONGER}"
        raise InputError([Problem(None, message, hint)]) from None
    link = _Link(address, client, patience, local)
    try:
        link.look()
        while not link.workers:
            time.sleep(_SOON)
            link.look()
        link.require_one_version()
    except ClusterLost as error:
        link.close()
        raise InputError([Problem(None, f"{address}: {error}", error.hint)]) from None
    except BaseException:
        link.close()
        raise
    return link


def _client(address: str | LocalCluster, patience: float) -> Client:
    """A client. Its library gives the loop that it starts ten seconds, which a machine may miss."""
    from distributed import Client

    for _ in range(_STARTS):
        with suppress(AssertionError), _nothing_collected():
            return Client(address, timeout=patience, set_as_default=False)
    raise OSError("this machine is too busy to connect")


@contextmanager
def _nothing_collected() -> Iterator[None]:
    """While a loop starts, no client that has failed before is collected.

    It would close itself, and wait for the lock that the start of the loop holds.
    """
    gc.collect()
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            gc.enable()


def _started(processes: int) -> LocalCluster:
    """Workers of this machine, each a process with one thread, that end at once if they are to."""
    from distributed import LocalCluster, Nanny

    class Quick(Nanny):  # type: ignore[misc]
        async def close(self, timeout: float = 5, reason: str = "nanny-close") -> Any:
            return await super().close(timeout=0.1, reason=reason)

    # An interrupt by the terminal goes to all processes. It is ours; a blocked one is inherited,
    # but what starts processes would unblock it when it starts itself.
    resource_tracker.ensure_running()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGINT,))
    try:
        with _nothing_collected():
            return LocalCluster(
                n_workers=processes,
                threads_per_worker=1,
                worker_class=Quick,
                memory_limit=0,
                dashboard_address="127.0.0.1:0",
                silence_logs=logging.CRITICAL + 1,
                scheduler_kwargs={"allowed_failures": 0, "dashboard": False},
            )
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _say_nothing() -> None:
    """What goes wrong in a cluster is said by us, once we know what it means."""
    import distributed  # noqa: F401

    for name in ("distributed", "distributed.client", "tornado", "tornado.application", "asyncio"):
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)


def _other(worker: str, found: object) -> str:
    must = f"the worker {worker} must run rspverify {fingerprint_here()[:12]}"
    return f"{must}, not {found[:12]}" if isinstance(found, str) else f"{must}, and cannot: {found}"


# What follows is done by workers.


_ONE_AT_A_TIME = threading.Lock()
"""Solvers are used by one thread, however many a worker has."""


def decide(
    payload: bytes, number: int, given: Mapping[str, str], keeps: bool, version: str
) -> Reply[Any] | str:
    """The reply to a question, by its number; a worker of another version says so instead.

    given: what is kept of the questions that it may ask. keeps: whether whoever asks has a cache.
    """
    from distributed import get_worker

    with _ONE_AT_A_TIME:
        if fingerprint_here() != version:
            must = f"the worker {get_worker().address} must run rspverify {version[:12]}"
            return f"{must}, not {fingerprint_here()[:12]}"
        return remote_judge(keeps).reply_with(_loaded(payload)[number], given)


@lru_cache(maxsize=2)
def _loaded(payload: bytes) -> Sequence[Question[Any]]:
    """The questions. They stay, with all that is found out about what several share."""
    gc.set_threshold(20_000, 20, 20)
    questions: Sequence[Question[Any]] = pickle.loads(payload)
    return questions
