"""Workers that share a kind of work: whose turn it is, answers as they come, an end to the rest."""

from __future__ import annotations

import asyncio
from asyncio import Future, get_running_loop
from collections import OrderedDict, deque
from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Generic, TypeAlias, TypeVar

from rspverify.server.question import Refused, encoded, failed
from rspverify.server.worker import Worker

T = TypeVar("T")

_IN_A_ROW = 4
"""After so many short ones in a row, a longer one that waits has its turn."""
_GRACE = 0.3
"""Seconds in which a worker may come to the end of an answer that nobody wants any more."""
_PATIENCE = 1.0
"""Seconds after which whoever waits for a turn is told so, again and again."""


@dataclass(eq=False)
class Ticket(Generic[T]):
    """One that waits. turn: has what it is served by, once it is served."""

    client: str
    short: bool
    turn: Future[T]


Line: TypeAlias = "OrderedDict[str, deque[Ticket[T]]]"
"""Those that wait, by client, whoever is next first; of a client in the order they came."""


class Turns(Generic[T]):
    """Hands out what serves, so that no client waits for all that another one wants.

    most: how many may wait; of_one: how many of one client. Short ones come before longer ones, but
    not for ever.
    """

    def __init__(self, most: int, of_one: int) -> None:
        self._most, self._of_one = most, of_one
        self._free: deque[T] = deque()
        self._lines: dict[bool, Line[T]] = {True: OrderedDict(), False: OrderedDict()}
        self._row = 0

    def _waiting(self, client: str | None = None) -> int:
        """How many wait, or how many of a client."""
        lines = self._lines.values()
        return sum(len(its) for line in lines for who, its in line.items() if client in (None, who))

    def enter(self, client: str, *, short: bool) -> Ticket[T]:
        """Wait for a turn. Raises Refused where there is no room."""
        if self._waiting(client) >= self._of_one:
            raise Refused(503, "too many questions of yours wait already")
        if self._waiting() >= self._most:
            raise Refused(503, "too many questions wait already; try again in a moment")
        ticket: Ticket[T] = Ticket(client, short, get_running_loop().create_future())
        self._lines[short].setdefault(client, deque()).append(ticket)
        self._serve()
        return ticket

    def leave(self, ticket: Ticket[T]) -> None:
        """Wait no more; what it was served by meanwhile goes to the next."""
        if ticket.turn.done() and not ticket.turn.cancelled():
            self.free(ticket.turn.result())
            return
        ticket.turn.cancel()
        line = self._lines[ticket.short]
        line[ticket.client].remove(ticket)
        if not line[ticket.client]:
            del line[ticket.client]

    def free(self, serving: T) -> None:
        """What serves is free, or new."""
        self._free.append(serving)
        self._serve()

    def before(self, ticket: Ticket[T]) -> int:
        """How many others wait, at the most, for a turn before this one."""
        return 0 if ticket.turn.done() else max(0, self._waiting() - 1)

    def _serve(self) -> None:
        short, longer = self._lines[True], self._lines[False]
        while self._free and (short or longer):
            late = bool(longer) and (not short or self._row >= _IN_A_ROW)
            line, self._row = (longer, 0) if late else (short, self._row + 1)
            client, tickets = line.popitem(last=False)
            ticket = tickets.popleft()
            if tickets:  # behind all others
                line[client] = tickets
            ticket.turn.set_result(self._free.popleft())


class Lane:
    """Some workers, and the turns that they give.

    start: makes a worker. seconds: of an answer; size: of its bytes. Whatever exceeds them ends the
    worker that was at it, and another takes its place.
    """

    def __init__(
        self,
        start: Callable[[], Worker],
        number: int,
        turns: Turns[Worker],
        seconds: float,
        size: int,
    ) -> None:
        self._start, self._number, self.turns = start, number, turns
        self._seconds, self._size = seconds, size
        self._after: set[asyncio.Task[None]] = set()
        self._all: set[Worker] = set()
        self._closed = False

    async def open(self) -> None:
        """Start the workers."""
        await asyncio.gather(*(self._add() for _ in range(self._number)))

    async def close(self) -> None:
        """End them all."""
        self._closed = True
        for each in [*self._after]:
            each.cancel()
        for worker in [*self._all]:
            self._all.discard(worker)
            await asyncio.to_thread(worker.end)

    async def answer(self, ticket: Ticket[Worker], data: bytes) -> AsyncGenerator[bytes, None]:
        """The events of an answer; whoever closes it wants no more of it."""
        try:
            while not ticket.turn.done():
                await asyncio.wait([ticket.turn], timeout=_PATIENCE)
                if not ticket.turn.done():
                    yield encoded(("waiting", {"before": self.turns.before(ticket)}))
        except BaseException:
            self.turns.leave(ticket)
            raise
        worker, ended = ticket.turn.result(), False
        try:
            worker.pipe.send_bytes(data)
            async for message in _messages(worker.pipe, self._seconds, self._size):
                yield message
            ended = True
        except TimeoutError:
            yield failed(f"it took more than {self._seconds:g} seconds, which is the limit here")
        except OverflowError:
            yield failed(f"the answer has more than {self._size:,} bytes, which is the limit here")
        except (EOFError, OSError):
            yield failed("the process that was at it has ended: it needed too much memory, perhaps")
        finally:
            self._let_go(worker, ended)

    def _let_go(self, worker: Worker, ended: bool) -> None:
        """Have a worker serve the next; one that is not at its end is given a moment for that."""
        if ended:
            self.turns.free(worker)
        elif not self._closed:
            task = get_running_loop().create_task(self._ending(worker))
            self._after.add(task)
            task.add_done_callback(self._after.discard)

    async def _ending(self, worker: Worker) -> None:
        try:
            async for _ in _messages(worker.pipe, _GRACE, self._size):
                pass
            self.turns.free(worker)
        except (EOFError, OSError, OverflowError):
            self._all.discard(worker)
            await asyncio.to_thread(worker.end)
            worker.pipe.close()
            while True:
                try:
                    return await self._add()
                except EOFError:  # there may be more memory in a moment
                    await asyncio.sleep(_PATIENCE)

    async def _add(self) -> None:
        """One more worker. Raises EOFError where it cannot be."""
        worker = await asyncio.to_thread(self._start)
        self._all.add(worker)
        if self._closed:
            worker.end()
        else:
            self.turns.free(worker)


async def _messages(pipe: Connection, seconds: float, size: int) -> AsyncGenerator[bytes, None]:
    """The messages of an answer up to the empty one: whoever stops waiting for one loses none.

    Raises TimeoutError, OverflowError where there are more bytes, and EOFError.
    """
    until = get_running_loop().time() + seconds
    while True:
        async with asyncio.timeout_at(until):
            await _readable(pipe)
        try:
            message = pipe.recv_bytes(max(1, size))
        except OSError as error:
            if error.errno is None:  # what comes is larger
                raise OverflowError from None
            raise
        if not message:
            return
        size -= len(message)
        yield message


async def _readable(pipe: Connection) -> None:
    """Wait until there is something to read, be it that there is no more."""
    loop, ready = get_running_loop(), asyncio.Event()
    loop.add_reader(pipe.fileno(), ready.set)
    try:
        await ready.wait()
    finally:
        loop.remove_reader(pipe.fileno())
