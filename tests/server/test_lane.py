"""Turns are fair; workers that do what they should not are ended, others take their place."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable, Coroutine
from functools import wraps
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path

import pytest

from rspverify.server.lane import Lane, Ticket, Turns
from rspverify.server.question import Refused
from rspverify.server.worker import Worker, ready


def obedient(pipe: Connection) -> None:
    """Does what it is asked: says something, says much, stands still, or dies."""
    os.setsid()
    pipe.send_bytes(b"")
    while True:
        try:
            wanted = pipe.recv_bytes()
        except EOFError:
            return
        if wanted == b"much":
            pipe.send_bytes(b"x" * 5_000)
        if wanted == b"still":
            pipe.send_bytes(b"begun")
            time.sleep(60)
        if wanted == b"die":
            os._exit(1)
        pipe.send_bytes(b"said " + wanted)
        pipe.send_bytes(b"")


class Started:
    """Starts such workers, and counts them."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.number = folder, 0

    def __call__(self) -> Worker:
        self.number += 1
        context = get_context("forkserver")
        ours, theirs = context.Pipe()
        process = context.Process(target=obedient, args=(theirs,))
        process.start()
        theirs.close()
        own = self.folder / f"{self.number}"
        own.mkdir()
        return ready(Worker(process, ours, own))


async def said(lane: Lane, wanted: bytes, most: int = 9) -> list[bytes]:
    ticket = lane.turns.enter("client", short=True)
    found: list[bytes] = []
    coming = lane.answer(ticket, wanted)
    async for message in coming:
        if message.startswith(b"event: waiting"):
            continue
        found.append(message)
        if len(found) == most:
            break
    await coming.aclose()
    return found


LIMITS: dict[bytes, tuple[list[bytes], bytes]] = {
    b"much": ([], b"more than 1,000 bytes"),
    b"still": ([b"begun"], b"more than 0.5 seconds"),
    b"die": ([], b"has ended: it needed too much memory, perhaps"),
}


@pytest.mark.parametrize("wanted", LIMITS)
def test_limits(wanted: bytes, tmp_path: Path) -> None:
    started, (before, words) = Started(tmp_path), LIMITS[wanted]

    async def test(lane: Lane) -> None:
        assert await said(lane, b"a") == [b"said a"]
        *first, last = await said(lane, wanted)
        assert first == before and last.startswith(b"event: failed\n") and words in last
        assert await said(lane, b"b") == [b"said b"]
        assert started.number == 2
        assert [each.name for each in tmp_path.iterdir()] == ["2"], "its folder goes with it"

    _run(started, test)


def test_what_nobody_wants_any_more_is_ended(tmp_path: Path) -> None:
    started = Started(tmp_path)

    async def test(lane: Lane) -> None:
        assert await said(lane, b"still", most=1) == [b"begun"]
        assert await said(lane, b"a") == [b"said a"]
        assert started.number == 2
        assert await said(lane, b"b", most=1) == [b"said b"]
        assert await said(lane, b"c") == [b"said c"]
        assert started.number == 2, "one that comes to its end in time is kept"

    _run(started, test)


def _run(started: Started, test: Callable[[Lane], object]) -> None:
    async def running() -> None:
        lane = Lane(started, 1, Turns(9, 9), seconds=0.5, size=1_000)
        await lane.open()
        try:
            await test(lane)  # type: ignore[misc]
        finally:
            await lane.close()

    asyncio.run(running())


# ---- turns ---------------------------------------------------------------------------------------


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
