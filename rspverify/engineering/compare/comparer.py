"""Compares tests one by one: what the cache knows at once, the rest by deciding it."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from contextlib import closing
from typing import Any

from rspverify.answers import Result
from rspverify.convert import counts
from rspverify.engineering.compare.outcomes import changed_outcomes
from rspverify.engineering.compare.rows import changed_rows
from rspverify.engineering.comparison import (
    Change,
    Compared,
    Comparison,
    ComparisonSummary,
    LeftOut,
    OutcomeChanges,
    SchemeName,
    TouchedTest,
    Untouched,
    change_of,
)
from rspverify.judge.attempt import Undecided, attempt
from rspverify.judge.cache import Question, digest
from rspverify.judge.facts import ProgramFacts, SchemeFacts
from rspverify.judge.incident import Incident
from rspverify.judge.loaded_test import LoadedTest, read_test
from rspverify.judge.run import Known, Run
from rspverify.judge.verdicts import incident_of
from rspverify.judge.work import Work, stem
from rspverify.records import replace
from rspverify.scheme.cost import Costs
from rspverify.source import Given, Source
from rspverify.verdict import WITHOUT_PROGRESS as WITHOUT_OUTCOMES


class Comparer:
    """Tests under two schemes, an old one and a new one, which are those of the run.

    limit: how many outcomes of a test under a scheme are listed at the most.
    """

    def __init__(self, run: Run, limit: int) -> None:
        self._run = run
        self._inputs = run.inputs
        self._judge = run.judge
        self._limit = limit

    def start(self, costs: Costs, tests: int) -> Comparison:
        """The schemes and their rows, and no test yet."""
        inputs, settings = self._inputs, self._inputs.settings
        old, new = (each.table(settings) for each in inputs.schemes)
        names = zip(inputs.schemes, (old, new), strict=True)
        before, after = (
            SchemeName(it.file, each.name, each.machine.name, each.machine.path or None)
            for it, each in names
        )
        return Comparison(
            old=before,
            new=after,
            model=inputs.model_facts.name,
            engine=settings.engine,
            reading=settings.reading,
            costs=costs.file,
            limit_outcomes=self._limit,
            rows=changed_rows(old, new, costs),
            summary=ComparisonSummary(tests, 0, counts(Change, ())),
        )

    def compared(self, files: Sequence[Given]) -> Generator[Compared, None, None]:
        """Each test, in their order. Close it when done.

        Raises LimitReached if a worker is lost.
        """
        read = [self._run.known(file) for file in files]
        known = [self._known(each) for each in read]
        rest = [each for each, found in zip(read, known, strict=True) if found is None]
        if not rest:
            yield from filter(None, known)
            return
        _ = self._run.parsed
        work = Work("compare", self._decided, lambda test: stem(test.file), self._asks)
        with closing(self._judge.each(work, rest, workers=len(rest))) as found:
            for each in known:
                yield each if each is not None else next(found)

    def _known(self, known: Known) -> Compared | None:
        """A test as far as it is known without deciding anything, None if that is not far."""
        file, source, facts = known.file, known.source, known.facts
        if source is None or (facts is not None and facts.refusal is not None):
            refusal = next(each for each in known.results if each)
            return LeftOut(file, refusal.verdict, refusal.reason)
        if facts is None:
            return None
        old, new = (compiled_form(each.facts, facts) for each in self._inputs.schemes)
        if old == new and (old is None or self._one_machine()):
            return Untouched(file, compiled=old is not None)
        if known.open:
            return None
        before, after = (each for each in known.results if each)
        outcomes = None
        if _outcomes_matter(before, after):
            outcomes = self._judge.known(self._question(source, facts))
            if outcomes is None:
                return None
        return _touched(before, after, outcomes)

    def _asks(self, test: Known) -> Iterator[Question[Any]]:
        """What is asked about a test, as far as it is known beforehand."""
        if test.source is not None and test.facts is not None:
            yield from self._run.asks(test.source, test.facts, range(len(self._inputs.schemes)))
            yield self._question(test.source, test.facts)

    def _decided(self, known: Known) -> Compared:
        """A test, decided as far as it is not known; in a worker."""
        file, source, settings = known.file, known.source, self._inputs.settings
        assert source is not None, "an unreadable test is known to be one"
        incident = incident_of(file, self._inputs.schemes[0].file, settings)
        test = attempt(lambda: read_test(source, settings, self._judge), incident)
        if isinstance(test, Undecided):
            return LeftOut(file, test.word, test.reason, test.internal)
        known = self._run.known_by(test.facts, file, source)
        return self._known(known) or self._touched(known, test)

    def _touched(self, known: Known, test: LoadedTest) -> TouchedTest:
        fresh = iter(self._run.of_test(test, known.open))
        before, after = (each or next(fresh) for each in known.results)
        outcomes = self._outcomes(test) if _outcomes_matter(before, after) else None
        return _touched(before, after, outcomes)

    def _outcomes(self, test: LoadedTest) -> OutcomeChanges:
        named, verdicts = self._run.parsed
        old, new = (each.table for each in named)
        model, settings = verdicts.model, self._inputs.settings
        files = tuple(each.file for each in self._inputs.schemes)
        incident = Incident("compare", (test.file,), files, settings)
        question = self._question(test.source, test.facts)

        def decide() -> OutcomeChanges:
            return changed_outcomes(test.program, old, new, model, settings, self._limit)

        found = attempt(lambda: self._judge.ask(question, decide, _worth_keeping), incident)
        if isinstance(found, Undecided):
            return OutcomeChanges(unknown=found.reason, internal=found.internal)
        return found

    def _question(self, source: Source, facts: ProgramFacts) -> Question[OutcomeChanges]:
        """Which outcomes does the compiled test gain and lose?"""
        inputs = self._inputs
        forms = tuple(each.facts.rows_used(facts) for each in inputs.schemes)
        machines = tuple(each.facts.machine for each in inputs.schemes)
        model, settings = inputs.model_facts, inputs.settings
        chosen = replace(settings, seconds=None, progress=False, model=model.name)
        content = (digest(source.text), forms, machines, model.digest, chosen, self._limit)
        return Question("outcomes changed", content, OutcomeChanges)

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
    return TouchedTest(new.test, new.file, change_of(old, new), old, new, outcomes)


def _outcomes_matter(old: Result, new: Result) -> bool:
    words = {old.verdict, new.verdict}
    return not words & WITHOUT_OUTCOMES and not (old.internal or new.internal)


def _worth_keeping(found: OutcomeChanges) -> bool:
    return all(each.allowed is not None for each in (*(found.gained or ()), *(found.lost or ())))
