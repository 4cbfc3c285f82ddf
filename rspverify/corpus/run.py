"""A suite is run: every test put to everything that its tests are put to, in order."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Generator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar, assert_never

from rspverify.answers import ModelAnswer, Result
from rspverify.architecture import machine_named
from rspverify.corpus.suite import Kind, Suite
from rspverify.judge.cache import Question, digest
from rspverify.judge.judge import Judge
from rspverify.judge.reading import Inputs, read_inputs
from rspverify.judge.run import Run
from rspverify.judge.work import Work, stem
from rspverify.limits import LOST
from rspverify.records import replace
from rspverify.soundness.schedulers import schedulers_of
from rspverify.soundness.settings import Settings
from rspverify.source import InputError, Source, read_source
from rspverify.verdict import Word

if TYPE_CHECKING:
    from rspverify.architecture import Architecture
    from rspverify.corpus.machines import PutToMachines
    from rspverify.corpus.models import PutToModels

Task = tuple[Source, Sequence[str]]
"""A test, and the models or machines that are still to be asked about it."""


def suite_results(
    suite: Suite, settings: Settings, tests: Sequence[str], judge: Judge
) -> Generator[Result | ModelAnswer, None, None]:
    """The results of a suite, test by test, each as soon as those before it are there.

    Close it when done. Raises InputError if a scheme, a model or a machine cannot be read.
    """
    match suite.kind:
        case Kind.SCHEMES:
            run = Run(read_inputs(suite.columns, settings, judge, compilers=True), judge)
            yield from run.results(tests)
        case Kind.MODELS:
            models = {
                it: read_inputs((), replace(settings, model=it), judge) for it in suite.columns
            }
            asked: _Asked = _AskedOfModels(suite.columns, settings, judge, models)
            yield from _answers(asked, tests, judge)
        case Kind.MACHINES:
            machines = {it: machine_named(it) for it in suite.columns}
            asked = _AskedOfMachines(suite.columns, settings, judge, machines)
            yield from _answers(asked, tests, judge)
        case Kind.SCHEDULERS:
            from rspverify.axiomatic import load_model
            from rspverify.judge.waits import Waits, model_answer

            model, schedulers = load_model(settings.model), schedulers_of(suite.columns)
            with closing(Waits(judge, model, schedulers, settings).answers(tests)) as coming:
                yield from map(model_answer, coming)
        case _:
            assert_never(suite.kind)


def _answers(
    asked: _Asked, tests: Sequence[str], judge: Judge
) -> Generator[ModelAnswer, None, None]:
    """What each model or machine says of each test."""
    known = [_known(file, asked) for file in tests]
    tasks = [
        (source, [name for name, answer in answers.items() if answer is None])
        for source, answers in known
        if None in answers.values()
    ]
    if tasks:
        _ = asked.put

    def lost(task: Task) -> list[ModelAnswer]:
        source, names = task
        return [_without(source.name, name, Word.UNKNOWN, LOST) for name in names]

    work = Work(asked.kind, asked.decided, lambda task: stem(task[0].name))
    yield from judge.completed((row.values() for _, row in known), work, tasks, lost)


@dataclass(frozen=True)
class _Asked(ABC):
    """The judge, asked about what tests are put to. names: of that."""

    names: Sequence[str]
    settings: Settings
    judge: Judge

    kind: ClassVar[str]

    @abstractmethod
    def question(self, source: Source, name: str) -> Question[ModelAnswer]:
        """What does it say of the test?"""

    @cached_property
    @abstractmethod
    def put(self) -> PutToModels | PutToMachines:
        """What answers, made before there are workers."""

    def decided(self, task: Task) -> Sequence[ModelAnswer]:
        """What is said of a test."""
        source, names = task
        found = list(self.put.answers(source, names))
        for each in found:
            if each.answer not in (Word.UNKNOWN, Word.ERROR):
                self.judge.keep(self.question(source, each.model), each)
        return found


@dataclass(frozen=True)
class _AskedOfModels(_Asked):
    models: Mapping[str, Inputs]

    kind = "models"

    def question(self, source: Source, name: str) -> Question[ModelAnswer]:
        inputs = self.models[name]
        settings = replace(inputs.settings, seconds=None)
        content = (digest(source.text), inputs.model_facts.digest, settings)
        return Question("model's answer", content, ModelAnswer)

    @cached_property
    def put(self) -> PutToModels:
        from rspverify.corpus.models import PutToModels

        models = {name: inputs.parsed()[1] for name, inputs in self.models.items()}
        return PutToModels(models, self.settings)


@dataclass(frozen=True)
class _AskedOfMachines(_Asked):
    machines: Mapping[str, Architecture]

    kind = "machines"

    def question(self, source: Source, name: str) -> Question[ModelAnswer]:
        settings = replace(self.settings, seconds=None, insist=False)
        content = (digest(source.text), self.machines[name].identity, settings)
        return Question("machine's answer", content, ModelAnswer)

    @cached_property
    def put(self) -> PutToMachines:
        from rspverify.corpus.machines import PutToMachines

        return PutToMachines(self.machines, self.settings)


def _known(file: str, asked: _Asked) -> tuple[Source, dict[str, ModelAnswer | None]]:
    """A test, and what is said of it by their names; None where it is still to be decided."""
    try:
        source = read_source(file)
    except InputError as error:
        wrong = {it: _without(file, it, Word.ERROR, str(error)) for it in asked.names}
        return Source(file, ""), {**wrong}
    found: dict[str, ModelAnswer | None] = {}
    for name in asked.names:
        answer = asked.judge.known(asked.question(source, name))
        found[name] = answer and replace(answer, file=file, model=name, cached=True)
    return source, found


def _without(file: str, model: str, word: Word, reason: str) -> ModelAnswer:
    return ModelAnswer(file, file, model, word, reason, {}, 0.0)
