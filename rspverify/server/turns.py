"""Whose turn it is: few are served at a time, those that wait one client after the other."""

from __future__ import annotations

from asyncio import Future, get_running_loop
from collections import OrderedDict, deque
from dataclasses import dataclass, field
from typing import Generic, TypeVar

T = TypeVar("T")

_IN_A_ROW = 4
"""After so many short ones in a row, a longer one that waits has its turn."""


class Busy(Exception):
    """There is no room for another one to wait; the text says whose fault that is."""


@dataclass(eq=False)
class Ticket(Generic[T]):
    """One that waits. turn: has what it is served by, once it is served."""

    client: str
    short: bool
    turn: Future[T]


@dataclass
class _Line(Generic[T]):
    """Those that wait, by client, whoever is next first; of a client in the order they came."""

    waiting: OrderedDict[str, deque[Ticket[T]]] = field(default_factory=OrderedDict)

    def add(self, ticket: Ticket[T]) -> None:
        self.waiting.setdefault(ticket.client, deque()).append(ticket)

    def take(self) -> Ticket[T]:
        client, tickets = next(iter(self.waiting.items()))
        ticket = tickets.popleft()
        del self.waiting[client]
        if tickets:  # behind all others
            self.waiting[client] = tickets
        return ticket

    def drop(self, ticket: Ticket[T]) -> None:
        tickets = self.waiting.get(ticket.client)
        if tickets is not None and ticket in tickets:
            tickets.remove(ticket)
            if not tickets:
                del self.waiting[ticket.client]


class Turns(Generic[T]):
    """Hands out what serves, so that no client waits for all that another one wants.

    most: how many may wait; of_one: how many of one client. Short ones come before longer ones, but
    not for ever.
    """

    def __init__(self, most: int, of_one: int) -> None:
        self._most, self._of_one = most, of_one
        self._free: deque[T] = deque()
        self._short: _Line[T] = _Line()
        self._longer: _Line[T] = _Line()
        self._row = 0
        self._waiting: dict[str, int] = {}

    def enter(self, client: str, *, short: bool) -> Ticket[T]:
        """Wait for a turn. Raises Busy."""
        if self._waiting.get(client, 0) >= self._of_one:
            raise Busy("too many questions of yours wait already")
        if sum(self._waiting.values()) >= self._most:
            raise Busy("too many questions wait already; try again in a moment")
        ticket: Ticket[T] = Ticket(client, short, get_running_loop().create_future())
        self._waiting[client] = self._waiting.get(client, 0) + 1
        (self._short if short else self._longer).add(ticket)
        self._serve()
        return ticket

    def leave(self, ticket: Ticket[T]) -> None:
        """Wait no more; what it was served by meanwhile goes to the next."""
        if ticket.turn.done() and not ticket.turn.cancelled():
            self.free(ticket.turn.result())
            return
        ticket.turn.cancel()
        for line in (self._short, self._longer):
            line.drop(ticket)
        self._gone(ticket.client)

    def free(self, serving: T) -> None:
        """What serves is free, or new."""
        self._free.append(serving)
        self._serve()

    def all_free(self) -> list[T]:
        """What serves nobody now; it is handed out no more."""
        free, self._free = list(self._free), deque()
        return free

    def before(self, ticket: Ticket[T]) -> int:
        """How many others wait, at the most, for a turn before this one."""
        return 0 if ticket.turn.done() else max(0, sum(self._waiting.values()) - 1)

    def _serve(self) -> None:
        while self._free and (self._short.waiting or self._longer.waiting):
            longer = self._longer.waiting and (not self._short.waiting or self._row >= _IN_A_ROW)
            ticket = (self._longer if longer else self._short).take()
            self._row = 0 if longer else self._row + 1
            self._gone(ticket.client)
            ticket.turn.set_result(self._free.popleft())

    def _gone(self, client: str) -> None:
        left = self._waiting[client] - 1
        if left:
            self._waiting[client] = left
        else:
            del self._waiting[client]
