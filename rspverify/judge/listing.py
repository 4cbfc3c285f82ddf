"""`outcomes` of many tests: one answer for each, in their order, whatever happens to the others."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, field, replace

from rspverify.answers import Internal, OutcomeAnswer
from rspverify.axiomatic import MemoryModel
from rspverify.judge.attempt import Undecided, attempt
from rspverify.judge.incident import Incident
from rspverify.judge.judge import Judge
from rspverify.judge.work import Work, stem
from rspverify.limits import LOST
from rspverify.litmus import Program, warm_up
from rspverify.scheme import Scheme
from rspverify.soundness.outcomes import SoFar, outcomes, races
from rspverify.soundness.settings import Settings
from rspverify.source import Given, name_of, read_source
from rspverify.verdict import Word

_AHEAD = 16
"""Tests per worker that wait, or whose answers wait."""


@dataclass(frozen=True)
class Listing:
    """What is asked of each test.

    races: only whether it races. scheme_files: for reports. so_far: what is known of the test that
    this process is at.
    """

    model: MemoryModel
    schemes: tuple[Scheme, ...]
    scheme_files: tuple[str, ...]
    settings: Settings
    races: bool = False
    so_far: SoFar = field(default_factory=SoFar)

    def answers(self, files: Sequence[Given], judge: Judge) -> Generator[OutcomeAnswer, None, None]:
        """The answer for each test, in this process if there is one worker or one test."""
        workers = min(judge.workers, len(files))
        warm_up()
        if workers <= 1:
            yield from map(self.answer, files)
            return
        each = replace(self, so_far=SoFar())  # another process shows nothing
        work = Work("outcomes", each.answer, lambda given: stem(name_of(given)))
        yield from judge.each(work, files, workers=workers, ahead=_AHEAD, lost=self._lost)

    def answer(self, given: Given) -> OutcomeAnswer:
        """The answer for one test. Nothing that is wrong with it is raised."""
        file = name_of(given)
        found, seconds = self.asked(file, lambda: self.settings.read(read_source(given)))
        if not isinstance(found, Undecided):
            self.so_far.end()
            return replace(found, seconds=seconds)
        reason = "\n".join(map(str, found.problems)) or found.reason
        if found.word is Word.UNKNOWN and (known := self.so_far.answer(reason)):
            self.so_far.end()
            return replace(known, internal=found.internal, seconds=seconds)
        return self._without(file, found.word, reason, seconds, found.internal)

    def asked(
        self, file: str, read: Callable[[], Program]
    ) -> tuple[OutcomeAnswer | Undecided, float]:
        """What is said of the program of a test, and how many seconds that took."""
        started = time.perf_counter()
        options = ("--races",) if self.races else ()

        def decide() -> OutcomeAnswer:
            if self.races:
                return races(read(), self.model, file, self.settings)
            return outcomes(read(), self.model, self.schemes, file, self.settings, self.so_far)

        incident = Incident("outcomes", (file,), self.scheme_files, self.settings, options)
        return attempt(decide, incident), time.perf_counter() - started

    def _without(
        self, file: str, word: Word, reason: str, seconds: float, met: Internal | None = None
    ) -> OutcomeAnswer:
        """What is said of a test without an answer."""
        model = self.model.name
        return OutcomeAnswer(
            file=file, model=model, word=word, reason=reason, internal=met, seconds=seconds
        )

    def _lost(self, given: Given) -> OutcomeAnswer:
        return self._without(name_of(given), Word.UNKNOWN, LOST, 0.0)
