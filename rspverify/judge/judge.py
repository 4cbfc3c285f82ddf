"""One way to ask: look the answer up, decide, keep it; in this process or by workers."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Iterable
from contextlib import closing
from typing import TypeVar

from rspverify.judge.cache import Cache, CachePlace, Question, Warn

A = TypeVar("A")
T = TypeVar("T")
R = TypeVar("R")


def _always(answer: object) -> bool:
    return True


class Judge:
    """Who is asked all questions, by one process and its workers.

    An answer is kept as soon as it is known: the end of any process, however sudden, loses none
    that was there. place: of the cache, None for none; each process opens it when it first asks.
    warn: told of what is wrong with it. workers: how many processes may work at a time.
    """

    def __init__(
        self, place: CachePlace | None = None, warn: Warn = lambda message: None, workers: int = 1
    ) -> None:
        self.workers = workers
        self._place = place
        self._warn = warn
        self._process = os.getpid()
        self._cache: Cache | None = None
        self._unsaid: list[str] = []

    def known(self, question: Question[A]) -> A | None:
        """The answer to a question, if an earlier run kept it."""
        return self._opened().answer(question)

    def keep(self, question: Question[A], answer: A) -> None:
        """Keep an answer for later runs."""
        self._opened().keep(question, answer)

    def ask(
        self,
        question: Question[A],
        decide: Callable[[], A],
        worth_keeping: Callable[[A], bool] = _always,
    ) -> A:
        """The answer to a question: as it is known, or by deciding it."""
        known = self.known(question)
        if known is not None:
            return known
        answer = decide()
        if worth_keeping(answer):
            self.keep(question, answer)
        return answer

    def each(
        self,
        work: Callable[[T], R],
        items: Iterable[T],
        *,
        workers: int | None = None,
        ahead: int = 4,
        lost: Callable[[T], R] | None = None,
    ) -> Generator[R, None, None]:
        """work(item) for each item, in their order, by workers, as `spread` says; work may ask.

        workers: at most so many of them. Close it when done.
        """

        from rspverify.judge.workers import spread

        def told(item: T) -> tuple[R, tuple[str, ...]]:
            result = work(item)
            unsaid, self._unsaid = tuple(self._unsaid), []
            return result, unsaid

        def of_lost(item: T) -> tuple[R, tuple[str, ...]]:
            assert lost is not None
            return lost(item), ()

        count = self.workers if workers is None else min(workers, self.workers)
        with closing(
            spread(
                told,
                items,
                count,
                ahead=ahead,
                lost=of_lost if lost else None,
                before_fork=self.close,
            )
        ) as coming:
            for result, unsaid in coming:
                for message in unsaid:
                    self._warn(message)
                yield result

    def close(self) -> None:
        """Let go of the cache until it is needed again."""
        if self._cache is not None:
            if self._cache.failed:
                self._place = None
            self._cache.close()
            self._cache = None

    def _opened(self) -> Cache:
        if self._cache is None:
            self._cache = Cache(self._place, self._say)
        return self._cache

    def _say(self, message: str) -> None:
        """Warn; what a worker has to say goes with its next result."""
        if os.getpid() == self._process:
            self._warn(message)
        else:
            self._unsaid.append(message)
