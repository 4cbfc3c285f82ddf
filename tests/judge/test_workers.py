"""Questions that forked processes decide: all of them, in order, and nothing left behind."""

from __future__ import annotations

import os
import re
import signal
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any

import pytest
from cluster_work import Deadly, Doubled, OneOver, Survivable

from rspverify.judge import workers
from rspverify.judge.judge import Judge
from rspverify.judge.question import Reply
from rspverify.judge.workers import Processes, replies
from rspverify.limits import LOST, LimitReached


def spread(
    do: Callable[[int], Any], count: int, size: int, forks: list[int] | None = None
) -> Generator[Any, None, None]:
    pool = Processes(do, range(count), size, lambda: (forks or []).append(1))
    return replies(pool, count)


@pytest.fixture(params=["processes", "cluster"])
def judge(request: pytest.FixtureRequest) -> Judge:
    """One by two processes that are forked, and one by two workers of a cluster."""
    if request.param == "processes":
        return Judge(workers=2)
    return Judge(cluster=request.getfixturevalue("local"))


def doubles(count: int) -> list[Doubled]:
    return [Doubled(number) for number in range(count)]


def test_answers_come_in_the_order_of_the_questions(judge: Judge) -> None:
    assert list(judge.run(doubles(200))) == [*range(0, 400, 2)]
    assert list(judge.run([])) == []


def test_a_run_can_be_left(judge: Judge) -> None:
    coming = judge.run(doubles(10_000))
    assert next(coming) == 0
    coming.close()
    assert list(judge.run(doubles(3))) == [0, 2, 4]


def test_what_is_raised_is_raised_here(judge: Judge) -> None:
    coming = judge.run([OneOver(it) for it in (1, 2, 0, 4)])
    assert [next(coming), next(coming)] == [1, 0.5]
    with pytest.raises(ZeroDivisionError) as met:
        next(coming)
    assert "in a worker:" in met.value.__notes__[0]


def test_a_question_that_ends_its_worker_is_lost_alone(judge: Judge) -> None:
    found = judge.run([Survivable(number) for number in range(20)])
    assert list(found) == [1007 if number == 7 else -number for number in range(20)]


def test_a_question_that_must_not_be_lost_is_a_limit(judge: Judge) -> None:
    with pytest.raises(LimitReached, match=re.escape(LOST)):
        list(judge.run([Deadly(7)]))


@pytest.mark.parametrize("size", [1, 2, 3])
def test_processes_know_what_was_there_before_they_were_forked(size: int) -> None:
    offset = 7  # of the closure
    assert list(spread(lambda n: n + offset, 50, size)) == list(range(7, 57))


def test_two_at_once_do_not_mix() -> None:
    one = spread(lambda n: ("one", n), 20, 2)
    two = spread(lambda n: ("two", n), 20, 2)
    pairs = list(zip(one, two, strict=True))
    assert pairs == [(("one", n), ("two", n)) for n in range(20)]


@pytest.mark.parametrize("workers", [1, 2, 5])
def test_a_lost_worker_costs_the_question_that_it_was_at(workers: int) -> None:
    """The others go on, and what waited for it is done by another."""
    found = Judge(workers=workers).run([Survivable(n) for n in range(120)])
    assert list(found) == [1000 + n if n % 40 == 7 else -n for n in range(120)]


def test_a_question_whose_worker_is_killed_is_asked_again(tmp_path: Path) -> None:
    class Once(Deadly, frozen=True):
        def decide(self) -> int:
            (tmp_path / f"{self.number}{os.getpid()}").touch()
            return super().decide() if len([*tmp_path.glob("7*")]) == 1 else -self.number

    said: list[str] = []
    assert list(Judge(None, said.append, 2).run([Once(7), Once(8)])) == [-7, -8]
    assert len(said) == 1 and "asked once more" in said[0]


def test_a_worker_that_is_interrupted_says_nothing(capfd: pytest.CaptureFixture[str]) -> None:
    """The solver heeds Ctrl-C in all processes; only the parent tells of it."""

    def do(n: int) -> int:
        raise KeyboardInterrupt

    assert list(spread(do, 3, 1)) == [None] * 3
    assert capfd.readouterr().err == ""


def test_replies_may_be_long() -> None:
    """Nobody waits for ever for a pipe that is full."""
    assert list(map(len, spread(lambda n: bytes([n]) * 600_000, 20, 2))) == [600_000] * 20


def test_what_cannot_be_passed_on_is_an_error() -> None:
    found = list(spread(lambda n: lambda: n, 2, 2))
    assert all(isinstance(it, Reply) and "pickle" in str(it.error) for it in found)


def test_what_is_open_is_let_go_of_before_each_fork() -> None:
    forks = [0]
    assert list(spread(lambda n: n, 9, 3, forks)) == [*range(9)]
    assert forks == [0, 1, 1, 1]


def test_a_run_that_is_left_leaves_no_process() -> None:
    coming = spread(lambda n: os.getpid(), 1000, 2)
    pid = next(coming)
    coming.close()
    with pytest.raises(ProcessLookupError):
        os.kill(pid, signal.SIG_DFL)


def test_no_question_is_left_out_unnoticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A verdict that is missing must not look like one that is sound."""
    monkeypatch.setattr(workers, "replies", lambda pool, count: replies(pool, count - 1))
    with pytest.raises(ValueError, match="shorter"):
        list(Judge(workers=2).run([Doubled(1), Doubled(2)]))
