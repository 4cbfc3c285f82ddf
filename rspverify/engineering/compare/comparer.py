"""Compares tests one by one: what the cache knows at once, the rest by deciding it."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import closing
from dataclasses import replace

from rspverify.answers import Result, checked
from rspverify.check.answers import Answer, Job, Task, result_of, soundness_question
from rspverify.check.bundle import Incident, reported
from rspverify.check.cache import Cache, CachePlace, Question, Warn, digest
from rspverify.check.decide import Decider, incident, refused
from rspverify.check.facts import (
    ProgramFacts,
    SchemeFacts,
    facts_of_program,
    program_question,
)
from rspverify.check.reading import Inputs
from rspverify.check.workers import spread
from rspverify.engineering.compare.order import change_of
from rspverify.engineering.compare.outcomes import changed_outcomes
from rspverify.engineering.comparison import (
    Compared,
    LeftOut,
    OutcomeChanges,
    TouchedTest,
    Untouched,
)
from rspverify.limits import LimitReached
from rspverify.litmus import Program, warm_up
from rspverify.source import InputError, Source, read_source
from rspverify.verdict import Word

_WITHOUT_OUTCOMES = frozenset({Word.RACY, Word.UNSUPPORTED, Word.ERROR})
"""Verdicts beside which outcomes mean nothing: anything is allowed, or nothing was compiled."""


def compared(
    comparer: Comparer, tests: Sequence[str], workers: int, cache: Cache
) -> Generator[Compared, None, None]:
    """Each test, in their order. Closes the cache: workers open it anew.

    Raises LimitReached if a worker is lost.
    """
    known = [comparer.known(test, cache) for test in tests]
    cache.close()
    rest = [test for test, found in zip(tests, known, strict=True) if found is None]
    if not rest:
        yield from filter(None, known)
        return
    comparer.prepare(cache.place)
    with closing(spread(comparer.decided, rest, min(workers, len(rest)))) as found:
        for each in known:
            yield each if each is not None else next(found)


class Comparer:
    """What all comparisons of a run rest on. inputs: of the old scheme and the new one.

    limit: how many outcomes of a test under a scheme are listed at the most.
    """

    def __init__(self, inputs: Inputs, limit: int, warn: Warn) -> None:
        self._inputs = inputs
        self._limit = limit
        self._warn = warn
        self._decider: Decider | None = None
        self._place: CachePlace | None = None
        self._cache: Cache | None = None

    def prepare(self, place: CachePlace | None) -> None:
        """Read what deciding takes, before workers are forked. Raises InputError."""
        warm_up()
        self._decider = self._inputs.decider()
        self._place = place

    def known(self, file: str, cache: Cache) -> Compared | None:
        """A test as far as it is known without reading it as a program, None if that is not far."""
        try:
            source = read_source(file)
        except InputError as error:
            return _left_out(file, error)
        facts = cache.answer(program_question(source, self._inputs.settings), ProgramFacts)
        return None if facts is None else self._from_facts(file, source, facts, cache)

    def _from_facts(
        self, file: str, source: Source, facts: ProgramFacts, cache: Cache
    ) -> Compared | None:
        if facts.refusal is not None:
            return LeftOut(file, Word.UNSUPPORTED, facts.refusal)
        old, new = (compiled_form(each.facts, facts) for each in self._inputs.schemes)
        if old == new and (old is None or self._one_machine()):
            return Untouched(file, compiled=old is not None)
        results = self._known_results(file, source, facts, cache)
        if not all(results):
            return None
        before, after = (each for each in results if each)
        outcomes = None
        if _outcomes_matter(before, after):
            question = self._outcomes_question(source, facts)
            outcomes = cache.answer(question, OutcomeChanges)
            if outcomes is None:
                return None
        return _touched(before, after, outcomes)

    def decided(self, file: str) -> Compared:
        """A test, decided as far as it is not known; in a worker."""
        if self._cache is None:
            self._cache = Cache(self._place, self._warn)
        cache, settings = self._cache, self._inputs.settings
        try:
            source = read_source(file)
            program = settings.read(source)
        except InputError as error:
            return _left_out(file, error)
        except Exception as error:
            met = reported(error, incident(file, self._inputs.schemes[0].file, settings))
            return LeftOut(file, Word.UNKNOWN, str(met), met)
        facts = facts_of_program(program)
        cache.keep(program_question(source, settings), facts)
        return self._from_facts(file, source, facts, cache) or self._decide(
            file, source, program, facts, cache
        )

    def _decide(
        self, file: str, source: Source, program: Program, facts: ProgramFacts, cache: Cache
    ) -> TouchedTest:
        assert self._decider is not None
        results = self._known_results(file, source, facts, cache)
        open_ = tuple(number for number, result in enumerate(results) if result is None)
        task = Task(file, source, open_)
        fresh = iter(self._decider.results(program, facts, task, cache) if open_ else ())
        before, after = (each or next(fresh) for each in results)
        outcomes = None
        if _outcomes_matter(before, after):
            outcomes = self._outcomes(source, program, facts, cache)
        return _touched(before, after, outcomes)

    def _known_results(
        self, file: str, source: Source, facts: ProgramFacts, cache: Cache
    ) -> list[Result | None]:
        inputs, found = self._inputs, list[Result | None]()
        for each in inputs.schemes:
            question = soundness_question(
                source, facts, each.facts, inputs.model_facts, inputs.settings
            )
            answer = cache.answer(question, Answer)
            job, name, model = Job(file, each.file), each.facts.name, inputs.model_facts.name
            found.append(
                None
                if answer is None
                else result_of(answer, job, facts.title, name, model, inputs.settings, cached=True)
            )
        return found

    def _outcomes(
        self, source: Source, program: Program, facts: ProgramFacts, cache: Cache
    ) -> OutcomeChanges:
        assert self._decider is not None
        question = self._outcomes_question(source, facts)
        found = cache.answer(question, OutcomeChanges)
        if found is not None:
            return found
        old, new = (each.scheme for each in self._decider.schemes)
        settings = self._inputs.settings
        try:
            model = self._decider.model
            found = changed_outcomes(program, old, new, model, settings, self._limit)
        except LimitReached as limit:
            return OutcomeChanges(unknown=str(limit))
        except MemoryError:
            return OutcomeChanges(unknown="out of memory")
        except Exception as error:
            files = tuple(each.file for each in self._inputs.schemes)
            met = reported(error, Incident("compare", (source.name,), files, settings))
            return OutcomeChanges(unknown=str(met), internal=met)
        if all(each.allowed is not None for each in (*(found.gained or ()), *(found.lost or ()))):
            cache.keep(question, found)
        return found

    def _outcomes_question(self, source: Source, facts: ProgramFacts) -> Question:
        inputs = self._inputs
        forms = tuple(each.facts.rows_used(facts) for each in inputs.schemes)
        chosen = replace(
            inputs.settings, seconds=None, progress=False, model=inputs.model_facts.name
        )
        machines = tuple(each.facts.machine for each in inputs.schemes)
        model = inputs.model_facts.digest
        content = (digest(source.text), forms, machines, model, chosen, self._limit)
        return Question("outcomes changed", content)

    def _one_machine(self) -> bool:
        machines = {each.facts.machine for each in self._inputs.schemes}
        return self._inputs.settings.machine is not None or len(machines) == 1


def compiled_form(scheme: SchemeFacts, program: ProgramFacts) -> tuple[tuple[str, ...], ...] | None:
    """All that the compiled form of a program depends on in a scheme; None if there is none."""
    form = []
    for use in program.uses:
        code = scheme.code.get(use.shape)
        if code is None or (not use.adds and use.shape in scheme.adding):
            return None
        form.append((use.shape, *code))
    return tuple(form)


def _touched(old: Result, new: Result, outcomes: OutcomeChanges | None) -> TouchedTest:
    change = change_of(old, new)
    return TouchedTest(new.test, new.file, change, checked(old), checked(new), outcomes)


def _outcomes_matter(old: Result, new: Result) -> bool:
    words = {old.verdict.word, new.verdict.word}
    return not words & _WITHOUT_OUTCOMES and not (old.internal or new.internal)


def _left_out(file: str, error: InputError) -> LeftOut:
    verdict = refused(error)
    return LeftOut(file, verdict.word, verdict.reason)
