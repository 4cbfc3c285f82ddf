"""One way to ask: look the answer up, decide, keep it; in this process or by workers."""

from __future__ import annotations

import os
import threading
from collections.abc import Generator, Mapping, Sequence
from contextlib import closing
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, TypeVar

from rspverify import convert
from rspverify.judge.fingerprint import fingerprint_here
from rspverify.judge.question import WORKER_LOST, Question, Reply, Undecided, attempt
from rspverify.limits import LONG
from rspverify.source import digest
from rspverify.verdict import Word

if TYPE_CHECKING:
    from rspverify.judge.cluster import Cluster
    from rspverify.judge.store import Store, Warn
    from rspverify.judge.workers import Pool

A = TypeVar("A")


class Judge:
    """Who is asked all questions, by one process and its workers.

    An answer is kept as soon as it is known: the end of any process, however sudden, loses none
    that was there. folder: of the cache, None for none; each process opens it when it first asks.
    warn: told of what is wrong with it, and of tests that take long. workers: how many processes of
    this machine may work at a time. cluster: whose workers decide instead of them.

    Sent to another machine, it becomes a `RemoteJudge`.
    """

    def __init__(
        self,
        folder: Path | None = None,
        warn: Warn = lambda message: None,
        workers: int = 1,
        cluster: Cluster | None = None,
    ) -> None:
        self._folder = folder
        self.warn = warn
        self._processes = workers
        self._cluster = cluster
        self._process = os.getpid()
        self._store: Store | None = None
        self._warnings: list[str] = []

    @property
    def workers(self) -> int:
        """How many processes may work at a time."""
        return self._processes if self._cluster is None else max(1, self._cluster.workers)

    @property
    def keeps(self) -> bool:
        """Whether answers are kept."""
        return self._folder is not None

    def ask(self, question: Question[A]) -> A:
        """The answer to a question, in this process: as it is known, or by deciding it."""
        known = question.known(self)
        return self.decide(question) if known is None else known

    def run(
        self, questions: Sequence[Question[A]], *, here: bool = False
    ) -> Generator[A, None, None]:
        """The answers, in the order of the questions, by workers. Close it when done.

        here: in this process. Raises LimitReached where a worker ends that must not be lost.
        """
        known = [question.known(self) for question in questions]
        rest = [it for it, found in zip(questions, known, strict=True) if found is None]
        with closing(self._decided(rest, here)) as coming:
            for found in known:
                if found is None and (found := next(coming, None)) is None:
                    raise AssertionError(f"a question of {rest[0].kind} has no answer")
                yield found

    def known(self, question: Question[A]) -> A | None:
        """The answer to a question, if it needs no deciding."""
        return question.known(self)

    def kept(self, question: Question[A]) -> A | None:
        """The answer that is kept under the question itself."""
        key = self._key(question)
        found = self._get(key) if key else None
        if found is None:
            return None
        try:
            answer: A = convert.read(question.answer, found)
        except ValueError:  # It is decided anew.
            return None
        return answer

    def keep(self, question: Question[A], answer: A) -> None:
        """Keep an answer for later runs."""
        if key := self._key(question):
            self._put(key, convert.keep(answer))

    def decide(self, question: Question[A]) -> A:
        """Decide a question, whatever is known of it, and keep the answer.

        Another run would not decide either what this version does not support.
        """
        incident = question.incident
        found = question.decide() if incident is None else attempt(question.decide, incident)
        keep = True
        if isinstance(found, Undecided):
            keep = found.word is Word.UNSUPPORTED
            found = question.lost(found)
        if keep and question.worth_keeping(found):
            self.keep(question, found)
        return found

    def close(self) -> None:
        """Let go of the cache until it is needed again."""
        if self._store is not None:
            if self._store.failed:
                self._folder = None
            self._store.close()
            self._store = None

    def uncached(self) -> Judge:
        """The same, but that nothing is looked up, and nothing kept."""
        return Judge(None, self.warn, self._processes, self._cluster)

    def end(self) -> None:
        """Let go of the cache, and of the cluster if this judge has one."""
        self.close()
        if self._cluster is not None:
            self._cluster.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.end()

    def reply(self, question: Question[A]) -> Reply[A]:
        """The reply of a worker process that was forked."""
        try:
            answer, error = self.decide(question), None
        except Exception as raised:
            answer, error = None, _noted(raised)
        warnings, self._warnings = self._warnings, []
        return Reply(answer, error, warnings)

    def __reduce__(self) -> tuple[Any, tuple[bool]]:
        return remote_judge, (self.keeps,)

    def _decided(self, questions: Sequence[Question[A]], here: bool) -> Generator[A, None, None]:
        """The answers to questions of which none is known."""
        if not questions:  # and then no worker's library is loaded
            return
        questions[0].prepare()
        pool = None if here else self._pool(questions)
        if pool is None:
            for question in questions:
                late = threading.Timer(LONG, self._is_late, [question])
                late.daemon = True
                if question.is_limited:
                    late.start()
                try:
                    answer = self.decide(question)
                finally:
                    late.cancel()
                yield answer
            return
        from rspverify.judge.workers import replies

        with closing(replies(pool, len(questions))) as coming:
            for question, reply in zip(questions, coming, strict=True):
                yield self._taken(question, reply)

    def _pool(self, questions: Sequence[Question[A]]) -> Pool | None:
        """Who decides these questions; None for this process itself."""
        if self._cluster is not None:
            return self._cluster.pool(questions, self)
        from rspverify.judge.workers import Processes, can_fork

        can_be_lost = type(questions[0]).lost is not Question.lost
        if not can_fork() or (self._processes == 1 and not can_be_lost):
            return None
        return Processes(
            self.reply,
            questions,
            self._processes,
            before_fork=self.close,
            late=lambda number: self._is_late(questions[number]),
        )

    def _is_late(self, question: Question[Any]) -> None:
        if question.is_limited:
            self.warn(f"{question.name} takes more than {LONG:g} s (--timeout bounds that)")

    def _taken(self, question: Question[A], reply: Reply[A] | None) -> A:
        """The answer, once what came with it is kept and said. reply: None of a lost worker."""
        from rspverify.judge.workers import replies

        if reply is None and self._cluster is None and (again := self._pool([question])):
            self.warn(f"{question.name}: its worker process ended; it is asked once more")
            (reply,) = replies(again, 1)
        if reply is None:
            return question.lost(WORKER_LOST)
        for key, text in reply.answers.items():
            self._put(key, text)
        for message in reply.warnings:
            self.warn(message)
        if reply.error is not None:
            raise reply.error
        return self.decide(question) if reply.elsewhere else reply.answer  # type: ignore[return-value]

    def given(self, question: Question[Any]) -> dict[str, str]:
        """What is kept of the questions that a question may ask, as texts by key."""
        keys = filter(None, map(self._key, question.parts() if self.keeps else ()))
        return {key: text for key in keys if (text := self._get(key)) is not None}

    def _get(self, key: str) -> str | None:
        store = self._opened()
        return store.get(key) if store else None

    def _put(self, key: str, text: str) -> None:
        if store := self._opened():
            store.put(key, text)

    def _opened(self) -> Store | None:
        if self._store is None and self._folder is not None:
            from rspverify.judge.store import Store

            self._store = Store(self._folder, self._say)
        return self._store

    def _key(self, question: Question[A]) -> str | None:
        content = question.content if self.keeps else None
        if content is None:
            return None
        version = fingerprint_here(question.room)
        return digest(convert.keep((version, question.kind, content)))

    def _say(self, message: str) -> None:
        """Warn; what a worker has to say goes with its next reply."""
        if os.getpid() == self._process:
            self.warn(message)
        else:
            self._warnings.append(message)


class RemoteJudge(Judge):
    """A judge on another machine: it knows the answers that came with a question.

    keeps: whether whoever asks has a cache.
    """

    def __init__(self, keeps: bool) -> None:
        super().__init__(Path() if keeps else None)
        self._given: Mapping[str, str] = {}
        self._found: dict[str, str] = {}

    def _get(self, key: str) -> str | None:
        return self._found.get(key) or self._given.get(key)

    def _put(self, key: str, text: str) -> None:
        self._found[key] = text

    def reply_with(self, question: Question[A], given: Mapping[str, str]) -> Reply[A]:
        """The reply to a question, by the answers that came with it and with those to keep."""
        from rspverify.judge.incident import Unreported, reports_elsewhere

        self._given, self._found = given, {}
        try:
            with reports_elsewhere():
                return Reply(self.decide(question), answers=self._found)
        except Unreported:
            return Reply(answers=self._found, elsewhere=True)
        except Exception as error:
            return Reply(error=_noted(error), answers=self._found)


@cache
def remote_judge(keeps: bool) -> RemoteJudge:
    """The judge of this process, for whoever has a cache or not."""
    return RemoteJudge(keeps)


def cache_folder(wanted: bool, warn: Warn) -> Path | None:
    """The folder of the user's cache; None if it is not wanted or cannot be had."""
    if not wanted:
        return None
    try:
        from rspverify.judge.store import default_folder

        fingerprint_here("judge")
        return default_folder()
    except (OSError, ModuleNotFoundError, RuntimeError) as error:
        warn(f"results are not cached: {error}")
        return None


def _noted(error: Exception) -> Exception:
    """What a worker met, with a note on where."""
    import traceback

    error.add_note(f"in a worker:\n{traceback.format_exc()}")
    return error
