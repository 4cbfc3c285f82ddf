"""Questions that the workers of a cluster of dask.distributed decide.

All questions are sent once to each worker, and then their numbers, a task each. A worker that is
lost costs nothing: its tasks are done by others. Tasks that were at workers that ended are done
again, one at a time, so that the one that ends its worker is known.

The one module that knows that library.
"""

from __future__ import annotations

import gc
import logging
import pickle
import threading
import time
import warnings
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from importlib.util import find_spec
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from rspverify.judge.fingerprint import fingerprint, fingerprint_here
from rspverify.judge.judge import Judge, remote_judge
from rspverify.judge.question import Question, Reply
from rspverify.limits import LimitReached
from rspverify.source import InputError, Problem, require

if TYPE_CHECKING:
    from distributed import Client, Future

INSTALL = "python -m pip install 'rspverify[cluster]'"
PATIENCE = "distributed.comm.timeouts.connect"
"""The setting of Dask that says how long a scheduler, or the first worker, is waited for."""

_AT_ONCE = 4
"""Tasks per worker that are on their way, so that none waits for the next."""
_NAME = 60
"""Characters of what a task is called at the most."""
_LOOK, _SOON = 2.0, 0.2
"""Seconds from one look at the workers to the next, and while there is none."""
_STARTS = 3
"""How often a connection is tried where the machine is too busy to start its loop."""
_LONGER = "it is waited for longer with DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT=60s"
_SAME = "install the same versions of rspverify, of its libraries and of Python there"


class Cluster:
    """The workers of a scheduler.

    It connects when it is first needed. Raises InputError where it cannot, or where a worker runs
    another version of the package; LimitReached where the cluster is lost meanwhile.
    """

    def __init__(self, address: str) -> None:
        _require_address(address)
        self._address = address
        if find_spec("distributed") is None:
            message = "--cluster: the library distributed must be installed, and is not"
            raise InputError([Problem(None, message, INSTALL)])
        self._client: Client | None = None
        self._patience = 0.0
        self._lost: str | None = None
        self._workers: Sequence[str] = ()
        self._looked = self._answered = 0.0

    @property
    def workers(self) -> int:
        """How many workers there are; looked for again where there were none."""
        _ = self.client
        if not self._workers:
            self.look()
        return len(self._workers)

    @property
    def client(self) -> Client:
        """The connection to the scheduler."""
        if self._client is None:
            self._connect()
        if self._lost is not None:
            raise LimitReached(self._lost)
        return self._client

    def pool(self, questions: Sequence[Question[Any]], judge: Judge) -> Tasks:
        """The workers, for these questions. judge: who asks."""
        return Tasks(self, questions, judge)

    def close(self) -> None:
        """Leave the cluster, whatever state it is in."""
        client, self._client = self._client, None
        with suppress(Exception):
            if client is not None:
                client.close(timeout=2)

    @property
    def pause(self) -> float:
        """Seconds until the next look at the workers."""
        return _LOOK if self._workers else _SOON

    def look(self) -> int:
        """See which workers there are, unless that was just done; how many have gone meanwhile.

        Raises LimitReached where there are none for too long.
        """
        now, before = time.monotonic(), set(self._workers)
        if now - self._looked < self.pause:
            return 0
        self._looked = now
        try:
            ask = self.client.scheduler.ncores
            self._workers = tuple(self.client.sync(ask, callback_timeout=self._patience))
            why = "there must be a worker, not none"
        except (OSError, TimeoutError):
            self._workers, why = (), "its scheduler must answer, and does not"
        if self._workers or before:
            self._answered = now  # or the time without any begins: nobody looks between two runs
        elif now - self._answered > self._patience:
            raise self._given_up(f"{why}, for {self._patience:g} s")
        return len(before - {*self._workers})

    def result(self, future: Future) -> Reply[Any] | None:
        """What came of a task; None if that is lost, and it is to be sent again.

        Raises KilledWorker where workers ended, again and again, while the task was there, and
        LimitReached.
        """
        from distributed.client import FutureCancelledError

        try:
            found: Reply[Any] | str = future.result(timeout=self._patience)
        except (FutureCancelledError, OSError, TimeoutError):
            self._wait_for_connection()
            return None
        except (ImportError, AttributeError) as error:
            raise self._given_up(_other("worker of the cluster", error)) from None
        if isinstance(found, str):
            raise self._given_up(found)
        return found

    def _connect(self) -> None:
        """Connect, and wait for the first worker. Raises InputError."""
        import dask
        from dask.utils import parse_timedelta

        if dask.config.get("logging", None) is None:
            _say_nothing()
        self._patience = parse_timedelta(dask.config.get(PATIENCE))
        try:
            self._client = _client(self._address, self._patience)
        except (OSError, ValueError, TypeError, RuntimeError) as error:  # the last two: of TLS
            must = f"--cluster must be the address of a scheduler, not {self._address}"
            hint = f"start one with: dask scheduler; {_LONGER}"
            raise InputError(
                [Problem(None, f"{must}: {' '.join(str(error).split())}", hint)]
            ) from None
        self._looked, self._answered = 0.0, time.monotonic()
        try:
            self.look()
            while not self._workers:
                time.sleep(_SOON)
                self.look()
            self._require_one_version()
        except LimitReached as error:
            start = f"start some with: dask worker {self._address} --nthreads 1; {_LONGER}"
            problem = Problem(None, str(error), _SAME if self._workers else start)
            self.close()
            raise InputError([problem]) from None
        except BaseException:
            self.close()
            raise

    def _require_one_version(self) -> None:
        how = {"on_error": "return", "callback_timeout": self._patience}
        try:
            found_by = self.client.sync(self.client.run, fingerprint, **how)
        except (OSError, TimeoutError):
            message = f"all workers must say which version they run, within {self._patience:g} s"
            raise self._given_up(message) from None
        for worker, found in found_by.items():
            if found != fingerprint_here():
                raise self._given_up(_other(f"worker {worker}", found))

    def _wait_for_connection(self) -> None:
        until = time.monotonic() + self._patience + 1
        while (status := self.client.status) != "running":
            if status in ("closing", "closed") or time.monotonic() > until:
                why = f"the connection was lost, and is not back in {self._patience:g} s"
                raise self._given_up(why)
            time.sleep(0.05)

    def _given_up(self, why: str) -> LimitReached:
        self._lost = f"{self._address}: {why}"
        return LimitReached(self._lost)


def _require_address(address: str) -> None:
    """Raises InputError where it cannot be that of a scheduler."""
    place = address.partition("://")[2] or address
    host, _, port = place.rpartition(":")
    message = f"--cluster must be local:N or the address of a scheduler, not {address!r}"
    right = host not in ("", "local") and port.isdigit() and " " not in address
    require(right, message, "such as local:4, or tcp://10.0.0.5:8786")


class Tasks:
    """A pool (workers.py): a task for each question that is given. Methods raise LimitReached."""

    def __init__(self, cluster: Cluster, questions: Sequence[Question[Any]], judge: Judge) -> None:
        self._cluster = cluster
        self._questions = questions
        self._judge = judge
        self._payload = pickle.dumps(questions)
        self._sent: Future | None = None
        self._suspects: deque[int] = deque()
        self._alone: int | None = None
        self._flights: dict[Future, int] = {}
        self._finished: SimpleQueue[Future] = SimpleQueue()

    def takes(self) -> bool:
        """Whether a worker has room. Suspects go one at a time, while nothing else is done."""
        if self._suspects or self._alone is not None:
            return False
        return len(self._flights) < _AT_ONCE * self._cluster.workers

    def give(self, number: int) -> None:
        """Send a question, by its number."""
        it, client = self._questions[number], self._cluster.client
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

    def received(self) -> Iterator[tuple[int, Reply[Any] | None]]:
        """A reply, if there is one before the next look at the workers."""
        from distributed import KilledWorker

        with suppress(Empty):
            future = self._finished.get(timeout=self._cluster.pause)
            number = self._flights.pop(future)
            alone, self._alone = self._alone, None
            try:
                reply = self._cluster.result(future)
            except KilledWorker:
                if alone is None:
                    self._suspects.append(number)
                else:
                    yield number, None
            else:
                if reply is None:
                    self.give(number)
                else:
                    yield number, reply
        if gone := self._cluster.look():
            self._judge.warn(f"lost of the cluster's workers: {gone}; what they had is done again")
        if self._suspects and self._cluster.workers and not self._flights:
            self._alone = self._suspects.popleft()
            self.give(self._alone)

    def end(self) -> None:
        """Have nothing more done. A scheduler cancels what nobody wants; it is not waited for."""
        futures = [*self._flights, *([self._sent] if self._sent else [])]
        self._flights.clear()
        for future in futures:
            with suppress(Exception):
                future.release()


def _client(address: str, patience: float) -> Client:
    """A connection to a scheduler.

    While its loop starts, no client that has failed before is collected: it would close itself, and
    wait for the lock that the start of the loop holds.
    """
    from distributed import Client

    gc.collect()
    gc.disable()
    try:
        for _ in range(_STARTS):
            with suppress(AssertionError):
                return Client(address, timeout=patience, set_as_default=False)
    finally:
        gc.enable()
    raise OSError("this machine is too busy to connect")


def _say_nothing() -> None:
    """What goes wrong in a cluster is said by us, once we know what it means."""
    import distributed  # noqa: F401

    for name in ("distributed", "distributed.client", "tornado", "tornado.application", "asyncio"):
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)


def _other(who: str, found: object) -> str:
    must = f"the {who} must run rspverify {fingerprint_here()[:12]}"
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
