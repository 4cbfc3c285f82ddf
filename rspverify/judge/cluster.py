"""Work that is spread over the workers of a cluster of dask.distributed, results in order.

What is done is sent once to each worker, items in batches that take about a second. A worker that
is lost costs nothing: its batch is done by another. A batch that ends its workers is done again by
single items, one at a time, so that an item that ends its worker is known.
"""

from __future__ import annotations

import gc
import logging
import pickle
import signal
import threading
import time
import warnings
from collections import Counter, deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache
from importlib.util import find_spec
from math import ceil
from multiprocessing import resource_tracker
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any, Generic, TypeVar
from uuid import uuid4

from rspverify.judge.fingerprint import fingerprint
from rspverify.judge.work import Done, Outcome, Raised, Work, told_outcome
from rspverify.limits import LOST, LimitReached
from rspverify.source import InputError, Problem

if TYPE_CHECKING:
    from distributed import Client, Future, LocalCluster

T = TypeVar("T")
R = TypeVar("R")

TASK_SECONDS = 1.0
"""About so long takes a task, unless one item takes longer: what a lost worker costs."""

_AT_ONCE = 2
"""Tasks per worker that are on their way, so that none waits for the next."""

_LARGEST = 500
"""Items of one task at the most."""

_LOOK = 2.0
"""Seconds from one look at the workers to the next."""

_SOON = 0.2
"""The same while there is none."""

_NAME = 60
"""Characters of what a task is called at the most."""

PATIENCE = "distributed.comm.timeouts.connect"
"""The setting of Dask that says how long a scheduler, or the first worker, is waited for."""

INSTALL = "python -m pip install 'rspverify[cluster]'"
_LONGER = "it is waited for longer with DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT=60s"
_SAME = "install the same versions of rspverify, of its libraries and of Python there"


class Cluster:
    """The workers of a scheduler, or so many of this machine that are started for this.

    It connects when work is first to be done. Raises InputError where it cannot, or where a worker
    runs another version of the package; LimitReached where the cluster is lost meanwhile.
    """

    shares_cache = False

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

    def each(
        self,
        work: Work[T, R],
        items: Iterable[T],
        *,
        most: int | None,
        ahead: int,
        lost: Callable[[T], R] | None,
    ) -> Generator[R, None, None]:
        """What is done with each item, in their order. Close it when done."""
        batches = _Batches(self._linked(), work, items, most, ahead)
        try:
            yield from batches.results(lost)
        except _LinkLost as error:
            self._lost = f"{self._address}: {error}"
            raise LimitReached(self._lost) from None
        finally:
            batches.end()

    def close(self) -> None:
        """Leave the cluster; end what was started on this machine."""
        if self._link is not None:
            link, self._link = self._link, None
            link.close()

    def _linked(self) -> _Link:
        if self._lost is not None:
            raise LimitReached(self._lost)
        if self._link is None:
            self._link = _Link.to(self._address, self._processes)
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


class _LinkLost(Exception):
    """The cluster can do nothing more; the text says why. hint: what to do."""

    def __init__(self, why: str, hint: str | None = None) -> None:
        super().__init__(why)
        self.hint = hint


@dataclass
class _Link:
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
    def to(address: str, processes: int | None) -> _Link:
        """Connect, and wait for the first worker. Raises InputError."""
        import dask
        from dask.utils import parse_timedelta

        if dask.config.get("logging", None) is None:
            _say_nothing()
        from distributed import Client

        patience = parse_timedelta(dask.config.get(PATIENCE))
        local = None if processes is None else _started(processes)
        try:
            client = Client(local or address, timeout=patience, set_as_default=False)
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
        except _LinkLost as error:
            link.close()
            raise InputError([Problem(None, f"{address}: {error}", error.hint)]) from None
        except BaseException:
            link.close()
            raise
        return link

    def look(self) -> None:
        """See which workers there are. Raises _LinkLost where there are none for too long."""
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
            raise _LinkLost(f"{why}, for {self.patience:g} s", hint)

    def look_sometimes(self) -> None:
        """The same, unless that was just done."""
        if time.monotonic() - self._looked > _LOOK:
            self.look()

    def again(self) -> None:
        """Wait until there is a connection once more. Raises _LinkLost."""
        until = time.monotonic() + self.patience + 1
        while self.client.status != "running":
            if self.client.status in ("closing", "closed") or time.monotonic() > until:
                raise _LinkLost(f"the connection was lost, and is not back in {self.patience:g} s")
            time.sleep(0.05)
        self.times += 1
        self.look()

    def require_one_version(self) -> None:
        """Raises _LinkLost where a worker runs another version."""
        how = {"on_error": "return", "callback_timeout": self.patience}
        try:
            found_by = self.client.sync(self.client.run, fingerprint, **how)
        except (OSError, TimeoutError):
            message = f"all workers must say which version they run, within {self.patience:g} s"
            raise _LinkLost(message) from None
        for worker, found in found_by.items():
            if found != fingerprint_here():
                raise _LinkLost(_other(worker, found), _SAME)

    def close(self) -> None:
        """Leave, whatever state it is in."""
        with suppress(Exception):
            self.client.close(timeout=2)
        if self.local is not None:
            with suppress(Exception):
                self.local.close(timeout=10)


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


@dataclass(frozen=True)
class _Flight:
    """Items that are on their way, by their numbers. alone: whether nothing else is."""

    future: Future
    numbers: Sequence[int]
    worker: str
    alone: bool


class _Batches(Generic[T, R]):
    """Items, taken from their source when needed, sent in batches; their results in order."""

    def __init__(
        self, link: _Link, work: Work[T, R], items: Iterable[T], most: int | None, ahead: int
    ) -> None:
        self._link = link
        self._work = work
        self._sent = pickle.dumps(work.do)
        self._source = enumerate(items)
        self._exhausted = False
        self._most = most
        self._ahead = ahead
        self._taken: dict[int, T] = {}
        self._waiting: deque[int] = deque()
        self._suspects: deque[int] = deque()
        self._flights: dict[object, _Flight] = {}
        self._found: dict[int, Outcome[R] | None] = {}
        self._rate: float | None = None
        self._payload: tuple[int, Future] | None = None
        self._token = uuid4().hex[:8]
        self._serial = 0

    def results(self, lost: Callable[[T], R] | None) -> Iterator[R]:
        """The results. Raises LimitReached where an item is lost that may not be."""
        following = 0
        while True:
            self._fill()
            if not self._taken:
                return
            while following not in self._found:
                self._wait()
                self._fill()
            item, outcome = self._taken.pop(following), self._found.pop(following)
            following += 1
            match outcome:
                case Done(value):
                    yield value
                case Raised(error):
                    raise error
                case None if lost is not None:
                    yield lost(item)
                case None:
                    raise LimitReached(LOST)

    def end(self) -> None:
        """Have nothing more done. A scheduler cancels what nobody wants; it is not waited for."""
        futures = [each.future for each in self._flights.values()]
        self._flights.clear()
        if self._payload is not None:
            futures.append(self._payload[1])
        for future in futures:
            with suppress(Exception):
                future.release()

    def _fill(self) -> None:
        """Send what may be sent now. Suspects go one at a time, while nothing else is done."""
        workers = len(self._link.workers)
        if self._suspects:
            if workers and not self._flights:
                self._send([self._suspects.popleft()], alone=True)
            return
        room = _AT_ONCE * workers
        self._take(max(1, workers))
        while self._waiting and len(self._flights) < room:
            size = self._size()
            if self._exhausted:  # what is left is shared out
                size = min(size, ceil(len(self._waiting) / room))
            count = min(size, len(self._waiting))
            self._send([self._waiting.popleft() for _ in range(count)])

    def _take(self, workers: int) -> None:
        """Take items from their source, not too far ahead."""
        size = self._size()
        while not self._exhausted and len(self._waiting) < _AT_ONCE * workers * size:
            if len(self._taken) >= max(self._ahead, _AT_ONCE + 1) * workers * size:
                return
            number, item = next(self._source, (None, None))
            if number is None:
                self._exhausted = True
            else:
                self._taken[number] = item  # type: ignore[assignment]
                self._waiting.append(number)

    def _size(self) -> int:
        """How many items take about as long as a task is to take; one, before that is known."""
        return 1 if self._rate is None else max(1, min(_LARGEST, int(self._rate * TASK_SECONDS)))

    def _send(self, numbers: Sequence[int], *, alone: bool = False) -> None:
        items = pickle.dumps([self._taken[each] for each in numbers])
        name = self._work.named(self._taken[numbers[0]])[:_NAME]
        if len(numbers) > 1:
            name += f" and {len(numbers) - 1} more"
        self._serial += 1
        worker = self._least_busy()
        future = self._link.client.submit(
            do_batch,
            self._payload_there(),
            items,
            fingerprint_here(),
            TASK_SECONDS,
            key=(self._work.kind, name, self._token, self._serial),
            workers=worker,
            allow_other_workers=True,
            pure=False,
        )
        self._flights[future.key] = _Flight(future, numbers, worker, alone)
        future.add_done_callback(lambda it: self._link.finished.put(it.key))

    def _payload_there(self) -> Future:
        """What is done, once it was sent: workers hand it on to each other."""
        if self._payload is None or self._payload[0] != self._link.times:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # that it is large
                future = self._link.client.submit(
                    bytes, self._sent, key=("send", self._work.kind, self._token, self._link.times)
                )
            self._payload = self._link.times, future
        return self._payload[1]

    def _least_busy(self) -> str:
        busy = Counter(each.worker for each in self._flights.values())
        return min(self._link.workers, key=lambda it: busy[it])

    def _wait(self) -> None:
        """Wait for a batch, and look at the cluster now and then."""
        try:
            key = self._link.finished.get(timeout=_LOOK if self._link.workers else _SOON)
        except Empty:
            self._link.look()
            return
        flight = self._flights.pop(key, None)
        if flight is not None:
            self._receive(flight)
        self._link.look_sometimes()

    def _receive(self, flight: _Flight) -> None:
        from distributed import KilledWorker
        from distributed.client import FutureCancelledError

        try:
            came = flight.future.result(timeout=self._link.patience)
        except KilledWorker:
            self._killed(flight)
        except (FutureCancelledError, OSError, TimeoutError):
            self._waiting.extendleft(reversed(flight.numbers))
            self._link.again()
        except (ImportError, AttributeError) as error:
            raise _LinkLost(_other(flight.worker, error)) from None
        else:
            if isinstance(came, Refused):
                raise _LinkLost(_other(came.worker, came.fingerprint))
            self._arrived(flight, came)

    def _killed(self, flight: _Flight) -> None:
        """Workers ended, again and again, while a batch was there, perhaps because of it."""
        if flight.alone:
            (number,) = flight.numbers
            self._found[number] = None
        else:
            self._suspects.extend(flight.numbers)

    def _arrived(self, flight: _Flight, came: Came) -> None:
        outcomes = pickle.loads(came.outcomes)
        self._found.update(zip(flight.numbers, outcomes, strict=False))
        self._waiting.extendleft(reversed(flight.numbers[len(outcomes) :]))
        if outcomes:
            rate = len(outcomes) / max(came.seconds, 1e-6)
            self._rate = rate if self._rate is None else (self._rate + rate) / 2


# What follows is done by workers.


@dataclass(frozen=True)
class Came:
    """What came of the first items of a batch, pickled, and how long that took."""

    outcomes: bytes
    seconds: float


@dataclass(frozen=True)
class Refused:
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
