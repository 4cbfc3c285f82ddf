"""Verdicts on tests under schemes, and progress: what is asked of the judge most."""

from __future__ import annotations

import time
from weakref import WeakKeyDictionary

from msgspec import Struct

from rspverify.answers import Internal
from rspverify.axiomatic import MemoryModel
from rspverify.judge.answers import (
    Answer,
    ProgressAnswer,
    excused_question,
    progress_question,
    soundness_question,
    worth_keeping,
)
from rspverify.judge.attempt import Undecided, attempt
from rspverify.judge.cache import Question
from rspverify.judge.facts import CompilerFacts, SchemeFacts, facts_of_model, facts_of_scheme
from rspverify.judge.incident import Incident
from rspverify.judge.judge import Judge
from rspverify.judge.loaded_test import LoadedTest
from rspverify.records import replace
from rspverify.scheme import Scheme
from rspverify.soundness.case import Case, Translator
from rspverify.soundness.check import check, excusing, with_switches
from rspverify.soundness.settings import Settings
from rspverify.soundness.source import SourceExecutions
from rspverify.soundness.wording import observed
from rspverify.source import InputError, Source
from rspverify.verdict import WITHOUT_PROGRESS, Progress, ProgressWord, Verdict, Word


class Named(Struct, frozen=True, eq=False):
    """What compiles tests, what it is called on command lines, and its facts."""

    file: str
    scheme: Translator
    facts: SchemeFacts

    @staticmethod
    def by(scheme: Translator, file: str, settings: Settings) -> Named:
        """A scheme or a compiler. settings: how tests are read."""
        if isinstance(scheme, Scheme):
            return NamedScheme.of(scheme, file)
        return Named(file, scheme, CompilerFacts.of(scheme, settings))

    @property
    def table(self) -> Scheme:
        """The scheme, of what is one: a compiler has no table."""
        assert isinstance(self.scheme, Scheme)
        return self.scheme

    def code_of(self, test: Source, settings: Settings) -> Source:
        """The text that says what code a test becomes: the scheme's, or what is emitted for it."""
        if isinstance(self.scheme, Scheme):
            return self.scheme.source
        try:
            return self.scheme.emitted(settings.read(test))
        except InputError:
            return Source(self.file, "")


class NamedScheme(Named, frozen=True, eq=False):
    """A scheme, the name of its file, and its facts."""

    scheme: Scheme

    @staticmethod
    def of(scheme: Scheme, file: str = "") -> NamedScheme:
        """A scheme, and the file that reports of internal errors are to name."""
        return NamedScheme(file, scheme, facts_of_scheme(scheme))


class Verdicts:
    """The judge, asked about tests under schemes and one model.

    What is asked of a test alone (does it race, what is allowed) is asked once for all schemes.
    """

    def __init__(self, judge: Judge, model: MemoryModel, settings: Settings) -> None:
        self.judge = judge
        self.model = model
        self.model_facts = facts_of_model(model)
        self.settings = settings
        self._sources: WeakKeyDictionary[LoadedTest, SourceExecutions] = WeakKeyDictionary()
        self.internal: list[Internal] = []
        """Internal errors that came instead of verdicts, in this process."""

    def __reduce__(self) -> tuple[type[Verdicts], tuple[Judge, MemoryModel, Settings]]:
        return Verdicts, (self.judge, self.model, self.settings)

    def by(self, settings: Settings) -> Verdicts:
        """The same judge and model, with other settings."""
        return Verdicts(self.judge, self.model, settings)

    def answer(self, test: LoadedTest, scheme: Named) -> Answer:
        """The verdict with what it took."""
        return self.judge.ask(
            self.question(test, scheme), lambda: self._decided(test, scheme), self._worth_keeping
        )

    def excused(self, test: LoadedTest, scheme: Named) -> Answer:
        """The verdict; where it is UNSOUND, with the switches that excuse it, whatever the settings
        say of counterexamples."""
        found = self.answer(test, scheme)
        if found.verdict.word is not Word.UNSOUND or found.verdict.sound_if:
            return found
        return self.judge.ask(
            excused_question(self.question(test, scheme)),
            lambda: self._excused(found, test, scheme),
            lambda _: self.settings.seconds is None,
        )

    def word(self, test: LoadedTest, scheme: Named) -> Word:
        """The word of the verdict alone. Unless it is SOUND nothing else is kept of the verdict, so
        that a search that makes thousands of them leaves room for others."""
        asked = self.question(test, scheme)
        question = Question("word", asked.content, Word)
        known = self.judge.known(asked)
        word = known.verdict.word if known else self.judge.known(question)
        if word is not None:
            return word
        found = self._decided(test, scheme)
        word = found.verdict.word
        if self._worth_keeping(found):
            if word is Word.SOUND:
                self.judge.keep(asked, found)
            else:
                self.judge.keep(question, word)
        return word

    def progress(self, test: LoadedTest, scheme: Named, word: Word) -> ProgressAnswer | None:
        """Whether the compiled test can always go on; None where that has no meaning.

        word: that of the verdict on the test under the scheme.
        """
        if word in WITHOUT_PROGRESS:
            return None
        return self.judge.ask(
            progress_question(self.question(test, scheme), self.settings),
            lambda: self._progress(test, scheme),
            self._worth_keeping,
        )

    def question(self, test: LoadedTest, scheme: Named) -> Question[Answer]:
        """Is the test compiled soundly?"""
        return soundness_question(
            test.source, test.facts, scheme.facts, self.model_facts, self.settings
        )

    def _worth_keeping(self, answer: Answer | ProgressAnswer) -> bool:
        return worth_keeping(answer, self.settings)

    def source(self, test: LoadedTest) -> SourceExecutions:
        """What is asked of a test alone."""
        if test not in self._sources:
            self._sources[test] = SourceExecutions(test.program, self.model)
        return self._sources[test]

    def _decided(self, test: LoadedTest, scheme: Named) -> Answer:
        incident = incident_of(test.file, scheme.file, self.settings)
        found = decided(self.source(test), scheme.scheme, self.settings, incident)
        if found.internal is not None:
            self.internal.append(found.internal)
        return found

    def _excused(self, answer: Answer, test: LoadedTest, scheme: Named) -> Answer:
        case = Case(test.program, scheme.scheme, self.model, self.settings)
        incident = incident_of(test.file, scheme.file, self.settings)
        found = attempt(lambda: excusing(case, self.source(test)), incident)
        if isinstance(found, Undecided):
            return replace(answer, internal=found.internal)
        return replace(answer, verdict=with_switches(answer.verdict, found))

    def _progress(self, test: LoadedTest, scheme: Named) -> ProgressAnswer:
        from rspverify.soundness.progress import progress

        started = time.perf_counter()
        found = attempt(
            lambda: progress(test.program, scheme.scheme, self.settings),
            incident_of(test.file, scheme.file, self.settings),
        )
        seconds = time.perf_counter() - started
        if isinstance(found, Undecided):
            unknown = Progress(ProgressWord.UNKNOWN, found.reason)
            return ProgressAnswer(unknown, seconds, found.internal)
        return ProgressAnswer(found, seconds)


def decided(
    source: SourceExecutions, scheme: Translator, settings: Settings, incident: Incident
) -> Answer:
    """The verdict on a program under a scheme, whatever goes wrong while it is decided."""
    started = time.perf_counter()

    def decide() -> Answer:
        case = Case(source.program, scheme, source.model, settings)
        verdict = check(case, source)
        shown = observed(case.program, verdict.outcome) if verdict.outcome else None
        return Answer(verdict, shown, 0.0)

    found = attempt(decide, incident)
    seconds = time.perf_counter() - started
    if isinstance(found, Undecided):
        return Answer(Verdict(Word.UNKNOWN, found.reason), None, seconds, found.internal)
    return replace(found, seconds=seconds)


def incident_of(test: str, scheme: str, settings: Settings) -> Incident:
    """What a report of an internal error says was asked."""
    return Incident("explain", (test,), (scheme,), settings)
