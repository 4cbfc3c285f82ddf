"""Decides tests under one scheme after another, and remembers all that the schemes share."""

from __future__ import annotations

import time
from dataclasses import replace

from rspverify.answers import Internal
from rspverify.axiomatic import MemoryModel
from rspverify.check.answers import Answer, soundness_question, worth_keeping
from rspverify.check.cache import Cache, CachePlace, Question, Warn
from rspverify.check.decide import answer_to, incident
from rspverify.check.facts import ModelFacts, SchemeFacts, facts_of_scheme
from rspverify.check.progress import WITHOUT_PROGRESS, progress
from rspverify.check.settings import Settings
from rspverify.check.soundness import SourceSide
from rspverify.engineering.cases import Case
from rspverify.scheme import Scheme
from rspverify.verdict import Progress, ProgressWord, Verdict, Word


class Judge:
    """What a process knows of tests and schemes. Make it before workers are forked.

    What is asked of a test alone (does it race, what is allowed) is asked once for all schemes.
    Answers are looked up in the cache and put there as soon as they are known, by the same
    questions as those of `check`, so that an interrupted search goes on where it was.
    """

    def __init__(
        self,
        model: MemoryModel,
        model_facts: ModelFacts,
        settings: Settings,
        place: CachePlace | None,
        warn: Warn,
    ) -> None:
        self.model = model
        self.settings = replace(settings, progress=False)
        self._model_facts = model_facts
        self.place = place
        self.warn = warn
        self._cache: Cache | None = None
        self._sides: dict[str, SourceSide] = {}
        self._last: tuple[Scheme, SchemeFacts] | None = None
        self.met: list[Internal] = []
        """Internal errors that came instead of verdicts, in this process."""

    def verdict(self, case: Case, scheme: Scheme, file: str = "") -> Verdict:
        """The verdict on a test under a scheme; `file`: for the report of an internal error."""
        return self.answer(case, scheme, file).verdict

    def answer(self, case: Case, scheme: Scheme, file: str = "") -> Answer:
        """The verdict with what it took, as `check` has it without --progress."""
        question = self._question(case, scheme)
        known = self._opened().answer(question, Answer)
        if known is not None:
            return known
        found = self._decided(case, scheme, file)
        if worth_keeping(found, self.settings):
            self._opened().keep(question, found)
        return found

    def word(self, case: Case, scheme: Scheme, file: str = "") -> Word:
        """The word of the verdict alone. Unless it is SOUND nothing else is kept of the verdict, so
        that a search that makes thousands of them leaves room for others.
        """
        asked = self._question(case, scheme)
        question = Question("word", asked.content)
        known = self._opened().answer(asked, Answer)
        word = known.verdict.word if known else self._opened().answer(question, Word)
        if word is not None:
            return word
        found = self._decided(case, scheme, file)
        word = found.verdict.word
        if worth_keeping(found, self.settings):
            if word is Word.SOUND:
                self._opened().keep(asked, found)
            else:
                self._opened().keep(question, word)
        return word

    def progress(
        self, case: Case, scheme: Scheme, verdict: Verdict | None = None
    ) -> Progress | None:
        """Whether the compiled test can always go on; None where that has no meaning.

        verdict: that of the test under the scheme, where it is known.
        """
        if (verdict or self.verdict(case, scheme)).word in WITHOUT_PROGRESS:
            return None
        content = self._question(case, scheme).content
        question = Question("progress", content)
        known = self._opened().answer(question, Progress)
        if known is not None:
            return known
        started = time.perf_counter()
        found = progress(case.program, scheme, self.settings)
        limit = self.settings.seconds
        in_time = limit is None or time.perf_counter() - started < limit / 2
        if found.word is not ProgressWord.UNKNOWN and in_time:
            self._opened().keep(question, found)
        return found

    def close(self) -> None:
        """Let go of the cache until it is needed again. Do it before a fork."""
        if self._cache is not None:
            self._cache.close()
            self._cache = None

    def _decided(self, case: Case, scheme: Scheme, file: str) -> Answer:
        found = answer_to(
            self._side(case), scheme, self.settings, incident(case.file, file, self.settings)
        )
        if found.internal is not None:
            self.met.append(found.internal)
        return found

    def _question(self, case: Case, scheme: Scheme) -> Question:
        if self._last is None or self._last[0] is not scheme:
            self._last = scheme, facts_of_scheme(scheme)
        facts = self._last[1]
        return soundness_question(case.source, case.facts, facts, self._model_facts, self.settings)

    def _side(self, case: Case) -> SourceSide:
        if case.source.text not in self._sides:
            self._sides[case.source.text] = SourceSide(case.program, self.model)
        return self._sides[case.source.text]

    def _opened(self) -> Cache:
        """The cache, opened by each process for itself when it first asks."""
        if self._cache is None:
            self._cache = Cache(self.place, self.warn)
        return self._cache
