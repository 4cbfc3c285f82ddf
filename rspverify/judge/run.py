"""Many checks: every test under every scheme, results in a stable order.

What the cache knows needs neither grammar nor solver nor worker. What it does not know is decided
by workers, which get what they share once it has been read.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from contextlib import suppress
from functools import cached_property
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from rspverify.answers import Internal, Result
from rspverify.judge.answers import (
    Answer,
    ProgressAnswer,
    answers_may_be_kept,
    progress_question,
    result_of,
    soundness_question,
)
from rspverify.judge.cache import Question
from rspverify.judge.facts import CompilerFacts, ProgramFacts, program_question
from rspverify.judge.judge import Judge
from rspverify.judge.reading import Inputs, SchemeText
from rspverify.judge.work import Work, stem
from rspverify.limits import LOST
from rspverify.records import replace
from rspverify.source import Given, InputError, Source, name_of, read_source
from rspverify.verdict import WITHOUT_PROGRESS, Verdict, Word

if TYPE_CHECKING:
    from rspverify.judge.loaded_test import LoadedTest
    from rspverify.judge.verdicts import Named, Verdicts


class Known(Struct, frozen=True):
    """A test as far as it is known: its facts, and the result under each scheme that has one.

    source: None where it is unreadable. facts: None where it is to be read as a program.
    """

    file: str
    source: Source | None
    facts: ProgramFacts | None
    results: tuple[Result | None, ...]

    @property
    def open(self) -> tuple[int, ...]:
        """The schemes under which it is still to be decided."""
        return tuple(number for number, result in enumerate(self.results) if result is None)


class Task(Struct, frozen=True):
    """A test to decide under schemes, which are given by their place among those of the run.

    facts: of the test, if they are known.
    """

    file: str
    source: Source
    schemes: tuple[int, ...]
    facts: ProgramFacts | None = None


class Run:
    """Tests under the schemes of some inputs, as the judge knows them or decides them."""

    def __init__(self, inputs: Inputs, judge: Judge) -> None:
        self.inputs = inputs
        self.judge = judge

    def results(self, files: Sequence[Given]) -> Generator[Result, None, None]:
        """Every test under every scheme, test by test; each as soon as those before it are there.

        Close it when done.
        """
        self._compile(files)
        known = [self.known(file) for file in files]
        if tasks := self._tasks(known):
            _ = self.parsed
        rows = (each.results for each in known)
        work = Work("check", self.decided, lambda task: stem(task.file), self._asks)
        yield from self.judge.completed(rows, work, tasks, self._lost)

    def _compile(self, files: Sequence[Given]) -> None:
        """Have compilers make all tests at once what they make of them."""
        compilers = [it for it in self.inputs.schemes if isinstance(it.facts, CompilerFacts)]
        if not compilers:
            return
        programs = []
        for each in files:
            with suppress(InputError):  # It is said where the test is asked about.
                programs.append(self.inputs.settings.read(read_source(each)))
        for it in compilers:
            assert isinstance(it.facts, CompilerFacts) and it.facts.compilation is not None
            it.facts.compilation.prepare(programs)

    def known(self, given: Given) -> Known:
        """A test as far as it can be told without a grammar and a solver."""
        schemes, file = self.inputs.schemes, name_of(given)
        try:
            source = read_source(given)
        except InputError as error:
            from rspverify.judge.attempt import refused

            wrong = refused(error)
            verdict = Verdict(wrong.word, wrong.reason)
            return Known(file, None, None, tuple(self._same(verdict, file, None, schemes)))
        facts = self.judge.known(program_question(source, self.inputs.settings))
        if facts is None:
            return Known(file, source, None, (None,) * len(schemes))
        if facts.refusal is not None:
            verdict = Verdict(Word.UNSUPPORTED, facts.refusal)
            results = self._same(verdict, file, facts.title, schemes, cached=True)
            return Known(file, source, facts, tuple(results))
        return self.known_by(facts, file, source)

    def known_by(self, facts: ProgramFacts, file: str, source: Source) -> Known:
        """The same of a test whose facts are known, and which can be read."""
        schemes = self.inputs.schemes
        results = tuple(self._known(file, source, facts, each) for each in schemes)
        return Known(file, source, facts, results)

    @cached_property
    def parsed(self) -> tuple[tuple[Named, ...], Verdicts]:
        """The schemes, and who decides: all that it takes, read before there are workers.

        Raises InputError.
        """
        from rspverify.judge.verdicts import Verdicts
        from rspverify.litmus import warm_up

        warm_up()
        schemes, model = self.inputs.parsed()
        return schemes, Verdicts(self.judge, model, self.inputs.settings)

    def decided(self, task: Task) -> Sequence[Result]:
        """A result per scheme of a task. What is wrong with a test is a verdict, too."""
        from rspverify.judge.attempt import Undecided, attempt
        from rspverify.judge.loaded_test import read_test
        from rspverify.judge.verdicts import incident_of
        from rspverify.litmus import title_of

        settings, schemes = self.inputs.settings, self._schemes_of(task)
        test = attempt(
            lambda: read_test(task.source, settings, self.judge),
            incident_of(task.file, schemes[0].file, settings),
        )
        if not isinstance(test, Undecided):
            return self.of_test(test, task.schemes)
        title = title_of(task.source)
        if test.word is Word.UNSUPPORTED:
            refusal = ProgramFacts(title, (), test.reason)
            self.judge.keep(program_question(task.source, settings), refusal)
        verdict = Verdict(test.word, test.reason)
        return self._same(verdict, task.file, title, schemes, internal=test.internal)

    def of_test(self, test: LoadedTest, schemes: Sequence[int]) -> list[Result]:
        """A result per scheme, decided as far as it is not known.

        Schemes that make the same of a test share an answer.
        """
        settings = self.inputs.settings
        named, verdicts = self.parsed
        results = []
        found: dict[Question[Answer], tuple[Answer, ProgressAnswer | None]] = {}
        for number in schemes:
            scheme = named[number]
            question = verdicts.question(test, scheme)
            if question not in found or not answers_may_be_kept(settings):
                answer = verdicts.answer(test, scheme)
                progress = None
                if settings.progress:
                    progress = verdicts.progress(test, scheme, answer.verdict.word)
                found[question] = answer, progress
            title, text = test.program.title, self.inputs.schemes[number]
            results.append(self._result(*found[question], test.file, title, text))
        return results

    def _known(
        self, file: str, source: Source, facts: ProgramFacts, scheme: SchemeText
    ) -> Result | None:
        inputs, settings = self.inputs, self.inputs.settings
        question = soundness_question(source, facts, scheme.facts, inputs.model_facts, settings)
        answer, progress = self.judge.known(question), None
        if answer is None:
            return None
        if settings.progress and answer.verdict.word not in WITHOUT_PROGRESS:
            progress = self.judge.known(progress_question(question, settings))
            if progress is None:
                return None
        return self._result(answer, progress, file, facts.title, scheme, cached=True)

    def asks(
        self, source: Source, facts: ProgramFacts, schemes: Sequence[int]
    ) -> Iterator[Question[Any]]:
        """What is asked about a test under schemes, by their places."""
        model, settings = self.inputs.model_facts, self.inputs.settings
        for number in schemes:
            scheme = self.inputs.schemes[number].facts
            question = soundness_question(source, facts, scheme, model, settings)
            yield question
            if settings.progress:
                yield progress_question(question, settings)

    def _asks(self, task: Task) -> Iterator[Question[Any]]:
        if task.facts is not None:
            yield from self.asks(task.source, task.facts, task.schemes)

    def _tasks(self, known: Sequence[Known]) -> list[Task]:
        """What is to be decided; the schemes of a test together, unless workers would be idle."""
        together = [
            Task(each.file, each.source, each.open, each.facts)
            for each in known
            if each.source and each.open
        ]
        if not together or len(together) >= self.judge.workers:
            return together
        return [replace(task, schemes=(number,)) for task in together for number in task.schemes]

    def _lost(self, task: Task) -> list[Result]:
        from rspverify.litmus import title_of

        verdict, title = Verdict(Word.UNKNOWN, LOST), title_of(task.source)
        return self._same(verdict, task.file, title, self._schemes_of(task))

    def _schemes_of(self, task: Task) -> list[SchemeText]:
        return [self.inputs.schemes[number] for number in task.schemes]

    def _same(
        self,
        verdict: Verdict,
        file: str,
        title: str | None,
        schemes: Sequence[SchemeText],
        *,
        cached: bool = False,
        internal: Internal | None = None,
    ) -> list[Result]:
        """One verdict on a test under several schemes."""
        answer = Answer(verdict, None, 0.0, internal)
        return [self._result(answer, None, file, title, it, cached=cached) for it in schemes]

    def _result(
        self,
        answer: Answer,
        progress: ProgressAnswer | None,
        file: str,
        title: str | None,
        scheme: SchemeText,
        *,
        cached: bool = False,
    ) -> Result:
        return result_of(
            answer,
            progress,
            self.inputs.settings,
            file=file,
            title=title,
            scheme_file=scheme.file,
            scheme=scheme.facts.name,
            model=self.inputs.model_facts.name,
            cached=cached,
        )
