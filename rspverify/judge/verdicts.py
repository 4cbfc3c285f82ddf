"""Verdicts on tests under schemes, and progress: what is asked of the judge most."""

from __future__ import annotations

import re
import time
from functools import cached_property
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from msgspec import Struct

from rspverify import convert
from rspverify.answers import Internal, Observed, Result
from rspverify.judge.inputs import Form, FormQuestion, LoadedTest, NamedModel, NamedScheme
from rspverify.judge.judge import Judge
from rspverify.judge.question import Incident, Question, Undecided, attempt
from rspverify.records import replace
from rspverify.soundness.settings import FAIR, Settings, explain_command
from rspverify.source import digest
from rspverify.verdict import WITHOUT_PROGRESS, WRONG, Progress, ProgressWord, Verdict, Word

if TYPE_CHECKING:
    from rspverify.axiomatic.model import MemoryModel
    from rspverify.soundness.sides import ModelSide
    from rspverify.translators import Translator

_KEPT = {Word.SOUND, *WRONG, Word.RACY, Word.VACUOUS, Word.UNSUPPORTED}
_CLOSE = 0.9
"""An answer that took more of its time limit than this may have been cut short by it."""


class Answer(Struct, frozen=True):
    """A verdict as far as it depends on content alone, and what deciding it took.

    internal: the internal error that came instead.
    """

    verdict: Verdict
    observed: Observed | None
    seconds: float
    internal: Internal | None = None


class ProgressAnswer(Struct, frozen=True):
    """The same of progress, where it has a meaning."""

    progress: Progress
    seconds: float
    internal: Internal | None = None


def answers_may_be_kept(settings: Settings) -> bool:
    """Whether answers may come from earlier runs at all.

    Not where the run must ask a second solver, of which we know no version, or leave files behind.
    """
    return settings.confirm is None and settings.smt_dir is None


def worth_keeping(answer: Answer, settings: Settings) -> bool:
    """Whether an answer would be the same in another run, with any time limit.

    Never UNKNOWN: another try may do better.
    """
    return answer.verdict.word in _KEPT and in_time(answer.seconds, settings)


def in_time(seconds: float, settings: Settings) -> bool:
    """Whether an answer did not come near the time limit, which may have cut it short.

    It may then show less than it could, such as a counterexample that is not a shortest one.
    """
    limit = settings.limits().seconds
    return limit is None or seconds < _CLOSE * limit


def command_of(result: Result, settings: Settings) -> str:
    """What shows in a terminal why a result is UNSOUND or OPEN, or else STUCK."""
    stuck = result.progress is ProgressWord.STUCK and result.verdict not in WRONG
    return explain_command(result.scheme_file, result.file, settings, progress=stuck)


class VerdictQuestion(Question[Answer], frozen=True, dict=True):
    """Is a test compiled soundly by a scheme?"""

    kind = "soundness"
    answer = Answer

    verdicts: Verdicts
    test: LoadedTest
    scheme: NamedScheme

    @cached_property
    def form(self) -> Form:
        """What the test becomes."""
        asked = FormQuestion(self.test, self.scheme)
        return self._kept_form or self.verdicts.judge.decide(asked)

    @property
    def known_form(self) -> Form | None:
        """The same, if it is known, so that the answer can be looked up."""
        return vars(self).get("form", self._kept_form)

    @cached_property
    def _kept_form(self) -> Form | None:
        return self.verdicts.judge.known(FormQuestion(self.test, self.scheme))

    @property
    def content(self) -> tuple[Any, ...]:
        """Of the scheme only what the test becomes counts."""
        made = self.form.code or self.form.refusal
        chosen = self.verdicts.chosen(self.scheme.identity)
        return self.test.source.digest, made, self.verdicts.named.digest, chosen

    @property
    def incident(self) -> Incident:
        return incident_of(self.test.file, self.scheme.file, self.verdicts.settings)

    def decide(self) -> Answer:
        source, settings = self.verdicts.source(self.test), self.verdicts.settings
        found = _decided(source, self.scheme.translator, settings)
        if found.verdict.word is Word.UNKNOWN:
            self.verdicts.forget(self.test)
        return found

    def lost(self, why: Undecided) -> Answer:
        return _lost(why)

    def worth_keeping(self, answer: Answer) -> bool:
        return worth_keeping(answer, self.verdicts.settings)

    def result(
        self, answer: Answer, progress: ProgressAnswer | None = None, *, cached: bool = False
    ) -> Result:
        """An answer as a result, by the names that users gave to the test and the scheme."""
        verdict, going = answer.verdict, progress.progress if progress else None
        settings, off = self.verdicts.settings, self.scheme.off
        return Result(
            test=self.test.title,
            file=self.test.file,
            scheme=self.scheme.name,
            scheme_file=self.scheme.file,
            machine=settings.machine,
            model=self.verdicts.named.name,
            engine=settings.engine,
            reading=settings.reading,
            verdict=verdict.word,
            confirmed=verdict.confirmed,
            within=verdict.within,
            outcome=answer.observed,
            axioms=verdict.axioms,
            sound_if=verdict.sound_if,
            switches={
                name: about
                for name, about in off.items()
                if re.search(rf"\b{name}\b", verdict.reason)
            },
            race=verdict.race,
            reason=verdict.reason,
            seconds=answer.seconds + (progress.seconds if progress else 0.0),
            internal=answer.internal or (progress.internal if progress else None),
            progress=going.word if going else None,
            progress_reason=going.reason if going else None,
            cached=cached,
        )


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
        settings = asked.verdicts.settings
        with settings.limits().enforced():
            found = progress(asked.test.program, asked.scheme.translator, settings)
        return ProgressAnswer(found, time.perf_counter() - started)

    def lost(self, why: Undecided) -> ProgressAnswer:
        unknown = Progress(ProgressWord.UNKNOWN, why.reason)
        return ProgressAnswer(unknown, why.seconds, why.internal)

    def worth_keeping(self, answer: ProgressAnswer) -> bool:
        known = answer.progress.word is not ProgressWord.UNKNOWN
        return known and in_time(answer.seconds, self.verdict.verdicts.settings)


class Verdicts:
    """The judge, asked about tests under schemes and one model.

    What is asked of a test alone (does it race, what is allowed) is asked once for all schemes.
    internal: internal errors that came instead of verdicts, in this process.
    """

    def __init__(self, judge: Judge, named: NamedModel, settings: Settings) -> None:
        self.judge = judge
        self.named = named
        self.settings = settings
        self.internal: list[Internal] = []
        self._sources: WeakKeyDictionary[LoadedTest, ModelSide] = WeakKeyDictionary()
        self._chosen: dict[str, str] = {}

    def __reduce__(self) -> tuple[type[Verdicts], tuple[Judge, NamedModel, Settings]]:
        return Verdicts, (self.judge, self.named, self.settings)

    @property
    def model(self) -> MemoryModel:
        """The model, which is read where it is needed."""
        return self.named.model

    def chosen(self, machine: str) -> str:
        """A digest of the settings that verdicts on a machine depend on.

        All do, but those that are in keys by content, and the time limit, which `worth_keeping`
        sees to. Messages name the model.
        """
        if machine not in self._chosen:
            counting = replace(
                self.settings,
                model=self.named.name,
                machine=machine,
                seconds=None,
                progress=False,
                scheduler=FAIR,
            )
            self._chosen[machine] = digest(convert.keep(counting))
        return self._chosen[machine]

    def by(self, settings: Settings) -> Verdicts:
        """The same judge and model, with other settings."""
        return Verdicts(self.judge, self.named, settings)

    def question(self, test: LoadedTest, scheme: NamedScheme) -> VerdictQuestion:
        """Is the test compiled soundly?"""
        return VerdictQuestion(self, test, scheme)

    def answer(self, test: LoadedTest, scheme: NamedScheme) -> Answer:
        """The verdict with what it took."""
        return self._told(self.judge.ask(self.question(test, scheme)))

    def word(self, test: LoadedTest, scheme: NamedScheme) -> Word:
        """The word of the verdict alone."""
        return self.answer(test, scheme).verdict.word

    def progress(self, test: LoadedTest, scheme: NamedScheme, word: Word) -> ProgressAnswer | None:
        """Whether the compiled test can always go on; None where that has no meaning.

        word: that of the verdict on the test under the scheme. What a model judges has none.
        """
        if word in WITHOUT_PROGRESS or scheme.machine is None:
            return None
        return self.judge.ask(ProgressQuestion(self.question(test, scheme)))

    def source(self, test: LoadedTest) -> ModelSide:
        """What is asked of a test alone."""
        from rspverify.soundness.sides import ModelSide

        if test not in self._sources:
            self._sources[test] = ModelSide(test.program, self.model)
        return self._sources[test]

    def forget(self, test: LoadedTest) -> None:
        """Ask anew what is asked of a test alone: what was at it may have been interrupted."""
        self._sources.pop(test, None)

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
    with settings.limits().enforced():
        case = Case(source.program, scheme, source.model, settings)
        verdict = check(case, source)
    shown = observed(case.program, verdict.outcome) if verdict.outcome else None
    return Answer(verdict, shown, time.perf_counter() - started)


def _lost(why: Undecided) -> Answer:
    return Answer(Verdict(Word.UNKNOWN, why.reason), None, why.seconds, why.internal)


def incident_of(test: str, scheme: str, settings: Settings) -> Incident:
    """What a report of an internal error says was asked."""
    return Incident("explain", (test,), (scheme,), settings)
