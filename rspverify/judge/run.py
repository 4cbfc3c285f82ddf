"""Many checks: every test under every scheme, results in a stable order."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from contextlib import closing, suppress
from functools import cached_property
from typing import Any

from rspverify.answers import Internal, Result
from rspverify.judge.answers import Answer, ProgressAnswer, answers_may_be_kept, result_of
from rspverify.judge.facts import ProgramFacts
from rspverify.judge.inputs import Inputs, LoadedTest, NamedScheme, ProgramQuestion
from rspverify.judge.judge import Judge
from rspverify.judge.question import Incident, Question, Undecided, stem
from rspverify.judge.verdicts import ProgressQuestion, Verdicts, incident_of
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
        return Verdicts(self.judge, self.inputs.model, self.inputs.settings)

    def results(self, files: Sequence[Given]) -> Generator[Result, None, None]:
        """Every test under every scheme, test by test; each as soon as those before it are there.

        Close it when done.
        """
        self._compile(files)
        questions = [self.question(file) for file in files]
        if len(questions) < self.judge.workers:  # so that none is idle
            questions = [each for question in questions for each in question.apart()]
        with closing(self.judge.run(questions)) as coming:
            for results in coming:
                yield from results

    def question(self, given: Given) -> CheckQuestion:
        """What is asked about a test, under all schemes."""
        test = LoadedTest(given, self.inputs.settings)
        return CheckQuestion(self, test, self.inputs.schemes)

    def _compile(self, files: Sequence[Given]) -> None:
        """Have compilers make all tests at once what they make of them."""
        parsed = [it.parsed for it in self.inputs.schemes]
        compilers = [it for it in parsed if it is not None and it.whole]
        if not compilers:
            return
        programs = []
        for each in files:
            with suppress(InputError):  # It is said where the test is asked about.
                programs.append(self.inputs.settings.read(read_source(each)))
        for it in compilers:
            it.prepare(programs)


class CheckQuestion(Question[Sequence[Result]], frozen=True):
    """A result for a test under each of some schemes."""

    kind = "check"

    run: Run
    test: LoadedTest
    schemes: tuple[NamedScheme, ...]

    @property
    def name(self) -> str:
        return stem(self.test.file)

    @property
    def incident(self) -> Incident:
        return incident_of(self.test.file, self.schemes[0].file, self.run.inputs.settings)

    def apart(self) -> list[CheckQuestion]:
        """The same, a question for each scheme."""
        return [CheckQuestion(self.run, self.test, (each,)) for each in self.schemes]

    def parts(self) -> Iterator[Question[Any]]:
        yield ProgramQuestion(self.test)
        if "facts" in vars(self.test):
            for scheme in self.schemes:
                verdict = self.run.verdicts.question(self.test, scheme)
                yield from (verdict, ProgressQuestion(verdict))

    def prepare(self) -> None:
        self.run.inputs.parse()

    def known(self, judge: Judge) -> Sequence[Result] | None:
        if self.test.unreadable is not None:
            return self.lost(self.test.unreadable)
        facts = judge.known(ProgramQuestion(self.test))
        if facts is None:
            return None
        if facts.refusal is not None:
            return self._refused(facts, cached=True)
        results = [each for each in self.known_results() if each]
        return results if len(results) == len(self.schemes) else None

    def known_results(self) -> list[Result | None]:
        """The result under each scheme for which it is known. The facts of the test must be."""
        return [self._known(each) for each in self.schemes]

    def decide(self) -> Sequence[Result]:
        """Schemes that make the same of a test share an answer."""
        facts = self.run.judge.ask(ProgramQuestion(self.test))
        if facts.refusal is not None:
            return self._refused(facts, cached=False)
        verdicts, settings = self.run.verdicts, self.run.inputs.settings
        results: list[Result] = []
        found: dict[tuple[Any, ...], tuple[Answer, ProgressAnswer | None]] = {}
        for scheme, known in zip(self.schemes, self.known_results(), strict=True):
            if known is not None:
                results.append(known)
                continue
            content = verdicts.question(self.test, scheme).content
            if content not in found or not answers_may_be_kept(settings):
                answer, progress = verdicts.answer(self.test, scheme), None
                if settings.progress:
                    progress = verdicts.progress(self.test, scheme, answer.verdict.word)
                found[content] = answer, progress
            results.append(self._result(*found[content], facts.title, scheme))
        return results

    def lost(self, why: Undecided) -> Sequence[Result]:
        from rspverify.litmus.reader import title_of

        title = None if self.test.unreadable else title_of(self.test.source)
        return self._same(Verdict(why.word, why.reason), title, internal=why.internal)

    def _known(self, scheme: NamedScheme) -> Result | None:
        judge, question = self.run.judge, self.run.verdicts.question(self.test, scheme)
        answer, progress = judge.known(question), None
        if answer is None:
            return None
        if self.run.inputs.settings.progress and answer.verdict.word not in WITHOUT_PROGRESS:
            progress = judge.known(ProgressQuestion(question))
            if progress is None:
                return None
        return self._result(answer, progress, self.test.facts.title, scheme, cached=True)

    def _refused(self, facts: ProgramFacts, *, cached: bool) -> list[Result]:
        return self._same(
            Verdict(Word.UNSUPPORTED, facts.refusal or ""), facts.title, cached=cached
        )

    def _same(
        self,
        verdict: Verdict,
        title: str | None,
        *,
        cached: bool = False,
        internal: Internal | None = None,
    ) -> list[Result]:
        """One verdict under all schemes."""
        answer = Answer(verdict, None, 0.0, internal)
        return [self._result(answer, None, title, it, cached=cached) for it in self.schemes]

    def _result(
        self,
        answer: Answer,
        progress: ProgressAnswer | None,
        title: str | None,
        scheme: NamedScheme,
        *,
        cached: bool = False,
    ) -> Result:
        return result_of(
            answer,
            progress,
            self.run.inputs.settings,
            file=self.test.file,
            title=title,
            scheme_file=scheme.file,
            scheme=scheme.facts.name,
            model=self.run.inputs.model.facts.name,
            cached=cached,
        )
