"""`progress` of many tests: an answer for each under each scheduler, kept from run to run."""

from __future__ import annotations

import time
from collections.abc import Generator, Iterator, Sequence
from functools import partial

from msgspec import Struct

from rspverify.answers import ModelAnswer
from rspverify.axiomatic import MemoryModel
from rspverify.judge.attempt import Undecided, attempt
from rspverify.judge.cache import Question, digest
from rspverify.judge.facts import ModelFacts, facts_of_model
from rspverify.judge.incident import Incident
from rspverify.judge.judge import Judge
from rspverify.judge.work import Work, stem
from rspverify.limits import LOST
from rspverify.litmus import warm_up
from rspverify.records import replace
from rspverify.soundness.hang import ScheduledAnswer
from rspverify.soundness.scheduled import SourceProgress
from rspverify.soundness.schedulers import Scheduler
from rspverify.soundness.settings import OF_A_TEST, Settings
from rspverify.source import Given, InputError, Source, name_of, read_source
from rspverify.verdict import ProgressWord, Word

_CLOSE = 0.9
"""An answer that took more of its time limit than this may have been cut short by it."""


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

    def answers(self, files: Sequence[Given]) -> Generator[ScheduledAnswer, None, None]:
        """Each test under each scheduler, test by test. Close it when done."""
        facts = facts_of_model(self.model)
        known = [self._known(given, facts) for given in files]
        tasks = [source for source, row in known if None in row]
        if tasks:
            warm_up()

        def lost(source: Source) -> list[ScheduledAnswer]:
            return [self._without(source.name, it, Word.UNKNOWN, LOST) for it in self.schedulers]

        work = Work("progress", self.decided, lambda source: stem(source.name))
        yield from self.judge.completed((row for _, row in known), work, tasks, lost)

    def _known(
        self, given: Given, facts: ModelFacts
    ) -> tuple[Source, Sequence[ScheduledAnswer | None]]:
        """A test, and what is said of it; all of it is asked again where something is not known."""
        file = name_of(given)
        try:
            source = read_source(given)
        except InputError as error:
            wrong = [self._without(file, it, Word.ERROR, str(error)) for it in self.schedulers]
            return Source(file, ""), wrong
        found = [self.judge.known(self._question(source, it, facts)) for it in self.schedulers]
        if None in found:
            return source, [None] * len(found)
        return source, [it and replace(it, file=file, cached=True) for it in found]

    def decided(self, source: Source) -> Sequence[ScheduledAnswer]:
        """A test under every scheduler. Nothing that is wrong with it is raised."""
        facts, found = facts_of_model(self.model), list(self._decided(source))
        limit = self.settings.seconds
        for scheduler, each in zip(self.schedulers, found, strict=True):
            in_time = limit is None or each.seconds < _CLOSE * limit
            if in_time and each.word not in (Word.ERROR, Word.UNKNOWN):
                self.judge.keep(self._question(source, scheduler, facts), each)
        return found

    def _decided(self, source: Source) -> Iterator[ScheduledAnswer]:
        incident = Incident(
            "progress", (source.name,), (), self.settings, self._options(), OF_A_TEST
        )
        started = time.perf_counter()
        limits = self.settings.limits()
        progress = attempt(
            lambda: SourceProgress(self.settings.read(source), self.model, limits), incident
        )
        for scheduler in self.schedulers:
            found: ScheduledAnswer | Undecided
            if isinstance(progress, Undecided):
                found = progress
            else:
                found = attempt(partial(progress.under, scheduler, source.name), incident)
            seconds, started = time.perf_counter() - started, time.perf_counter()
            if isinstance(found, Undecided):
                found = self._refused(source, scheduler, found)
            yield replace(found, seconds=seconds)

    def _options(self) -> list[str]:
        return [word for it in self.schedulers for word in ("--scheduler", str(it))]

    def _refused(self, source: Source, scheduler: Scheduler, found: Undecided) -> ScheduledAnswer:
        from rspverify.litmus import title_of

        answer = self._without(source.name, scheduler, found.word, found.reason)
        title = title_of(source) or source.name
        return replace(answer, test=title, internal=found.internal)

    def _without(self, file: str, scheduler: Scheduler, word: Word, reason: str) -> ScheduledAnswer:
        """What is said where there is no answer."""
        return ScheduledAnswer(
            test=file,
            file=file,
            model=self.model.name,
            scheduler=str(scheduler),
            progress=ProgressWord.UNKNOWN,
            word=word,
            reason=reason if word is Word.ERROR else f"{word}: {reason}",
        )

    def _question(
        self, source: Source, scheduler: Scheduler, facts: ModelFacts
    ) -> Question[ScheduledAnswer]:
        settings = replace(self.settings, model=facts.name, seconds=None)
        content = (digest(source.text), facts.digest, str(scheduler), settings)
        return Question("hangs", content, ScheduledAnswer)
