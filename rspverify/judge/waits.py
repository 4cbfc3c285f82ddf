"""`progress` of many tests: an answer for each under each scheduler, kept from run to run."""

from __future__ import annotations

import time
from collections.abc import Generator, Sequence
from contextlib import closing
from functools import cached_property
from typing import Any

from msgspec import Struct

from rspverify.answers import ModelAnswer
from rspverify.axiomatic.model import MemoryModel
from rspverify.judge.inputs import LoadedTest
from rspverify.judge.judge import Judge
from rspverify.judge.question import Incident, Question, Undecided, stem
from rspverify.judge.verdicts import in_time
from rspverify.litmus.reader import read_steps
from rspverify.litmus.syntax import warm_up
from rspverify.records import replace
from rspverify.schedulers import Scheduler, Unit
from rspverify.soundness.hang import ScheduledAnswer
from rspverify.soundness.rounds import Rounds
from rspverify.soundness.scheduled import SourceProgress
from rspverify.soundness.settings import OF_A_TEST, Settings
from rspverify.source import Given
from rspverify.verdict import ProgressWord, Word


def model_answer(it: ScheduledAnswer) -> ModelAnswer:
    """What is said of a test of a suite of schedulers."""
    word = it.word or ("UNDEFINED" if it.undefined else it.progress)
    open_ = it.progress is ProgressWord.UNKNOWN and not it.undefined
    return ModelAnswer(
        test=it.test,
        file=it.file,
        model=it.scheduler,
        answer=word,
        reason=it.reason if open_ else "",
        within=it.within,
        seconds=it.seconds,
        internal=it.internal,
        cached=it.cached,
    )


class Waits(Struct, frozen=True):
    """The judge, asked whether tests hang under schedulers by a model."""

    judge: Judge
    model: MemoryModel
    schedulers: tuple[Scheduler, ...]
    settings: Settings
    unit: Unit = Unit.GROUP

    def answers(self, files: Sequence[Given]) -> Generator[ScheduledAnswer, None, None]:
        """Each test under each scheduler, test by test. Close it when done."""
        questions = [_Hangs(self, LoadedTest(it, self.settings)) for it in files]
        with closing(self.judge.run(questions)) as coming:
            for answers in coming:
                yield from answers


class _Hangs(Question[Sequence[ScheduledAnswer]], frozen=True, dict=True):
    """Does a test hang under each scheduler?"""

    kind = "progress of sources"
    is_limited = True

    waits: Waits
    test: LoadedTest

    @property
    def name(self) -> str:
        return stem(self.test.file)

    @cached_property
    def source(self) -> SourceProgress | Rounds:
        """What is asked of the test, with one time limit for all schedulers."""
        waits, steps = self.waits, read_steps(self.test.source)
        limits = waits.settings.limits()
        if steps is not None:
            return Rounds(steps, waits.model, limits, waits.unit)
        return SourceProgress(self.test.program, waits.model, limits, waits.unit)

    def parts(self) -> list[_HangQuestion]:
        return [_HangQuestion(self, it) for it in self.waits.schedulers]

    def prepare(self) -> None:
        warm_up()

    def known(self, judge: Judge) -> Sequence[ScheduledAnswer] | None:
        if self.test.unreadable is not None:
            return self.lost(self.test.unreadable)
        answers = [it for it in map(judge.known, self.parts()) if it is not None]
        return answers if len(answers) == len(self.waits.schedulers) else None

    def decide(self) -> Sequence[ScheduledAnswer]:
        return [self.waits.judge.ask(each) for each in self.parts()]

    def lost(self, why: Undecided) -> Sequence[ScheduledAnswer]:
        return [each.lost(why) for each in self.parts()]


class _HangQuestion(Question[ScheduledAnswer], frozen=True):
    """Does a test hang under a scheduler?"""

    kind = "hangs"
    answer = ScheduledAnswer

    of: _Hangs
    scheduler: Scheduler

    @property
    def content(self) -> tuple[Any, ...]:
        waits = self.of.waits
        settings = replace(waits.settings, model=waits.model.name, seconds=None)
        digests = self.of.test.source.digest, waits.model.text_digest
        return *digests, str(self.scheduler), waits.unit, settings

    @property
    def incident(self) -> Incident:
        waits = self.of.waits
        options = [word for it in waits.schedulers for word in ("--scheduler", str(it))]
        if waits.unit is not Unit.GROUP:
            options += ["--unit", waits.unit]
        return Incident("progress", (self.of.test.file,), (), waits.settings, options, OF_A_TEST)

    def known(self, judge: Judge) -> ScheduledAnswer | None:
        found = judge.kept(self)
        return found and replace(found, file=self.of.test.file, cached=True)

    def decide(self) -> ScheduledAnswer:
        started = time.perf_counter()
        source = self.of.source
        with source.limits.enforced():
            found = source.under(self.scheduler, self.of.test.file)
        return replace(found, seconds=time.perf_counter() - started)

    def lost(self, why: Undecided) -> ScheduledAnswer:
        file, word = self.of.test.file, why.word
        return ScheduledAnswer(
            test=self.of.test.title,
            file=file,
            model=self.of.waits.model.name,
            scheduler=str(self.scheduler),
            unit=self.of.waits.unit,
            progress=ProgressWord.UNKNOWN,
            word=word,
            reason=why.reason if word is Word.ERROR else f"{word}: {why.reason}",
            seconds=why.seconds,
            internal=why.internal,
        )

    def worth_keeping(self, answer: ScheduledAnswer) -> bool:
        known = answer.word not in (Word.ERROR, Word.UNKNOWN)
        return known and in_time(answer.seconds, self.of.waits.settings)
