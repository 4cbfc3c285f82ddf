"""Decides one test under schemes: the part of a run that needs grammars and solvers."""

from __future__ import annotations

import time
from dataclasses import dataclass

from rspverify.answers import Internal, Result
from rspverify.axiomatic import MemoryModel
from rspverify.check.answers import (
    Answer,
    Job,
    Task,
    answers_may_be_kept,
    result_of,
    soundness_question,
    worth_keeping,
)
from rspverify.check.bundle import Incident, reported
from rspverify.check.cache import Cache, Question
from rspverify.check.facts import (
    ModelFacts,
    ProgramFacts,
    SchemeFacts,
    facts_of_program,
    program_question,
)
from rspverify.check.progress import WITHOUT_PROGRESS, progress
from rspverify.check.settings import Settings
from rspverify.check.soundness import SourceSide, check
from rspverify.check.wording import observed
from rspverify.litmus import Program, title_of
from rspverify.scheme import Scheme
from rspverify.source import InputError, Severity, in_one_line
from rspverify.verdict import Progress, ProgressWord, Verdict, Word


@dataclass(frozen=True)
class NamedScheme:
    """A scheme, the name of its file, and its facts."""

    file: str
    scheme: Scheme
    facts: SchemeFacts


@dataclass(frozen=True)
class Decider:
    """What all decisions of a run rest on, read once."""

    schemes: tuple[NamedScheme, ...]
    model: MemoryModel
    model_facts: ModelFacts
    settings: Settings

    def decide(self, task: Task, cache: Cache) -> list[Result]:
        """A result per scheme of a task; each is kept as soon as it is there.

        A wrong test is a verdict too, so that the other tests of a run go on. Schemes that make
        the same of a test share an answer.
        """
        try:
            program = self.settings.read(task.source)
        except InputError as error:
            return self._refuse(task, error, cache)
        except Exception as error:
            first = self.schemes[task.schemes[0]].file
            met = reported(error, incident(task.file, first, self.settings))
            return self.same(_internal(met, 0.0), task, title_of(task.source))
        facts = facts_of_program(program)
        cache.keep(program_question(task.source, self.settings), facts)
        return self.results(program, facts, task, cache)

    def results(
        self, program: Program, facts: ProgramFacts, task: Task, cache: Cache
    ) -> list[Result]:
        """The same for a test that has been read."""
        results = []
        answers: dict[Question, Answer] = {}
        source = SourceSide(program, self.model)
        for named in (self.schemes[number] for number in task.schemes):
            question = soundness_question(
                task.source, facts, named.facts, self.model_facts, self.settings
            )
            if question not in answers or not answers_may_be_kept(self.settings):
                asked = incident(task.file, named.file, self.settings)
                answers[question] = answer_to(source, named.scheme, self.settings, asked)
                if worth_keeping(answers[question], self.settings):
                    cache.keep(question, answers[question])
            results.append(self._result(answers[question], task, named, program.title))
        return results

    def _refuse(self, task: Task, error: InputError, cache: Cache) -> list[Result]:
        verdict = refused(error)
        title = title_of(task.source)
        if verdict.word is Word.UNSUPPORTED:
            question = program_question(task.source, self.settings)
            cache.keep(question, ProgramFacts(title, (), verdict.reason))
        return self.same(Answer(verdict, None, 0.0), task, title)

    def same(self, answer: Answer, task: Task, title: str | None) -> list[Result]:
        """One answer under each scheme of a task."""
        return [self._result(answer, task, self.schemes[number], title) for number in task.schemes]

    def _result(self, answer: Answer, task: Task, named: NamedScheme, title: str | None) -> Result:
        job = Job(task.file, named.file)
        return result_of(answer, job, title, named.facts.name, self.model.name, self.settings)


def answer_to(source: SourceSide, scheme: Scheme, settings: Settings, asked: Incident) -> Answer:
    """The verdict on a program under a scheme, and progress. A mistake of ours is reported."""
    started = time.perf_counter()
    program = source.program
    try:
        verdict = check(program, scheme, source.model, settings, source)
        shown = observed(program, verdict.outcome) if verdict.outcome else None
    except MemoryError:
        return Answer(Verdict(Word.UNKNOWN, "out of memory"), None, _since(started))
    except Exception as error:
        return _internal(reported(error, asked), _since(started))
    found, internal = None, None
    if settings.progress and verdict.word not in WITHOUT_PROGRESS:
        try:
            found = progress(program, scheme, settings)
        except MemoryError:
            found = Progress(ProgressWord.UNKNOWN, "out of memory")
        except Exception as error:
            internal = reported(error, asked)
            found = Progress(ProgressWord.UNKNOWN, str(internal))
    return Answer(verdict, shown, _since(started), internal, found)


def incident(test: str, scheme: str, settings: Settings) -> Incident:
    """What a report of an internal error says was asked."""
    return Incident("explain", (test,), (scheme,), settings)


def _internal(met: Internal, seconds: float) -> Answer:
    return Answer(Verdict(Word.UNKNOWN, str(met)), None, seconds, met)


def _since(started: float) -> float:
    return time.perf_counter() - started


def refused(error: InputError) -> Verdict:
    """The verdict on a test that cannot be read.

    Errors with their excerpts; what is merely unsupported in one line.
    """
    if error.severity is Severity.UNSUPPORTED:
        return Verdict(Word.UNSUPPORTED, in_one_line(error.problems))
    wrong = [each for each in error.problems if each.severity is Severity.ERROR]
    return Verdict(Word.ERROR, "\n".join(str(problem) for problem in wrong))
