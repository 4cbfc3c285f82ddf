"""Many checks: every test under every scheme, on all cores, results in a stable order.

What the cache knows needs no worker. What it does not know is decided by workers, which are forked
once everything that they share has been read, and which keep each answer as soon as they have it:
the end of any process, however sudden, loses none that was there.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace

from rspverify.answers import Result
from rspverify.check.answers import Answer, Job, Task, result_of, soundness_question
from rspverify.check.cache import Cache, Warn
from rspverify.check.facts import ProgramFacts, program_question
from rspverify.check.reading import Inputs
from rspverify.source import InputError, Source, read_source
from rspverify.verdict import Verdict, Word


@dataclass(frozen=True)
class _Known:
    """A test, and the result under each scheme as far as there is one; source None: unreadable."""

    file: str
    source: Source | None
    results: tuple[Result | None, ...]

    @property
    def open(self) -> tuple[int, ...]:
        """The schemes under which it is still to be decided."""
        return tuple(number for number, result in enumerate(self.results) if result is None)


def run(
    inputs: Inputs, tests: Sequence[str], workers: int, cache: Cache, warn: Warn
) -> Iterator[Result]:
    """Every test under every scheme, test by test; each as soon as those before it are there.

    Closes the cache: workers open it anew.
    """
    known = [_known(test, inputs, cache) for test in tests]
    cache.close()
    tasks = _tasks(known, workers)
    if not tasks:
        for each in known:
            yield from filter(None, each.results)
        return
    from rspverify.check.pool import decided

    with closing(decided(inputs.decider(), tasks, workers, cache.place, warn)) as found:
        for each in known:
            for result in each.results:
                yield result if result is not None else next(found)


def _known(file: str, inputs: Inputs, cache: Cache) -> _Known:
    try:
        source = read_source(file)
    except InputError as error:
        verdict = Verdict(Word.ERROR, "\n".join(str(each) for each in error.problems))
        return _Known(file, None, _same(Answer(verdict, None, 0.0), file, None, inputs))
    facts = cache.answer(program_question(source, inputs.settings), ProgramFacts)
    if facts is None:
        return _Known(file, source, (None,) * len(inputs.schemes))
    if facts.refusal is not None:
        answer = Answer(Verdict(Word.UNSUPPORTED, facts.refusal), None, 0.0)
        return _Known(file, source, _same(answer, file, facts.title, inputs, cached=True))
    results: list[Result | None] = []
    for scheme in inputs.schemes:
        question = soundness_question(
            source, facts, scheme.facts, inputs.model_facts, inputs.settings
        )
        found = cache.answer(question, Answer)
        job, name = Job(file, scheme.file), scheme.facts.name
        results.append(_result(found, job, facts.title, name, inputs) if found else None)
    return _Known(file, source, tuple(results))


def _same(
    answer: Answer, file: str, title: str | None, inputs: Inputs, *, cached: bool = False
) -> tuple[Result, ...]:
    """One answer under every scheme."""
    return tuple(
        _result(answer, Job(file, each.file), title, each.facts.name, inputs, cached=cached)
        for each in inputs.schemes
    )


def _result(
    answer: Answer,
    job: Job,
    title: str | None,
    scheme: str,
    inputs: Inputs,
    *,
    cached: bool = True,
) -> Result:
    model, settings = inputs.model_facts.name, inputs.settings
    return result_of(answer, job, title, scheme, model, settings, cached=cached)


def _tasks(known: Sequence[_Known], workers: int) -> list[Task]:
    """What is to be decided; the schemes of a test together, unless that leaves workers idle."""
    together = [
        Task(each.file, each.source, each.open) for each in known if each.source and each.open
    ]
    if len(together) >= workers:
        return together
    return [replace(task, schemes=(number,)) for task in together for number in task.schemes]
