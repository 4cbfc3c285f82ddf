"""A suite is run: every test under every scheme, or put to every model, in a stable order."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import closing
from dataclasses import replace
from typing import assert_never

from rspverify.answers import ModelAnswer, Result
from rspverify.corpus.suite import Kind, Suite
from rspverify.judge.cache import Question, digest
from rspverify.judge.judge import Judge
from rspverify.judge.reading import Inputs, read_inputs
from rspverify.judge.run import Run
from rspverify.limits import LOST
from rspverify.soundness.settings import Settings
from rspverify.source import InputError, Source, read_source
from rspverify.verdict import Word

Answers = dict[str, ModelAnswer | None]
"""What models say of a test, by their names; None where it is still to be decided."""


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
    """Those that the cache knows, and the others as soon as they are decided."""
    models = {it: read_inputs((), replace(settings, model=it), judge) for it in names}
    known = [_known(file, models, judge) for file in tests]
    open_ = [(source, answers) for source, answers in known if None in answers.values()]
    if not open_:
        for _, answers in known:
            yield from filter(None, answers.values())
        return
    from rspverify.corpus.models import PutToModels

    put = PutToModels({it: inputs.parsed()[1] for it, inputs in models.items()}, settings)

    def decide(task: tuple[Source, Answers]) -> Answers:
        source, answers = task
        missing = [name for name, answer in answers.items() if answer is None]
        found: Answers = {each.model: each for each in put.answers(source, missing)}
        for name, each in found.items():
            if each is not None and each.answer not in (Word.UNKNOWN, Word.ERROR):
                judge.keep(_question(source, models[name]), each)
        return answers | found

    def lost(task: tuple[Source, Answers]) -> Answers:
        source, answers = task
        unknown = ModelAnswer(source.name, source.name, "", Word.UNKNOWN, LOST, {}, 0.0)
        return {it: each or replace(unknown, model=it) for it, each in answers.items()}

    workers = min(judge.workers, len(open_))
    with closing(judge.each(decide, open_, workers=workers, lost=lost)) as coming:
        for _, answers in known:
            whole = next(coming) if None in answers.values() else answers
            yield from filter(None, whole.values())


def _known(file: str, models: dict[str, Inputs], judge: Judge) -> tuple[Source, Answers]:
    try:
        source = read_source(file)
    except InputError as error:
        wrong = ModelAnswer(file, file, "", Word.ERROR, str(error), {}, 0.0)
        return Source(file, ""), {it: replace(wrong, model=it) for it in models}
    found: Answers = {}
    for name, inputs in models.items():
        answer = judge.known(_question(source, inputs))
        found[name] = answer and replace(answer, file=file, model=name, cached=True)
    return source, found


def _question(source: Source, inputs: Inputs) -> Question[ModelAnswer]:
    """What does the model say of the test?"""
    settings = replace(inputs.settings, seconds=None)
    content = (digest(source.text), inputs.model_facts.digest, settings)
    return Question("model's answer", content, ModelAnswer)
