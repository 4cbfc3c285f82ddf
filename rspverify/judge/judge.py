"""One way to ask: look the answer up, decide, keep it; in this process or by workers."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import closing
from itertools import chain
from pathlib import Path
from typing import Any, Generic, Protocol, Self, TypeVar

from msgspec import Struct

from rspverify import convert
from rspverify.judge.cache import CachePlace, Question, Warn, digest
from rspverify.judge.carried import Carried, Parcel, Returned
from rspverify.judge.store import Store
from rspverify.judge.work import Done, Spreader, Work, taken, told_outcome

A = TypeVar("A")
T = TypeVar("T")
R = TypeVar("R")


class Answers(Protocol):
    """Where answers are kept, as texts by key. failed: whether it is of no use."""

    failed: bool

    def get(self, key: str) -> str | None: ...
    def put(self, key: str, value: str) -> None: ...
    def report_damage(self) -> None: ...
    def close(self) -> None: ...


class Judge:
    """Who is asked all questions, by one process and its workers.

    An answer is kept as soon as it is known: the end of any process, however sudden, loses none
    that was there. place: of the cache, None for none; each process opens it when it first asks.
    warn: told of what is wrong with it. workers: how many processes of this machine may work at a
    time. spreader: who has work done instead of them.

    Sent to a process that was not forked, it becomes a judge that knows what came with an item, and
    has what it finds taken back.
    """

    def __init__(
        self,
        place: CachePlace | None = None,
        warn: Warn = lambda message: None,
        workers: int = 1,
        spreader: Spreader | None = None,
    ) -> None:
        self._place = place
        self.warn = warn
        self._processes = workers
        self._spreader = spreader
        self._process = os.getpid()
        self._store: Answers | None = None
        self._unsaid: list[str] = []

    @property
    def workers(self) -> int:
        """How many processes may work at a time."""
        return self._processes if self._spreader is None else self._spreader.workers

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
        work: Work[T, R],
        items: Iterable[T],
        *,
        workers: int | None = None,
        ahead: int = 4,
        lost: Callable[[T], R] | None = None,
    ) -> Generator[R, None, None]:
        """What is done with each item, in their order, by workers; work may ask.

        workers: at most so many of them; where that is one, and no item may be lost, this process.
        ahead, lost: as `Spreader.each` says. Close it when done.
        """
        spreader = self._spreader_of(here=workers == 1 and lost is None)
        there: deque[tuple[int, T]] = deque()
        here: dict[int, R] = {}

        def parcels() -> Iterator[Parcel[T]]:
            """The items that are passed on; an item of which all is known is done here."""
            for number, item in enumerate(items):
                questions = () if spreader.shares_cache else tuple(work.asks(item))
                given = self._texts(questions)
                if questions and len(given) == len(questions):
                    here[number] = work.do(item)
                    continue
                there.append((number, item))
                yield Parcel(item, given)

        passed_on: Work[Parcel[T], Returned[R]] = Work(
            work.kind, _Asked(self, work.do), lambda parcel: work.named(parcel.item)
        )
        of_lost = None if lost is None else _OfLost(lost)
        following, sent = 0, parcels()
        with closing(
            spreader.each(passed_on, sent, most=workers, ahead=ahead, lost=of_lost)
        ) as coming:
            for returned in coming:
                number, item = there.popleft()
                for known in range(following, number):
                    yield here.pop(known)
                yield self._taken(returned, work.do, item)
                following = number + 1
        assert next(sent, None) is None and not there, f"an item of {work.kind} has no result"
        for number in sorted(here):
            yield here[number]

    def completed(
        self,
        known: Iterable[Iterable[R | None]],
        work: Work[T, Sequence[R]],
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

    def uncached(self) -> Judge:
        """The same, but that nothing is looked up, and nothing kept."""
        return Judge(None, self.warn, self._processes, self._spreader)

    def end(self) -> None:
        """Let go of the cache, and of the cluster if this judge has one."""
        self.close()
        if self._spreader is not None:
            self._spreader.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.end()

    def answered(self, do: Callable[[T], R], parcel: Parcel[T]) -> Returned[R]:
        """What comes of an item, in this process or one that was forked from it."""
        result = do(parcel.item)
        unsaid, self._unsaid = self._unsaid, []
        return Returned(Done(result), unsaid)

    def __reduce__(self) -> tuple[type[FarJudge], tuple[str | None]]:
        return FarJudge, (None if self._place is None else self._place.version,)

    def _spreader_of(self, *, here: bool) -> Spreader:
        if self._spreader is not None and not here:
            return self._spreader
        from rspverify.judge.workers import Processes

        return Processes(self._processes, self.close)

    def _taken(self, returned: Returned[R], do: Callable[[T], R], item: T) -> R:
        """The result of an item, once what came with it is kept and said."""
        store = self._opened() if returned.answers else None
        if store is not None:
            for key, text in returned.answers.items():
                store.put(key, text)
        for message in returned.unsaid:
            self.warn(message)
        return taken(returned.outcome, item, do)

    def _texts(self, questions: Sequence[Question[Any]]) -> dict[str, str]:
        """The answers that are known, as texts by key."""
        store = self._opened() if questions else None
        if store is None:
            return {}
        keys = map(self._key, questions)
        return {key: text for key in keys if (text := store.get(key)) is not None}

    def _opened(self) -> Answers | None:
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


class FarJudge(Judge):
    """A judge in a process that has no cache: it knows what came with an item.

    version: of the package that asks, None where nothing is kept.
    """

    def __init__(self, version: str | None) -> None:
        super().__init__(None if version is None else CachePlace(Path(), version))
        self._carried = Carried()
        self._store = None if version is None else self._carried

    def answered(self, do: Callable[[T], R], parcel: Parcel[T]) -> Returned[R]:
        """What comes of an item, with the answers that were found on the way."""
        from rspverify.judge.incident import Unreported, reports_elsewhere

        self._carried.begin(parcel.given)
        try:
            with reports_elsewhere():
                return self._carried.returned(told_outcome(do, parcel.item, "a worker"))
        except Unreported:
            return self._carried.returned(None)


class _Asked(Generic[T, R], Struct, frozen=True):
    """Work as it is passed on: with who is asked by it."""

    judge: Judge
    do: Callable[[T], R]

    def __call__(self, parcel: Parcel[T]) -> Returned[R]:
        return self.judge.answered(self.do, parcel)


class _OfLost(Generic[T, R], Struct, frozen=True):
    """The result of an item that was lost, as it would have come back."""

    lost: Callable[[T], R]

    def __call__(self, parcel: Parcel[T]) -> Returned[R]:
        return Returned(Done(self.lost(parcel.item)))
