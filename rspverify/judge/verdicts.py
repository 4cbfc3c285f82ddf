"""Verdicts on tests under schemes, and progress: what is asked of the judge most."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from rspverify.answers import Internal
from rspverify.judge.answers import Answer, ProgressAnswer, worth_keeping
from rspverify.judge.inputs import LoadedModel, LoadedTest, NamedScheme
from rspverify.judge.judge import Judge
from rspverify.judge.question import Incident, Question, Undecided, attempt, digest
from rspverify.records import replace
from rspverify.soundness.settings import FAIR, Settings
from rspverify.verdict import WITHOUT_PROGRESS, Progress, ProgressWord, Verdict, Word

if TYPE_CHECKING:
    from rspverify.axiomatic.model import MemoryModel
    from rspverify.judge.facts import ModelFacts
    from rspverify.soundness.sides import ModelSide
    from rspverify.translators import Translator


class VerdictQuestion(Question[Answer], frozen=True):
    """Is a test compiled soundly by a scheme?"""

    kind = "soundness"
    answer = Answer

    verdicts: Verdicts
    test: LoadedTest
    scheme: NamedScheme

    @property
    def content(self) -> tuple[Any, ...]:
        """Of the scheme only the rows that the program uses count. All settings do, but those that
        are here by content, and the time limit, which `worth_keeping` sees to. Messages name the
        model.
        """
        model, facts = self.verdicts.model_facts, self.scheme.facts
        settings = replace(
            self.verdicts.settings,
            model=model.name,
            machine=facts.machine,
            seconds=None,
            progress=False,
            scheduler=FAIR,
        )
        made = facts.made_of(self.test.source, self.test.facts)
        return digest(self.test.source.text), made, model.digest, settings

    @property
    def incident(self) -> Incident:
        return incident_of(self.test.file, self.scheme.file, self.verdicts.settings)

    def decide(self) -> Answer:
        source, settings = self.verdicts.source(self.test), self.verdicts.settings
        return _decided(source, self.scheme.translator, settings)

    def lost(self, why: Undecided) -> Answer:
        return _lost(why)

    def worth_keeping(self, answer: Answer) -> bool:
        return worth_keeping(answer, self.verdicts.settings)


class WordQuestion(Question[Word], frozen=True):
    """Which word has the verdict? Where the verdict is kept, so is its word."""

    kind = "word"
    answer = Word

    verdict: VerdictQuestion

    @property
    def content(self) -> tuple[Any, ...]:
        return self.verdict.content

    def known(self, judge: Judge) -> Word | None:
        verdict = judge.kept(self.verdict)
        return verdict.verdict.word if verdict else judge.kept(self)


class ProgressQuestion(Question[ProgressAnswer], frozen=True):
    """Does the compiled test of a verdict always come to its end?"""

    kind = "progress"
    answer = ProgressAnswer

    verdict: VerdictQuestion

    @property
    def content(self) -> tuple[Any, ...]:
        return *self.verdict.content, self.verdict.verdicts.settings.scheduler

    @property
    def incident(self) -> Incident:
        return self.verdict.incident

    def decide(self) -> ProgressAnswer:
        from rspverify.soundness.progress import progress

        started, asked = time.perf_counter(), self.verdict
        found = progress(asked.test.program, asked.scheme.translator, asked.verdicts.settings)
        return ProgressAnswer(found, time.perf_counter() - started)

    def lost(self, why: Undecided) -> ProgressAnswer:
        unknown = Progress(ProgressWord.UNKNOWN, why.reason)
        return ProgressAnswer(unknown, why.seconds, why.internal)

    def worth_keeping(self, answer: ProgressAnswer) -> bool:
        return worth_keeping(answer, self.verdict.verdicts.settings)


class ExcusedQuestion(Question[Answer], frozen=True):
    """Which switches excuse a test that is UNSOUND? found: the verdict without them."""

    kind = "excused"
    answer = Answer

    verdict: VerdictQuestion
    found: Answer | None = None

    @property
    def content(self) -> tuple[Any, ...]:
        return self.verdict.content

    @property
    def incident(self) -> Incident:
        return self.verdict.incident

    def decide(self) -> Answer:
        from rspverify.soundness.case import Case
        from rspverify.soundness.check import excusing, with_switches

        assert self.found is not None
        test, verdicts = self.verdict.test, self.verdict.verdicts
        translator = self.verdict.scheme.translator
        case = Case(test.program, translator, verdicts.model, verdicts.settings)
        switches = excusing(case, verdicts.source(test))
        return replace(self.found, verdict=with_switches(self.found.verdict, switches))

    def lost(self, why: Undecided) -> Answer:
        assert self.found is not None
        return replace(self.found, internal=why.internal)

    def worth_keeping(self, answer: Answer) -> bool:
        return self.verdict.verdicts.settings.seconds is None


class Verdicts:
    """The judge, asked about tests under schemes and one model.

    What is asked of a test alone (does it race, what is allowed) is asked once for all schemes.
    internal: internal errors that came instead of verdicts, in this process.
    """

    def __init__(self, judge: Judge, model: MemoryModel | LoadedModel, settings: Settings) -> None:
        self.judge = judge
        self.settings = settings
        self.internal: list[Internal] = []
        self._model = model if isinstance(model, LoadedModel) else LoadedModel.of(model)
        self._sources: WeakKeyDictionary[LoadedTest, ModelSide] = WeakKeyDictionary()

    def __reduce__(self) -> tuple[type[Verdicts], tuple[Judge, LoadedModel, Settings]]:
        return Verdicts, (self.judge, self._model, self.settings)

    @property
    def model(self) -> MemoryModel:
        """The model, parsed when it is first asked for."""
        return self._model.model

    @property
    def model_facts(self) -> ModelFacts:
        """What answers depend on of the model."""
        return self._model.facts

    def by(self, settings: Settings) -> Verdicts:
        """The same judge and model, with other settings."""
        return Verdicts(self.judge, self._model, settings)

    def question(self, test: LoadedTest, scheme: NamedScheme) -> VerdictQuestion:
        """Is the test compiled soundly?"""
        return VerdictQuestion(self, test, scheme)

    def answer(self, test: LoadedTest, scheme: NamedScheme) -> Answer:
        """The verdict with what it took."""
        return self._told(self.judge.ask(self.question(test, scheme)))

    def excused(self, test: LoadedTest, scheme: NamedScheme) -> Answer:
        """The verdict; where it is UNSOUND, with the switches that excuse it, whatever the settings
        say of counterexamples."""
        found = self.answer(test, scheme)
        if found.verdict.word is not Word.UNSOUND or found.verdict.sound_if:
            return found
        return self.judge.ask(ExcusedQuestion(self.question(test, scheme), found))

    def word(self, test: LoadedTest, scheme: NamedScheme) -> Word:
        """The word of the verdict alone. Unless it is SOUND nothing else is kept of the verdict, so
        that a search that makes thousands of them leaves room for others."""
        asked = self.question(test, scheme)
        known = self.judge.known(WordQuestion(asked))
        if known is not None:
            return known
        found = self._told(self.judge.decide(asked, keep=False))
        word = found.verdict.word
        if asked.worth_keeping(found):
            if word is Word.SOUND:
                self.judge.keep(asked, found)
            else:
                self.judge.keep(WordQuestion(asked), word)
        return word

    def progress(self, test: LoadedTest, scheme: NamedScheme, word: Word) -> ProgressAnswer | None:
        """Whether the compiled test can always go on; None where that has no meaning.

        word: that of the verdict on the test under the scheme.
        """
        if word in WITHOUT_PROGRESS:
            return None
        return self.judge.ask(ProgressQuestion(self.question(test, scheme)))

    def source(self, test: LoadedTest) -> ModelSide:
        """What is asked of a test alone."""
        from rspverify.soundness.sides import ModelSide

        if test not in self._sources:
            self._sources[test] = ModelSide(test.program, self.model)
        return self._sources[test]

    def _told(self, answer: Answer) -> Answer:
        if answer.internal is not None:
            self.internal.append(answer.internal)
        return answer


def decided(
    source: ModelSide, scheme: Translator, settings: Settings, incident: Incident
) -> Answer:
    """The verdict on a program under a scheme, whatever goes wrong while it is decided."""
    found = attempt(lambda: _decided(source, scheme, settings), incident)
    return _lost(found) if isinstance(found, Undecided) else found


def _decided(source: ModelSide, scheme: Translator, settings: Settings) -> Answer:
    from rspverify.soundness.case import Case
    from rspverify.soundness.check import check
    from rspverify.soundness.wording import observed

    started = time.perf_counter()
    case = Case(source.program, scheme, source.model, settings)
    verdict = check(case, source)
    shown = observed(case.program, verdict.outcome) if verdict.outcome else None
    return Answer(verdict, shown, time.perf_counter() - started)


def _lost(why: Undecided) -> Answer:
    return Answer(Verdict(Word.UNKNOWN, why.reason), None, why.seconds, why.internal)


def incident_of(test: str, scheme: str, settings: Settings) -> Incident:
    """What a report of an internal error says was asked."""
    return Incident("explain", (test,), (scheme,), settings)
