"""A suite is run: every test under every scheme, or put to every model, in a stable order."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import closing
from dataclasses import replace
from typing import assert_never

from rspverify.check.cache import Cache, Question, Warn, digest
from rspverify.check.reading import Inputs, read_inputs
from rspverify.check.run import run
from rspverify.check.settings import Settings
from rspverify.corpus.suite import Kind, Suite
from rspverify.report import ModelAnswer, Result
from rspverify.source import InputError, Source, read_source
from rspverify.verdict import Word

_NOT_KEPT = (Word.UNKNOWN, Word.ERROR)


def suite_results(
    suite: Suite,
    settings: Settings,
    tests: Sequence[str],
    workers: int,
    cache: Cache,
    warn: Warn,
) -> Generator[Result | ModelAnswer, None, None]:
    """The results of a suite, test by test, each as soon as those before it are there.

    Closes the cache. Raises InputError if a scheme or a model cannot be read, and LimitReached if a
    worker is lost.
    """
    match suite.kind:
        case Kind.SCHEMES:
            inputs = read_inputs(suite.columns, settings, cache)
            yield from run(inputs, tests, workers, cache, warn)
        case Kind.MODELS:
            yield from _answers(suite.columns, settings, tests, workers, cache, warn)
        case _:
            assert_never(suite.kind)


def _answers(
    names: Sequence[str],
    settings: Settings,
    tests: Sequence[str],
    workers: int,
    cache: Cache,
    warn: Warn,
) -> Generator[ModelAnswer, None, None]:
    """Those that the cache knows, and the others as soon as they are decided; these are kept."""
    models = {it: read_inputs((), replace(settings, model=it), cache) for it in names}
    sources: list[Source] = []
    known: list[dict[str, ModelAnswer | None]] = []
    for file in tests:
        try:
            source = read_source(file)
            answers = {name: _known(source, name, inputs, cache) for name, inputs in models.items()}
        except InputError as error:
            source, wrong = Source(file, ""), str(error)
            answers = {it: ModelAnswer(file, file, it, Word.ERROR, wrong, {}, 0.0) for it in models}
        sources.append(source)
        known.append(answers)
    place = cache.place
    cache.close()
    if all(each for of_test in known for each in of_test.values()):
        for of_test in known:
            yield from filter(None, of_test.values())
        return
    from rspverify.corpus.models import Asked, Asking

    asking = Asking({it: inputs.decider().model for it, inputs in models.items()}, settings)
    asked = [
        Asked(source, tuple(name for name, each in of_test.items() if each is None))
        for source, of_test in zip(sources, known, strict=True)
    ]
    decided: list[tuple[Question, ModelAnswer]] = []
    try:
        with closing(asking.decided([it for it in asked if it.models], workers)) as coming:
            for each, of_test in zip(asked, known, strict=True):
                new = next(coming) if each.models else []
                decided += [(_question(each.source, it.model, models[it.model]), it) for it in new]
                by_name = {it.model: it for it in new}
                for name, answer in of_test.items():
                    yield answer or by_name[name]
    finally:
        cache = Cache(place, warn)
        for question, answer in decided:
            if answer.words not in _NOT_KEPT:
                cache.keep(question, answer)
        cache.close()


def _question(source: Source, name: str, inputs: Inputs) -> Question:
    """What does the model say of the test? Its answer is a ModelAnswer."""
    settings = replace(inputs.settings, model=name, seconds=None)
    return Question("model's answer", (digest(source.text), inputs.model_facts.digest, settings))


def _known(source: Source, name: str, inputs: Inputs, cache: Cache) -> ModelAnswer | None:
    found = cache.answer(_question(source, name, inputs), ModelAnswer)
    return found and replace(found, file=source.name, model=name, cached=True)
