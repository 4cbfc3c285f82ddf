"""Turns are fair: short ones first, no client before all others, nobody for ever."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from functools import wraps

import pytest

from rspverify.server.lane import Ticket, Turns
from rspverify.server.question import Refused


def in_a_loop(test: Callable[[], Coroutine[None, None, None]]) -> Callable[[], None]:
    """A test that is run in a loop of events."""
    return wraps(test)(lambda: asyncio.run(test()))


def served(turns: Turns[str], tickets: dict[str, Ticket[str]]) -> list[str]:
    """The names of the tickets in the order in which they are served by one."""
    order: list[str] = []
    while len(order) < len(tickets):
        (name,) = (each for each, it in tickets.items() if it.turn.done() and each not in order)
        order.append(name)
        turns.free(tickets[name].turn.result())
    return order


@in_a_loop
async def test_one_client_after_the_other() -> None:
    turns: Turns[str] = Turns(most=20, of_one=9)
    names = ["a1", "a2", "a3", "a4", "b1", "b2", "c1"]
    tickets = {name: turns.enter(name[0], short=True) for name in names}
    turns.free("worker")
    assert served(turns, tickets) == ["a1", "b1", "c1", "a2", "b2", "a3", "a4"]


@in_a_loop
async def test_short_ones_come_first_but_not_for_ever() -> None:
    turns: Turns[str] = Turns(most=20, of_one=9)
    tickets = {"long": turns.enter("z", short=False)}
    tickets |= {f"{n}": turns.enter(f"{n}", short=True) for n in range(7)}
    turns.free("worker")
    assert served(turns, tickets) == ["0", "1", "2", "3", "long", "4", "5", "6"]


@in_a_loop
async def test_there_is_room_for_so_many() -> None:
    turns: Turns[str] = Turns(most=3, of_one=2)
    first, _ = (turns.enter("a", short=True) for _ in range(2))
    with pytest.raises(Refused, match="of yours"):
        turns.enter("a", short=True)
    turns.enter("b", short=True)
    with pytest.raises(Refused, match="wait already; try again"):
        turns.enter("c", short=True)
    turns.leave(first)
    turns.enter("c", short=True)


@in_a_loop
async def test_whoever_leaves_keeps_nobody_waiting() -> None:
    turns: Turns[str] = Turns(most=9, of_one=9)
    first, second, third = (turns.enter("a", short=True) for _ in range(3))
    turns.leave(second)
    turns.free("worker")
    assert first.turn.done() and not third.turn.done()
    turns.leave(first)  # it was served, and wants it no more
    assert third.turn.result() == "worker"
