"""Items that go to the workers of a cluster in batches, and their results, in order."""

from __future__ import annotations

import pickle
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from math import ceil
from typing import Any, Generic, TypeVar, assert_never
from uuid import uuid4

from msgspec import Struct

from rspverify.judge.link import Came, Killed, Link
from rspverify.judge.work import Outcome, Work, taken

T = TypeVar("T")
R = TypeVar("R")

TASK_SECONDS = 1.0
"""About so long takes a task, unless one item takes longer: what a lost worker costs."""

_AT_ONCE = 2
"""Tasks per worker that are on their way, so that none waits for the next."""

_LARGEST = 500
"""Items of one task at the most."""

_NAME = 60
"""Characters of what a task is called at the most."""


class _Flight(Struct, frozen=True):
    """Items that are on their way, by their numbers. alone: whether nothing else is."""

    future: Any
    numbers: Sequence[int]
    worker: str
    alone: bool


class Batches(Generic[T, R]):
    """Items, taken from their source when needed, sent in batches; their results in order."""

    def __init__(
        self, link: Link, work: Work[T, R], items: Iterable[T], most: int | None, ahead: int
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
        self._payload: tuple[int, Any] | None = None
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
            yield taken(outcome, item, lost)

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
        key = (self._work.kind, name, self._token, self._serial)
        future = self._link.send_items(key, self._payload_there(), items, TASK_SECONDS, worker)
        self._flights[future.key] = _Flight(future, numbers, worker, alone)

    def _payload_there(self) -> Any:
        """What is done, once it was sent: workers hand it on to each other."""
        if self._payload is None or self._payload[0] != self._link.times:
            future = self._link.send_work(self._work.kind, self._sent)
            self._payload = self._link.times, future
        return self._payload[1]

    def _least_busy(self) -> str:
        busy = Counter(each.worker for each in self._flights.values())
        return min(self._link.workers, key=lambda it: busy[it])

    def _wait(self) -> None:
        """Wait for a batch, and look at the cluster now and then."""
        key = self._link.next_finished()
        if key is None:
            self._link.look()
            return
        flight = self._flights.pop(key, None)
        if flight is not None:
            self._receive(flight)
        self._link.look_sometimes()

    def _receive(self, flight: _Flight) -> None:
        came = self._link.result(flight.future, flight.worker)
        match came:
            case None:
                self._waiting.extendleft(reversed(flight.numbers))
            case Killed():
                self._killed(flight)
            case Came():
                self._arrived(flight, came)
            case _:
                assert_never(came)

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
