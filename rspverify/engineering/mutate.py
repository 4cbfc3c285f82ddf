"""Which instruction of a scheme is needed: the smallest test that each of its mutants fails.

Only a test that the scheme itself passes says anything of a mutant. So each test is first decided
under the scheme, and then under each mutant of a row that the test uses, the smallest test first.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace

from rspverify.answers import Internal
from rspverify.engineering.mutation import Fate, Finding, MutantAnswer, NamedTest, TestAndReason
from rspverify.engineering.setup import Setup
from rspverify.judge.loaded_test import LoadedTest
from rspverify.judge.verdicts import NamedScheme, Verdicts
from rspverify.scheme import rows_used
from rspverify.scheme.cost import Costs
from rspverify.scheme.mutants import Mutant
from rspverify.verdict import Progress, ProgressWord, Verdict, Word


@dataclass(frozen=True)
class Baseline:
    """What a test says of the scheme itself. rows: the numbers of those that it uses."""

    test: LoadedTest
    verdict: Verdict
    rows: frozenset[int]
    seconds: float
    internal: Internal | None = None

    @property
    def name(self) -> NamedTest:
        """The test by its names."""
        return named(self.test)

    def told(self, reason: str) -> TestAndReason:
        """The test, and why it is told of."""
        return TestAndReason(self.name.test, self.name.file, reason)


def named(test: LoadedTest) -> NamedTest:
    """A test by its names."""
    return NamedTest(test.program.title or test.file, test.file)


def baselines(setup: Setup) -> Generator[Baseline, None, None]:
    """Every test under the scheme itself, the smallest first."""
    scheme = setup.schemes[0]

    def decide(place: int) -> tuple[Verdict, float, Internal | None]:
        answer = setup.verdicts.answer(setup.tests[place], scheme)
        return replace(answer.verdict, execution=None), answer.seconds, answer.internal

    with closing(setup.verdicts.judge.each(decide, range(len(setup.tests)))) as decided:
        for test, (verdict, seconds, internal) in zip(setup.tests, decided, strict=True):
            rows: frozenset[int] = frozenset()
            if verdict.word is not Word.UNSUPPORTED:
                rows = frozenset(row.number for row in rows_used(test.program, scheme.scheme))
            yield Baseline(test, verdict, rows, seconds, internal)


def telling(known: Iterable[Baseline], row: int) -> list[Baseline]:
    """The tests that say something of the mutants of a row: the scheme passes them."""
    return [each for each in known if row in each.rows and each.verdict.word is Word.SOUND]


def longest(mutants: Sequence[Mutant], known: Sequence[Baseline], workers: int) -> float:
    """About how many seconds the verdicts take if no mutant fails any test; progress left out."""
    seconds = (
        sum(each.seconds for each in telling(known, mutant.row.number)) for mutant in mutants
    )
    return sum(seconds) / workers


def findings(
    setup: Setup, mutants: Sequence[Mutant], known: Sequence[Baseline], costs: Costs
) -> Generator[Finding, None, None]:
    """What the tests make of each mutant, in their order."""
    trial = _Trial(setup.schemes[0], known, costs, setup.verdicts)
    places = range(len(mutants))
    yield from setup.verdicts.judge.each(lambda place: trial.of(mutants[place]), places, ahead=2)


def shown(mutant: Mutant, costs: Costs) -> MutantAnswer:
    """A mutant as a table shows it."""
    return MutantAnswer(
        mutant.name,
        mutant.row.number,
        str(mutant.row),
        mutant.step,
        mutant.also,
        tuple(map(str, mutant.code)),
        costs.of(mutant.code) - costs.of(mutant.row.code),
    )


@dataclass(frozen=True)
class _Trial:
    """Holds mutants of a scheme against tests, the smallest first."""

    scheme: NamedScheme
    known: Sequence[Baseline]
    costs: Costs
    verdicts: Verdicts
    itself: dict[str, Progress | None] = field(default_factory=dict)
    """Progress of the scheme itself, by test."""

    def of(self, mutant: Mutant) -> Finding:
        record = _Record(shown(mutant, self.costs))
        scheme = NamedScheme.of(mutant.of(self.scheme.scheme), self.scheme.file)
        passed: list[tuple[Baseline, Verdict]] = []
        for each in self.known:
            if mutant.row.number in each.rows and each.verdict.word is Word.UNKNOWN:
                record.unknown(each, f"under the scheme itself: {each.verdict.reason}")
        for each in telling(self.known, mutant.row.number):
            answer = self.verdicts.answer(each.test, scheme)
            record.decided += 1
            record.within |= {**each.verdict.within, **answer.verdict.within}
            if answer.verdict.word is Word.UNSOUND:
                return record.found(Fate.UNSOUND, each, answer.verdict)
            if answer.verdict.word is Word.UNKNOWN:
                record.unknown(each, answer.verdict.reason, answer.internal)
            else:
                passed.append((each, answer.verdict))
        for each, verdict in passed:
            if self._stops(each, verdict, scheme, record):
                return record.found(Fate.STUCK, each, verdict)
        return record.found(Fate.SURVIVES)

    def _stops(
        self, baseline: Baseline, verdict: Verdict, scheme: NamedScheme, record: _Record
    ) -> bool:
        """Whether a mutant gets stuck, or never completes, where the scheme itself always does."""
        found = self._progress(baseline.test, scheme, verdict)
        vacuous = verdict.word is Word.VACUOUS
        stuck = found is not None and found.word is ProgressWord.STUCK
        if not stuck and not vacuous:
            if found is not None and found.word is ProgressWord.UNKNOWN:
                record.unknown(baseline, f"progress: {found.reason}")
            return False
        file = baseline.test.file
        if file not in self.itself:
            self.itself[file] = self._progress(baseline.test, self.scheme, baseline.verdict)
        itself = self.itself[file]
        if itself is None or itself.word is ProgressWord.UNKNOWN:
            why = itself.reason if itself else "not asked"
            record.unknown(baseline, f"progress under the scheme itself: {why}")
            return False
        if itself.word is ProgressWord.STUCK:
            record.stuck.append(baseline.name)
            return False
        if found is not None and stuck:
            record.reason = found.reason
        return True

    def _progress(self, test: LoadedTest, scheme: NamedScheme, verdict: Verdict) -> Progress | None:
        found = self.verdicts.progress(test, scheme, verdict.word)
        return found.progress if found else None


@dataclass
class _Record:
    """What is known of one mutant so far."""

    mutant: MutantAnswer
    decided: int = 0
    reason: str = ""
    within: dict[str, int] = field(default_factory=dict)
    stuck: list[NamedTest] = field(default_factory=list)
    open: dict[NamedTest, TestAndReason] = field(default_factory=dict)
    internal: list[Internal] = field(default_factory=list)

    def unknown(self, baseline: Baseline, reason: str, internal: Internal | None = None) -> None:
        self.open.setdefault(baseline.name, baseline.told(reason))
        self.internal += [internal] if internal else []

    def found(
        self, fate: Fate, baseline: Baseline | None = None, verdict: Verdict | None = None
    ) -> Finding:
        """The finding. All bounds count for one that survives; else those of the test alone."""
        within: Mapping[str, int] = self.within
        if baseline is not None and verdict is not None:
            within = {**baseline.verdict.within, **verdict.within}
        return Finding(
            mutant=self.mutant,
            verdict=fate,
            test=baseline.name.test if baseline else None,
            file=baseline.name.file if baseline else None,
            reason=self.reason or (verdict.reason if verdict else ""),
            within=within,
            decided=self.decided,
            unknown=tuple(self.open.values()),
            stuck=tuple(self.stuck),
            internal=tuple(self.internal),
        )
