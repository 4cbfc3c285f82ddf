"""Worker processes that decide: forked once all that they share is read, and only if needed."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from concurrent.futures import Future
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field

from rspverify.answers import Result
from rspverify.check.answers import Answer, Task
from rspverify.check.cache import Cache, CachePlace, Warn
from rspverify.check.decide import Decider
from rspverify.check.workers import LOST, begin, end, forked
from rspverify.litmus import title_of, warm_up
from rspverify.verdict import Verdict, Word


@dataclass
class _Worker:
    """What a worker process has for all its tasks."""

    decider: Decider
    cache: Cache
    warnings: list[str] = field(default_factory=list)


_workers: list[_Worker] = []
"""In a worker process its own state, for which a pool has no other place; elsewhere empty."""


def decided(
    decider: Decider,
    tasks: Sequence[Task],
    workers: int,
    place: CachePlace | None,
    warn: Warn,
) -> Generator[Result, None, None]:
    """The results of tasks, in their order. No cache may be open in this process."""
    warm_up()
    pool = forked(max(1, min(workers, len(tasks))), _start, (decider, place))
    futures = [pool.submit(_work, task) for task in tasks]
    try:
        for task, future in zip(tasks, futures, strict=True):
            yield from _results(decider, task, future, warn)
    except BaseException:
        end(pool)
        raise
    pool.shutdown()


def _results(
    decider: Decider, task: Task, future: Future[tuple[list[Result], list[str]]], warn: Warn
) -> list[Result]:
    try:
        results, warnings = future.result()
    except BrokenProcessPool:
        answer = Answer(Verdict(Word.UNKNOWN, LOST), None, 0.0)
        return decider.same(answer, task, title_of(task.source))
    for each in warnings:
        warn(each)
    return results


def _start(decider: Decider, place: CachePlace | None) -> None:
    """What a worker process does first."""
    begin()
    warnings: list[str] = []
    _workers.append(_Worker(decider, Cache(place, warnings.append), warnings))


def _work(task: Task) -> tuple[list[Result], list[str]]:
    """The results of a task, and what users must be told besides."""
    (worker,) = _workers
    results = worker.decider.decide(task, worker.cache)
    told = list(worker.warnings)
    worker.warnings.clear()
    return results, told
