"""A connection to a scheduler of dask.distributed, which may break, and what its workers run.

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
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import lru_cache
from multiprocessing import resource_tracker
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from msgspec import Struct

from rspverify.judge.fingerprint import fingerprint
from rspverify.judge.work import Outcome, told_outcome
from rspverify.source import InputError, Problem

if TYPE_CHECKING:
    from distributed import Client, Future, LocalCluster

_LOOK = 2.0
"""Seconds from one look at the workers to the next."""

_SOON = 0.2
"""The same while there is none."""

_STARTS = 3
"""How often a connection is tried where the machine is too busy to start its loop."""

PATIENCE = "distributed.comm.timeouts.connect"
"""The setting of Dask that says how long a scheduler, or the first worker, is waited for."""

_LONGER = "it is waited for longer with DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT=60s"
_SAME = "install the same versions of rspverify, of its libraries and of Python there"


class LinkLost(Exception):
    """The cluster can do nothing more; the text says why. hint: what to do."""

    def __init__(self, why: str, hint: str | None = None) -> None:
        super().__init__(why)
        self.hint = hint


@dataclass
class Link:
    """A connection to a scheduler, and which workers it has. local: what was started here.

    times: how often it was made; what was sent before is not there any more.
    """

    address: str
    client: Client
    patience: float
    local: LocalCluster | None = None
    finished: SimpleQueue[object] = field(default_factory=SimpleQueue)
    workers: Sequence[str] = ()
    times: int = 1
    _looked: float = 0.0
    _silent_since: float | None = None

    @staticmethod
    def to(address: str, processes: int | None) -> Link:
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
        link = Link(address, client, patience, local)
        try:
            link.look()
            while not link.workers:
                time.sleep(_SOON)
                link.look()
            link.require_one_version()
        except LinkLost as error:
            link.close()
            raise InputError([Problem(None, f"{address}: {error}", error.hint)]) from None
        except BaseException:
            link.close()
            raise
        return link

    def look(self) -> None:
        """See which workers there are. Raises LinkLost where there are none for too long."""
        now = time.monotonic()
        self._looked = now
        try:
            found = self.client.sync(self.client.scheduler.ncores, callback_timeout=self.patience)
            self.workers, why = tuple(found), "there must be a worker, not none"
        except (OSError, TimeoutError):
            self.workers, why = (), "its scheduler must answer, and does not"
        if self.workers:
            self._silent_since = None
        elif self._silent_since is None:
            self._silent_since = now
        elif now - self._silent_since > self.patience:
            hint = f"start some with: dask worker {self.address} --nthreads 1; {_LONGER}"
            raise LinkLost(f"{why}, for {self.patience:g} s", hint)

    def look_sometimes(self) -> None:
        """The same, unless that was just done."""
        if time.monotonic() - self._looked > _LOOK:
            self.look()

    def again(self) -> None:
        """Wait until there is a connection once more. Raises LinkLost."""
        until = time.monotonic() + self.patience + 1
        while self.client.status != "running":
            if self.client.status in ("closing", "closed") or time.monotonic() > until:
                raise LinkLost(f"the connection was lost, and is not back in {self.patience:g} s")
            time.sleep(0.05)
        self.times += 1
        self.look()

    def require_one_version(self) -> None:
        """Raises LinkLost where a worker runs another version."""
        how = {"on_error": "return", "callback_timeout": self.patience}
        try:
            found_by = self.client.sync(self.client.run, fingerprint, **how)
        except (OSError, TimeoutError):
            message = f"all workers must say which version they run, within {self.patience:g} s"
            raise LinkLost(message) from None
        for worker, found in found_by.items():
            if found != fingerprint_here():
                raise LinkLost(_other(worker, found), _SAME)

    def send_work(self, kind: str, payload: bytes) -> Future:
        """Send what is done, once; workers hand it on to each other."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that it is large
            key = ("send", kind, uuid4().hex)
            return self.client.submit(bytes, payload, key=key)

    def send_items(
        self, name: tuple[str | int, ...], work: Future, items: bytes, seconds: float, worker: str
    ) -> Future:
        """Have items done in so many seconds, by this worker if it is still there."""
        future = self.client.submit(
            do_batch,
            work,
            items,
            fingerprint_here(),
            seconds,
            key=name,
            workers=worker,
            allow_other_workers=True,
            pure=False,
        )
        future.add_done_callback(lambda it: self.finished.put(it.key))
        return future

    def next_finished(self) -> object:
        """The key of items that are done, or were given up; None if that takes a while."""
        try:
            return self.finished.get(timeout=_LOOK if self.workers else _SOON)
        except Empty:
            return None

    def result(self, future: Future, worker: str) -> Came | Killed | None:
        """What came of items; None if that is lost, and they are to be sent again."""
        from distributed import KilledWorker
        from distributed.client import FutureCancelledError

        try:
            came: Came | Refused = future.result(timeout=self.patience)
        except KilledWorker:
            return Killed()
        except (FutureCancelledError, OSError, TimeoutError):
            self.again()
            return None
        except (ImportError, AttributeError) as error:
            raise LinkLost(_other(worker, error)) from None
        if isinstance(came, Refused):
            raise LinkLost(_other(came.worker, came.fingerprint))
        return came

    def close(self) -> None:
        """Leave, whatever state it is in."""
        with suppress(Exception):
            self.client.close(timeout=2)
        if self.local is not None:
            with suppress(Exception):
                self.local.close(timeout=10)


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


class Came(Struct, frozen=True):
    """What came of the first items of a batch, pickled, and how long that took."""

    outcomes: bytes
    seconds: float


class Killed(Struct, frozen=True):
    """Workers ended, again and again, while items were there, perhaps because of them."""


class Refused(Struct, frozen=True):
    """A worker that runs another version, and does nothing."""

    worker: str
    fingerprint: str


_ONE_AT_A_TIME = threading.Lock()
"""Solvers are used by one thread, however many a worker has."""


def do_batch(payload: bytes, items: bytes, version: str, seconds: float) -> Came | Refused:
    """What comes of items, as far as one gets in so many seconds, but of one at least."""
    from distributed import get_worker

    with _ONE_AT_A_TIME:
        if fingerprint_here() != version:
            return Refused(get_worker().address, fingerprint_here())
        do = _loaded(payload)
        started = time.perf_counter()
        outcomes: list[Outcome[Any]] = []
        for item in pickle.loads(items):
            outcomes.append(told_outcome(do, item, "a worker"))
            if time.perf_counter() - started > seconds or _is_cancelled():
                break
        return Came(pickle.dumps(outcomes), time.perf_counter() - started)


@lru_cache(maxsize=1)
def fingerprint_here() -> str:
    """That of the package that this process runs."""
    return fingerprint()


@lru_cache(maxsize=2)
def _loaded(payload: bytes) -> Callable[[Any], Any]:
    """What is done. It stays, with all that it finds out about what several items share."""
    gc.set_threshold(20_000, 20, 20)
    do: Callable[[Any], Any] = pickle.loads(payload)
    return do


def _is_cancelled() -> bool:
    """Whether nobody waits any more for what this process is at."""
    from distributed import get_worker

    worker = get_worker()
    task = worker.state.tasks.get(worker.get_current_task())
    return task is None or task.state == "cancelled"
