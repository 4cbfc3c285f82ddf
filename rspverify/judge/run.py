"""Schemes that are read, and many checks: every test under every scheme, in a stable order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing, suppress
from functools import cached_property
from typing import Any

from rspverify.answers import Result
from rspverify.architecture.machines import MACHINES, machine_named
from rspverify.judge.inputs import (
    Form,
    FormQuestion,
    LoadedTest,
    NamedScheme,
    named_model,
    read_named,
)
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
from rspverify.records import replace
from rspverify.soundness.settings import Engine, Settings
from rspverify.source import Given, InputError, Problem, Problems, name_of, read_source
from rspverify.translators import names_compiler
from rspverify.verdict import WITHOUT_PROGRESS, Verdict, Word
from rspverify.wording import slower_engine


class Run:
    """Schemes, and who decides tests under them, as the judge knows them or decides them."""

    def __init__(self, schemes: tuple[NamedScheme, ...], verdicts: Verdicts) -> None:
        self.schemes = schemes
        self.verdicts = verdicts

    @property
    def names(self) -> list[str]:
        """The names of the schemes."""
        return [each.name for each in self.schemes]

    def results(self, files: Sequence[Given]) -> Generator[Result, None, None]:
        """Every test under every scheme, test by test; each as soon as those before it are there.

        Close it when done.
        """
        self.compile(files)
        questions = [self.question(file) for file in files]
        if len(questions) < self.verdicts.judge.workers:  # so that none is idle
            questions = [each for question in questions for each in question.apart()]
        with closing(self.verdicts.judge.run(questions)) as coming:
            for results in coming:
                yield from results

    def question(self, given: Given) -> CheckQuestion:
        """What is asked about a test, under all schemes."""
        assembly = any(it.language for it in self.schemes)
        test = LoadedTest(given, self.verdicts.settings, assembly=assembly)
        return CheckQuestion(self, test, self.schemes)

    def compile(self, files: Sequence[Given]) -> None:
        """Have compilers make all tests at once what they make of them."""
        others = (it.translator for it in self.schemes if not it.table)
        compilers = [each for each in others if each.whole]
        if not compilers:
            return
        programs = []
        for each in files:
            with suppress(InputError):  # It is said where the test is asked about.
                programs.append(self.verdicts.settings.read(read_source(each)))
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
        return incident_of(self.test.file, self.schemes[0].file, self.run.verdicts.settings)

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
        _ = self.run.verdicts.model, [each.translator for each in self.run.schemes]

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
        judge, settings = self.run.verdicts.judge, self.run.verdicts.settings
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
        judge, form, progress = self.run.verdicts.judge, question.known_form, None
        if form is None:
            return None
        answer = _unread(form) if form.unread is not None else judge.known(question)
        if answer is None:
            return None
        if self.run.verdicts.settings.progress and answer.verdict.word not in WITHOUT_PROGRESS:
            progress = judge.known(ProgressQuestion(question))
            if progress is None:
                return None
        return question.result(answer, progress, cached=True)


def _unread(form: Form) -> Answer:
    """The answer on a test that this version cannot read."""
    return Answer(Verdict(Word.UNSUPPORTED, form.unread or ""), None, 0.0)


# ---- reading ------------------------------------------------------------------------------------


def read_inputs(
    given: Sequence[Given],
    settings: Settings,
    judge: Judge,
    *,
    unique: bool = True,
    compilers: bool = False,
) -> Run:
    """Read schemes and model. Raises InputError for all that is wrong with them.

    judge: knows some of them. unique: whether they are each once, and those of one name called by
    their files. compilers: whether there may be compilers.
    """
    problems = Problems()
    with problems:
        model = named_model(settings.model)
    with problems:
        if settings.machine and settings.machine not in MACHINES:
            machine_named(settings.machine)
    schemes: list[NamedScheme] = []
    for each in dict.fromkeys(given) if unique else given:
        with problems:
            if names_compiler(each) and not compilers:
                message = f"a scheme must be a table here, not the compiler {name_of(each)}"
                hint = "rspverify extract makes a table of what a compiler emits"
                raise InputError([Problem(None, message, hint)])
            schemes.append(read_named(each, settings.machine, judge))
    problems.tell()
    named = Counter(each.name for each in schemes)
    if unique and len(named) < len(schemes):
        schemes = [replace(it, called=it.file) if named[it.name] > 1 else it for it in schemes]
    decided = _decided_by(schemes, settings)
    if decided.engine is not settings.engine:
        for it in schemes:
            if it.unbounded and it.machine and it.machine.path:
                judge.warn(slower_engine(it.machine.name, it.unbounded))
    return Run(tuple(schemes), Verdicts(judge, model, decided))


def _decided_by(schemes: Sequence[NamedScheme], settings: Settings) -> Settings:
    """With an engine that knows the machines of the schemes, unless one was asked for by name."""
    if all(each.unbounded is None for each in schemes):
        return replace(settings, allow_fallback=True)
    if settings.engine is Engine.EVENTS and settings.allow_fallback:
        return replace(settings, engine=Engine.EXPLICIT)
    return settings
