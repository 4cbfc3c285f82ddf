"""One way to ask: look the answer up, decide, keep it; in this process or by workers."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import closing
from itertools import chain
from typing import TypeVar

from rspverify import convert
from rspverify.judge.cache import CachePlace, Question, Warn, digest
from rspverify.judge.store import Store

A = TypeVar("A")
T = TypeVar("T")
R = TypeVar("R")


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
        self.warn = warn
        self._process = os.getpid()
        self._store: Store | None = None
        self._unsaid: list[str] = []

    def known(self, question: Question[A]) -> A | None:
        """The answer to a question, if an earlier run kept it."""
        store = self._opened()
        found = store.get(self._key(question)) if store else None
        if store is None or found is None:
            return None
        try:
            return convert.read(question.answer, found)
        except ValueError:
            store.report_damage()
            return None

    def keep(self, question: Question[A], answer: A) -> None:
        """Keep an answer for later runs."""
        if (store := self._opened()) is not None:
            store.put(self._key(question), convert.keep(answer))

    def ask(
        self,
        question: Question[A],
        decide: Callable[[], A],
        worth_keeping: Callable[[A], bool] = lambda answer: True,
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

        def told(item: T) -> tuple[R, Sequence[str]]:
            result = work(item)
            unsaid, self._unsaid = self._unsaid, []
            return result, unsaid

        of_lost = None if lost is None else lambda item: (lost(item), ())
        count = self.workers if workers is None else min(workers, self.workers)
        with closing(
            spread(told, items, count, ahead=ahead, lost=of_lost, before_fork=self.close)
        ) as coming:
            for result, unsaid in coming:
                for message in unsaid:
                    self.warn(message)
                yield result

    def completed(
        self,
        known: Iterable[Iterable[R | None]],
        work: Callable[[T], Sequence[R]],
        tasks: Sequence[T],
        lost: Callable[[T], Sequence[R]],
    ) -> Generator[R, None, None]:
        """Results that are known, test by test, and for each None the next that tasks give.

        Each as soon as those before it are there. Close it when done.
        """
        if not tasks:  # and then no worker's library is loaded
            yield from filter(None, chain.from_iterable(known))
            return
        count = len(tasks)
        with closing(self.each(work, tasks, workers=count, ahead=count, lost=lost)) as coming:
            decided = chain.from_iterable(coming)
            for result in chain.from_iterable(known):
                yield result if result is not None else next(decided)

    def close(self) -> None:
        """Let go of the cache until it is needed again."""
        if self._store is not None:
            if self._store.failed:
                self._place = None
            self._store.close()
            self._store = None

    def _opened(self) -> Store | None:
        if self._store is None and self._place is not None:
            self._store = Store(self._place.folder, self._say)
        return self._store

    def _key(self, question: Question[A]) -> str:
        assert self._place is not None
        return digest(convert.keep((self._place.version, question.kind, question.content)))

    def _say(self, message: str) -> None:
        """Warn; what a worker has to say goes with its next result."""
        if os.getpid() == self._process:
            self.warn(message)
        else:
            self._unsaid.append(message)
