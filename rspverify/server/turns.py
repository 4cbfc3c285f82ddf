"""Whose turn it is: few are served at a time, those that wait one client after the other."""

from __future__ import annotations

from asyncio import Future, get_running_loop
from collections import OrderedDict, deque
from dataclasses import dataclass
from typing import Generic, TypeAlias, TypeVar

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
        """Wait for a turn. Raises Busy."""
        if self._waiting(client) >= self._of_one:
            raise Busy("too many questions of yours wait already")
        if self._waiting() >= self._most:
            raise Busy("too many questions wait already; try again in a moment")
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
