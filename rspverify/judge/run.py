"""Many checks: every test under every scheme, results in a stable order."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from contextlib import closing, suppress
from functools import cached_property
from typing import Any

from rspverify.answers import Result
from rspverify.judge.inputs import Form, FormQuestion, Inputs, LoadedTest, NamedScheme
from rspverify.judge.judge import Judge
from rspverify.judge.question import Incident, Question, Undecided
from rspverify.judge.verdicts import (
    Answer,
    ProgressAnswer,
    ProgressQuestion,
    VerdictQuestion,
    Verdicts,
    answers_may_be_kept,
    incident_of,
)
from rspverify.source import Given, InputError, read_source
from rspverify.verdict import WITHOUT_PROGRESS, Verdict, Word


class Run:
    """Tests under the schemes of some inputs, as the judge knows them or decides them."""

    def __init__(self, inputs: Inputs, judge: Judge) -> None:
        self.inputs = inputs
        self.judge = judge

    @cached_property
    def verdicts(self) -> Verdicts:
        """Who decides a test under a scheme."""
        return Verdicts(self.judge, self.inputs.named, self.inputs.settings)

    def results(self, files: Sequence[Given]) -> Generator[Result, None, None]:
        """Every test under every scheme, test by test; each as soon as those before it are there.

        Close it when done.
        """
        self.compile(files)
        questions = [self.question(file) for file in files]
        if len(questions) < self.judge.workers:  # so that none is idle
            questions = [each for question in questions for each in question.apart()]
        with closing(self.judge.run(questions)) as coming:
            for results in coming:
                yield from results

    def question(self, given: Given) -> CheckQuestion:
        """What is asked about a test, under all schemes."""
        assembly = any(it.language for it in self.inputs.schemes)
        test = LoadedTest(given, self.inputs.settings, assembly=assembly)
        return CheckQuestion(self, test, self.inputs.schemes)

    def compile(self, files: Sequence[Given]) -> None:
        """Have compilers make all tests at once what they make of them."""
        others = (it.translator for it in self.inputs.schemes if not it.table)
        compilers = [each for each in others if each.whole]
        if not compilers:
            return
        programs = []
        for each in files:
            with suppress(InputError):  # It is said where the test is asked about.
                programs.append(self.inputs.settings.read(read_source(each)))
        for it in compilers:
            it.prepare(programs)


class CheckQuestion(Question[Sequence[Result]], frozen=True, dict=True):
    """A result for a test under each of some schemes."""

    kind = "check"
    is_limited = True

    run: Run
    test: LoadedTest
    schemes: tuple[NamedScheme, ...]

    @property
    def incident(self) -> Incident:
        return incident_of(self.test.file, self.schemes[0].file, self.run.inputs.settings)

    @cached_property
    def verdicts(self) -> list[VerdictQuestion]:
        """What is asked under each scheme."""
        return [self.run.verdicts.question(self.test, each) for each in self.schemes]

    def apart(self) -> list[CheckQuestion]:
        """The same, a question for each scheme."""
        return [CheckQuestion(self.run, self.test, (each,)) for each in self.schemes]

    def parts(self) -> Iterator[Question[Any]]:
        for verdict in self.verdicts:
            yield FormQuestion(self.test, verdict.scheme)
            if verdict.known_form:
                yield from (verdict, ProgressQuestion(verdict))

    def prepare(self) -> None:
        super().prepare()
        _ = self.run.inputs.model, [each.translator for each in self.run.inputs.schemes]

    def known(self, judge: Judge) -> Sequence[Result] | None:
        if self.test.unreadable is not None:
            return self.lost(self.test.unreadable)
        results = [each for each in self.known_results() if each]
        return results if len(results) == len(self.schemes) else None

    def known_results(self) -> list[Result | None]:
        """The result under each scheme for which it is known."""
        return [self._known(each) for each in self.verdicts]

    def decide(self) -> Sequence[Result]:
        """Schemes that make the same of a test share an answer."""
        judge, settings = self.run.judge, self.run.inputs.settings
        results: list[Result] = []
        found: dict[tuple[Any, ...], tuple[Answer, ProgressAnswer | None]] = {}
        keys = [(each.form, each.content) for each in self.verdicts]
        known = self.known_results()
        for question, (form, content), result in zip(self.verdicts, keys, known, strict=True):
            if form.unread is not None:
                found[content] = _unread(form), None
            elif result is not None:
                results.append(result)
                continue
            elif content not in found or not answers_may_be_kept(settings):
                answer, progress = judge.ask(question), None
                if settings.progress and answer.verdict.word not in WITHOUT_PROGRESS:
                    progress = judge.ask(ProgressQuestion(question))
                found[content] = answer, progress
            results.append(question.result(*found[content]))
        return results

    def lost(self, why: Undecided) -> Sequence[Result]:
        answer = Answer(Verdict(why.word, why.reason), None, 0.0, why.internal)
        return [each.result(answer) for each in self.verdicts]

    def _known(self, question: VerdictQuestion) -> Result | None:
        judge, form, progress = self.run.judge, question.known_form, None
        if form is None:
            return None
        answer = _unread(form) if form.unread is not None else judge.known(question)
        if answer is None:
            return None
        if self.run.inputs.settings.progress and answer.verdict.word not in WITHOUT_PROGRESS:
            progress = judge.known(ProgressQuestion(question))
            if progress is None:
                return None
        return question.result(answer, progress, cached=True)


def _unread(form: Form) -> Answer:
    """The answer on a test that this version cannot read."""
    return Answer(Verdict(Word.UNSUPPORTED, form.unread or ""), None, 0.0)
