"""Work that is spread over processes: all of it, in order, and nothing left behind."""

from __future__ import annotations

import os
import signal
from collections.abc import Generator, Iterable
from itertools import count, islice
from typing import Any

import pytest

from rspverify.judge.judge import Judge
from rspverify.judge.work import Work
from rspverify.judge.workers import spread
from rspverify.limits import LimitReached


@pytest.mark.parametrize("workers", [1, 2, 3])
def test_results_come_in_the_order_of_the_items(workers: int) -> None:
    offset = 7  # of the closure, which only a forked process knows
    assert list(spread(lambda n: n + offset, range(50), workers)) == list(range(7, 57))


def test_items_are_taken_only_a_little_ahead() -> None:
    taken: list[int] = []

    def items() -> object:
        for n in count():
            taken.append(n)
            yield n

    found = spread(lambda n: -n, items(), 2, ahead=3)  # type: ignore[arg-type, var-annotated]
    assert list(islice(found, 10)) == [-n for n in range(10)]
    assert len(taken) <= 10 + 2 * 3 + 1
    found.close()


def test_two_at_once_do_not_mix() -> None:
    one = spread(lambda n: ("one", n), range(20), 2)
    two = spread(lambda n: ("two", n), range(20), 2)
    pairs = list(zip(one, two, strict=True))
    assert pairs == [(("one", n), ("two", n)) for n in range(20)]


def test_what_work_raises_is_raised() -> None:
    with pytest.raises(ZeroDivisionError):
        list(spread(lambda n: 1 // n, [1, 0], 2))


def test_a_lost_worker_is_said() -> None:
    with pytest.raises(LimitReached, match="worker process ended"):
        list(spread(lambda n: os._exit(1), [1, 2], 2))


@pytest.mark.parametrize("workers", [1, 2, 5])
def test_a_lost_worker_costs_the_item_that_it_was_at(workers: int) -> None:
    """The others go on, and what waited for it is done by another."""

    def work(n: int) -> int:
        if n % 7 == 3:
            os.kill(os.getpid(), signal.SIGKILL)
        return n

    found = list(spread(work, range(40), workers, lost=lambda n: -n))
    assert found == [-n if n % 7 == 3 else n for n in range(40)]


def test_a_worker_that_is_interrupted_says_nothing(capfd: pytest.CaptureFixture[str]) -> None:
    """The solver heeds Ctrl-C in all processes; only the parent tells of it."""

    def work(n: int) -> int:
        raise KeyboardInterrupt

    assert list(spread(work, range(3), 1, lost=lambda n: -n)) == [0, -1, -2]
    assert capfd.readouterr().err == ""


def test_items_and_results_may_be_long() -> None:
    """Nobody waits for ever for a pipe that is full."""
    items = [bytes([n]) * 300_000 for n in range(20)]
    assert list(spread(lambda it: it + it, items, 2)) == [it + it for it in items]


def test_what_cannot_be_passed_on_is_an_error() -> None:
    with pytest.raises(RuntimeError, match="pickle"):
        list(spread(lambda n: lambda: n, [1, 2], 2))


def test_what_is_open_is_let_go_of_before_each_fork() -> None:
    forks: list[int] = []
    assert list(spread(lambda n: n, range(9), 3, before_fork=lambda: forks.append(1))) == [
        *range(9)
    ]
    assert len(forks) == 3


class Forgetful:
    """Has work done, but for what it leaves out: the first or the last item."""

    shares_cache = True
    workers = 2

    def __init__(self, leaves: slice) -> None:
        self._leaves = leaves

    def each(self, work: Any, items: Iterable[Any], **_: object) -> Generator[Any, None, None]:
        yield from (work.do(each) for each in [*items][self._leaves])

    def close(self) -> None:
        """Nothing was started."""


class Idle(Forgetful):
    """Takes no item at all."""

    def each(self, work: Any, items: Iterable[Any], **_: object) -> Generator[Any, None, None]:
        yield from ()


@pytest.mark.parametrize("spreader", [Forgetful(slice(2)), Idle(slice(0))])
def test_no_item_is_left_out_unnoticed(spreader: Forgetful) -> None:
    """Whoever spreads the work: a verdict that is missing must not look like one that is sound."""
    judge = Judge(spreader=spreader)
    with pytest.raises(AssertionError, match="an item of test has no result"):
        list(judge.each(Work("test", abs), [1, 2, 3]))
    whole = Judge(spreader=Forgetful(slice(3)))
    assert list(whole.each(Work("test", abs), [-1, 2, -3])) == [1, 2, 3]
