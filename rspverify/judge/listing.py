"""`outcomes` of many tests: one answer for each, in their order, whatever happens to the others."""

from __future__ import annotations

import time
from collections.abc import Generator, Sequence
from dataclasses import dataclass, replace

from rspverify.answers import Internal, OutcomeAnswer
from rspverify.axiomatic import MemoryModel
from rspverify.judge.attempt import Undecided, attempt
from rspverify.judge.incident import Incident
from rspverify.judge.judge import Judge
from rspverify.limits import LOST
from rspverify.litmus import warm_up
from rspverify.scheme import Scheme
from rspverify.soundness.outcomes import outcomes, races
from rspverify.soundness.settings import Settings
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

    def answers(self, files: Sequence[str], judge: Judge) -> Generator[OutcomeAnswer, None, None]:
        """The answer for each test, in this process if there is one worker or one test."""
        workers = min(judge.workers, len(files))
        warm_up()
        lost = None if workers <= 1 else self._lost
        yield from judge.each(self.answer, files, workers=workers, ahead=_AHEAD, lost=lost)

    def answer(self, file: str) -> OutcomeAnswer:
        """The answer for one test. Nothing that is wrong with it is raised."""
        started = time.perf_counter()
        options = ("--races",) if self.races else ()
        incident = Incident("outcomes", (file,), self.scheme_files, self.settings, options)
        try:
            found = attempt(lambda: self._found(file), incident)
        except InputError as error:
            wrong = error.severity is Severity.ERROR
            word = Word.ERROR if wrong else Word.UNSUPPORTED
            reason = "\n".join(str(each) for each in error.problems)
            return self._without(file, word, reason, _since(started))
        if isinstance(found, Undecided):
            seconds, met = _since(started), found.internal
            return self._without(file, Word.UNKNOWN, found.reason, seconds, met)
        return replace(found, seconds=_since(started))

    def _without(
        self, file: str, word: Word, reason: str, seconds: float, met: Internal | None = None
    ) -> OutcomeAnswer:
        """What is said of a test without an answer."""
        model = self.model.name
        return OutcomeAnswer(
            file=file, model=model, word=word, reason=reason, internal=met, seconds=seconds
        )

    def _found(self, file: str) -> OutcomeAnswer:
        program = self.settings.read(read_source(file))
        if self.races:
            return races(program, self.model, file, self.settings)
        return outcomes(program, self.model, self.schemes, file, self.settings)

    def _lost(self, file: str) -> OutcomeAnswer:
        return self._without(file, Word.UNKNOWN, LOST, 0.0)


def exit_code(found: Sequence[OutcomeAnswer]) -> int:
    """70 an internal error, 2 a wrong test, 3 one without an answer, otherwise 0."""
    if any(each.internal for each in found):
        return 70
    words = {each.word for each in found}
    if Word.ERROR in words:
        return 2
    return 3 if words & {Word.UNSUPPORTED, Word.UNKNOWN} else 0


def _since(started: float) -> float:
    return time.perf_counter() - started
