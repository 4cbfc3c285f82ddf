"""Many checks: every test under every scheme, results in a stable order.

What the cache knows needs neither grammar nor solver nor worker. What it does not know is decided
by workers, forked once everything that they share has been read.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from rspverify.answers import Result
from rspverify.judge.answers import (
    Answer,
    Names,
    ProgressAnswer,
    answers_may_be_kept,
    progress_question,
    result_of,
    soundness_question,
)
from rspverify.judge.cache import Question
from rspverify.judge.facts import ProgramFacts, facts_of_model, program_question
from rspverify.judge.judge import Judge
from rspverify.judge.reading import Inputs, SchemeText
from rspverify.limits import LOST
from rspverify.source import InputError, Severity, Source, in_one_line, read_source
from rspverify.verdict import WITHOUT_PROGRESS, Verdict, Word

if TYPE_CHECKING:
    from rspverify.judge.loaded_test import LoadedTest
    from rspverify.judge.verdicts import NamedScheme, Verdicts


@dataclass(frozen=True)
class Known:
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


@dataclass(frozen=True)
class Task:
    """A test to decide under schemes, which are given by their place among those of the run."""

    file: str
    source: Source
    schemes: tuple[int, ...]


class Run:
    """Tests under the schemes of some inputs, as the judge knows them or decides them."""

    def __init__(self, inputs: Inputs, judge: Judge) -> None:
        self.inputs = inputs
        self.judge = judge
        self._parsed: tuple[tuple[NamedScheme, ...], Verdicts] | None = None

    def results(self, files: Sequence[str]) -> Generator[Result, None, None]:
        """Every test under every scheme, test by test; each as soon as those before it are there.

        Close it when done.
        """
        known = [self.known(file) for file in files]
        tasks = self._tasks(known)
        if not tasks:
            for each in known:
                yield from filter(None, each.results)
            return
        self.prepare()
        workers = min(self.judge.workers, len(tasks))
        with closing(
            self.judge.each(self.decided, tasks, workers=workers, ahead=len(tasks), lost=self._lost)
        ) as coming:
            decided = (result for results in coming for result in results)
            for each in known:
                for result in each.results:
                    yield result if result is not None else next(decided)

    def known(self, file: str) -> Known:
        """A test as far as it can be told without a grammar and a solver."""
        try:
            source = read_source(file)
        except InputError as error:
            return Known(file, None, None, self._same(refused(error), file, None))
        facts = self.judge.known(program_question(source, self.inputs.settings))
        if facts is None:
            return Known(file, source, None, (None,) * len(self.inputs.schemes))
        if facts.refusal is not None:
            verdict = Verdict(Word.UNSUPPORTED, facts.refusal)
            return Known(file, source, facts, self._same(verdict, file, facts.title, cached=True))
        return self.known_by(facts, file, source)

    def known_by(self, facts: ProgramFacts, file: str, source: Source) -> Known:
        """The same of a test whose facts are known, and which can be read."""
        schemes = self.inputs.schemes
        results = tuple(self._known(file, source, facts, each) for each in schemes)
        return Known(file, source, facts, results)

    def prepare(self) -> None:
        """Parse what deciding takes, before workers are forked. Raises InputError."""
        from rspverify.judge.verdicts import Verdicts
        from rspverify.litmus import warm_up

        if self._parsed is None:
            warm_up()
            schemes, model = self.inputs.parsed()
            facts = facts_of_model(model)
            self._parsed = schemes, Verdicts(self.judge, model, facts, self.inputs.settings)

    @property
    def schemes(self) -> tuple[NamedScheme, ...]:
        """The schemes, once it is prepared."""
        assert self._parsed is not None
        return self._parsed[0]

    @property
    def verdicts(self) -> Verdicts:
        """Who decides, once it is prepared."""
        assert self._parsed is not None
        return self._parsed[1]

    def decided(self, task: Task) -> list[Result]:
        """A result per scheme of a task. What is wrong with a test is a verdict, too."""
        from rspverify.judge.attempt import Undecided, attempt
        from rspverify.judge.loaded_test import read_test
        from rspverify.judge.verdicts import incident_of
        from rspverify.litmus import title_of

        settings = self.inputs.settings
        first = self.inputs.schemes[task.schemes[0]].file
        try:
            test = attempt(
                lambda: read_test(task.source, settings, self.judge),
                incident_of(task.file, first, settings),
            )
        except InputError as error:
            verdict, title = refused(error), title_of(task.source)
            if verdict.word is Word.UNSUPPORTED:
                refusal = ProgramFacts(title, (), verdict.reason)
                self.judge.keep(program_question(task.source, settings), refusal)
            return self._of_task(task, Answer(verdict, None, 0.0), title)
        if isinstance(test, Undecided):
            verdict = Verdict(Word.UNKNOWN, test.reason)
            answer = Answer(verdict, None, 0.0, test.internal)
            return self._of_task(task, answer, title_of(task.source))
        return self.of_test(test, task.schemes)

    def of_test(self, test: LoadedTest, schemes: Sequence[int]) -> list[Result]:
        """A result per scheme, decided as far as it is not known.

        Schemes that make the same of a test share an answer.
        """
        settings = self.inputs.settings
        results = []
        found: dict[Question[Answer], tuple[Answer, ProgressAnswer | None]] = {}
        for number in schemes:
            scheme = self.schemes[number]
            question = self.verdicts.question(test, scheme)
            if question not in found or not answers_may_be_kept(settings):
                answer = self.verdicts.answer(test, scheme)
                progress = None
                if settings.progress:
                    progress = self.verdicts.progress(test, scheme, answer.verdict.word)
                found[question] = answer, progress
            names = self._names(test.file, test.program.title, self.inputs.schemes[number])
            results.append(self._result(*found[question], names))
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
            progress = self.judge.known(progress_question(question))
            if progress is None:
                return None
        return self._result(answer, progress, self._names(file, facts.title, scheme), cached=True)

    def _tasks(self, known: Sequence[Known]) -> list[Task]:
        """What is to be decided; the schemes of a test together, unless workers would be idle."""
        together = [
            Task(each.file, each.source, each.open) for each in known if each.source and each.open
        ]
        if len(together) >= self.judge.workers:
            return together
        return [replace(task, schemes=(number,)) for task in together for number in task.schemes]

    def _lost(self, task: Task) -> list[Result]:
        from rspverify.litmus import title_of

        answer = Answer(Verdict(Word.UNKNOWN, LOST), None, 0.0)
        return self._of_task(task, answer, title_of(task.source))

    def _of_task(self, task: Task, answer: Answer, title: str | None) -> list[Result]:
        """One answer under each scheme of a task."""
        schemes = (self.inputs.schemes[number] for number in task.schemes)
        return [self._result(answer, None, self._names(task.file, title, it)) for it in schemes]

    def _same(
        self, verdict: Verdict, file: str, title: str | None, *, cached: bool = False
    ) -> tuple[Result, ...]:
        """One verdict under every scheme."""
        answer = Answer(verdict, None, 0.0)
        return tuple(
            self._result(answer, None, self._names(file, title, each), cached=cached)
            for each in self.inputs.schemes
        )

    def _names(self, file: str, title: str | None, scheme: SchemeText) -> Names:
        return Names(file, title, scheme.file, scheme.facts.name)

    def _result(
        self,
        answer: Answer,
        progress: ProgressAnswer | None,
        names: Names,
        *,
        cached: bool = False,
    ) -> Result:
        model, settings = self.inputs.model_facts.name, self.inputs.settings
        return result_of(answer, progress, names, model, settings, cached=cached)


def refused(error: InputError) -> Verdict:
    """The verdict on a test that cannot be read.

    Errors with their excerpts; what is merely unsupported in one line.
    """
    if error.severity is Severity.UNSUPPORTED:
        return Verdict(Word.UNSUPPORTED, in_one_line(error.problems))
    wrong = [each for each in error.problems if each.severity is Severity.ERROR]
    return Verdict(Word.ERROR, "\n".join(str(problem) for problem in wrong))
