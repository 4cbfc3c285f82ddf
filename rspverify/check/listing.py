"""`outcomes` of many tests: one answer for each, in their order, whatever happens to the others."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Generator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from itertools import islice

from rspverify.axiomatic import MemoryModel
from rspverify.check.bundle import Incident, reported
from rspverify.check.outcomes import outcomes, races
from rspverify.check.settings import Settings
from rspverify.check.workers import LOST, begin, end, forked
from rspverify.limits import LimitReached
from rspverify.litmus import warm_up
from rspverify.report import OutcomeAnswer, OutcomeTable, RaceReport
from rspverify.scheme import Scheme
from rspverify.source import InputError, Severity, read_source
from rspverify.verdict import Word

_AHEAD = 16
"""Tests per worker that wait, or whose answers wait."""


@dataclass(frozen=True)
class Listing:
    """What is asked of each test. races: only whether it races. scheme_files: for reports."""

    model: MemoryModel
    schemes: tuple[Scheme, ...]
    scheme_files: tuple[str, ...]
    settings: Settings
    races: bool = False

    def answer(self, file: str) -> OutcomeAnswer:
        """The answer for one test. Nothing that is wrong with it is raised."""
        started = time.perf_counter()
        try:
            found = self._found(file)
        except InputError as error:
            wrong = error.severity is Severity.ERROR
            word = Word.ERROR if wrong else Word.UNSUPPORTED
            reason = "\n".join(str(each) for each in error.problems)
            return OutcomeAnswer(file, None, _since(started), word, reason)
        except LimitReached as limit:
            return OutcomeAnswer(file, None, _since(started), Word.UNKNOWN, str(limit))
        except MemoryError:
            return OutcomeAnswer(file, None, _since(started), Word.UNKNOWN, "out of memory")
        except Exception as error:
            options = ("--races",) if self.races else ()
            incident = Incident("outcomes", (file,), self.scheme_files, self.settings, options)
            met = reported(error, incident)
            return OutcomeAnswer(file, None, _since(started), Word.UNKNOWN, str(met), met)
        return OutcomeAnswer(file, found, _since(started))

    def _found(self, file: str) -> OutcomeTable | RaceReport:
        program = self.settings.read(read_source(file))
        if self.races:
            return races(program, self.model, file, self.settings)
        return outcomes(program, self.model, self.schemes, file, self.settings)


def answers(
    listing: Listing, files: Sequence[str], workers: int
) -> Generator[OutcomeAnswer, None, None]:
    """The answer for each test, in this process if there is one worker or one test."""
    workers = min(workers, len(files))
    warm_up()
    if workers <= 1:
        yield from map(listing.answer, files)
        return
    pool = forked(workers, _start, (listing,))
    rest = iter(files)
    waiting = deque(_asked(pool, it) for it in islice(rest, _AHEAD * workers))
    try:
        while waiting:
            yield _result(*waiting.popleft())
            waiting.extend(_asked(pool, it) for it in islice(rest, 1))
    finally:
        end(pool)


def _asked(pool: ProcessPoolExecutor, file: str) -> tuple[str, Future[OutcomeAnswer] | None]:
    """A test and its answer to come; None if there is no worker any more."""
    try:
        return file, pool.submit(_work, file)
    except BrokenProcessPool:
        return file, None


def _result(file: str, future: Future[OutcomeAnswer] | None) -> OutcomeAnswer:
    try:
        if future is not None:
            return future.result()
    except BrokenProcessPool:
        pass
    return OutcomeAnswer(file, None, 0.0, Word.UNKNOWN, LOST)


def _since(started: float) -> float:
    return time.perf_counter() - started


_listings: list[Listing] = []
"""In a worker process what it is asked of each test; elsewhere empty."""


def _start(listing: Listing) -> None:
    begin()
    _listings.append(listing)


def _work(file: str) -> OutcomeAnswer:
    (listing,) = _listings
    return listing.answer(file)
