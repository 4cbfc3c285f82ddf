"""A suite is run: every test under every scheme, or put to every model, in a stable order."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, assert_never

from rspverify.answers import ModelAnswer, Result
from rspverify.corpus.suite import Kind, Suite
from rspverify.judge.cache import Question, digest
from rspverify.judge.judge import Judge
from rspverify.judge.reading import Inputs, read_inputs
from rspverify.judge.run import Run
from rspverify.judge.work import Work, stem
from rspverify.limits import LOST
from rspverify.soundness.settings import Settings
from rspverify.source import InputError, Source, read_source
from rspverify.verdict import Word

if TYPE_CHECKING:
    from rspverify.corpus.models import PutToModels

Task = tuple[Source, Sequence[str]]
"""A test, and the models that are still to be asked about it."""


def suite_results(
    suite: Suite, settings: Settings, tests: Sequence[str], judge: Judge
) -> Generator[Result | ModelAnswer, None, None]:
    """The results of a suite, test by test, each as soon as those before it are there.

    Close it when done. Raises InputError if a scheme or a model cannot be read.
    """
    match suite.kind:
        case Kind.SCHEMES:
            run = Run(read_inputs(suite.columns, settings, judge), judge)
            yield from run.results(tests)
        case Kind.MODELS:
            yield from _answers(suite.columns, settings, tests, judge)
        case _:
            assert_never(suite.kind)


def _answers(
    names: Sequence[str], settings: Settings, tests: Sequence[str], judge: Judge
) -> Generator[ModelAnswer, None, None]:
    """What each model says of each test."""
    models = {it: read_inputs((), replace(settings, model=it), judge) for it in names}
    known = [_known(file, models, judge) for file in tests]
    tasks = [
        (source, [name for name, answer in answers.items() if answer is None])
        for source, answers in known
        if None in answers.values()
    ]
    asked = _Asked(models, settings, judge)
    if tasks:
        _ = asked.put

    def lost(task: Task) -> list[ModelAnswer]:
        source, names = task
        return [_without(source.name, name, Word.UNKNOWN, LOST) for name in names]

    work = Work("models", asked.decided, lambda task: stem(task[0].name))
    yield from judge.completed((row.values() for _, row in known), work, tasks, lost)


@dataclass(frozen=True)
class _Asked:
    """The judge, asked about models."""

    models: Mapping[str, Inputs]
    settings: Settings
    judge: Judge

    @cached_property
    def put(self) -> PutToModels:
        """The models, read before there are workers."""
        from rspverify.corpus.models import PutToModels

        models = {name: inputs.parsed()[1] for name, inputs in self.models.items()}
        return PutToModels(models, self.settings)

    def decided(self, task: Task) -> Sequence[ModelAnswer]:
        """What models say of a test."""
        source, names = task
        found = list(self.put.answers(source, names))
        for each in found:
            if each.answer not in (Word.UNKNOWN, Word.ERROR):
                self.judge.keep(_question(source, self.models[each.model]), each)
        return found


def _known(
    file: str, models: Mapping[str, Inputs], judge: Judge
) -> tuple[Source, dict[str, ModelAnswer | None]]:
    """A test, and what models say of it by their names; None where it is still to be decided."""
    try:
        source = read_source(file)
    except InputError as error:
        return Source(file, ""), {it: _without(file, it, Word.ERROR, str(error)) for it in models}
    found: dict[str, ModelAnswer | None] = {}
    for name, inputs in models.items():
        answer = judge.known(_question(source, inputs))
        found[name] = answer and replace(answer, file=file, model=name, cached=True)
    return source, found


def _without(file: str, model: str, word: Word, reason: str) -> ModelAnswer:
    return ModelAnswer(file, file, model, word, reason, {}, 0.0)


def _question(source: Source, inputs: Inputs) -> Question[ModelAnswer]:
    """What does the model say of the test?"""
    settings = replace(inputs.settings, seconds=None)
    content = (digest(source.text), inputs.model_facts.digest, settings)
    return Question("model's answer", content, ModelAnswer)
