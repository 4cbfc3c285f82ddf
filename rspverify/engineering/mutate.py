"""Which instruction of a scheme is needed: the smallest test that each of its mutants fails.

Only a test that the scheme itself passes says anything of a mutant. So each test is first decided
under the scheme, and then under each mutant of a row that the test uses, the smallest test first.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from rspverify.answers import Internal
from rspverify.check.workers import spread
from rspverify.engineering.cases import Case, Workbench
from rspverify.engineering.judge import Judge
from rspverify.engineering.mutation import (
    Fate,
    Finding,
    MutantAnswer,
    NamedTest,
    TestAndReason,
)
from rspverify.scheme import Scheme, rows_used
from rspverify.scheme.cost import Costs
from rspverify.scheme.mutants import Mutant
from rspverify.verdict import Progress, ProgressWord, Verdict, Word


@dataclass(frozen=True)
class Ground:
    """What a test says of the scheme itself. rows: the numbers of those that it uses."""

    case: Case
    verdict: Verdict
    rows: frozenset[int]
    seconds: float
    internal: Internal | None = None

    @property
    def test(self) -> NamedTest:
        """By its names."""
        return named(self.case)


def named(case: Case) -> NamedTest:
    """A test by its names."""
    return NamedTest(case.program.title or case.file, case.file)


def ground(bench: Workbench, judge: Judge, workers: int) -> Generator[Ground, None, None]:
    """Every test under the scheme itself, the smallest first."""
    scheme, file = bench.schemes[0], bench.scheme_files[0]

    def decide(place: int) -> tuple[Verdict, float, Internal | None]:
        answer = judge.answer(bench.cases[place], scheme, file)
        return replace(answer.verdict, execution=None), answer.seconds, answer.internal

    decided = spread(decide, range(len(bench.cases)), workers)
    try:
        for case, (verdict, seconds, internal) in zip(bench.cases, decided, strict=True):
            rows: frozenset[int] = frozenset()
            if verdict.word is not Word.UNSUPPORTED:
                rows = frozenset(row.number for row in rows_used(case.program, scheme))
            yield Ground(case, verdict, rows, seconds, internal)
    finally:
        decided.close()


def telling(grounds: Iterable[Ground], row: int) -> list[Ground]:
    """The tests that say something of the mutants of a row: the scheme passes them."""
    return [each for each in grounds if row in each.rows and each.verdict.word is Word.SOUND]


def longest(mutants: Sequence[Mutant], grounds: Sequence[Ground], workers: int) -> float:
    """About how many seconds the verdicts take if no mutant fails any test; progress left out."""
    seconds = (
        sum(each.seconds for each in telling(grounds, mutant.row.number)) for mutant in mutants
    )
    return sum(seconds) / workers


def findings(
    bench: Workbench,
    mutants: Sequence[Mutant],
    grounds: Sequence[Ground],
    costs: Costs,
    judge: Judge,
    workers: int,
) -> Generator[Finding, None, None]:
    """What the tests make of each mutant, in their order."""
    trial = _Trial(bench.schemes[0], bench.scheme_files[0], grounds, costs, judge)

    def decide(place: int) -> Finding:
        return trial.of(mutants[place])

    yield from spread(decide, range(len(mutants)), workers, ahead=2)


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

    scheme: Scheme
    file: str
    grounds: Sequence[Ground]
    costs: Costs
    judge: Judge
    known: dict[str, Progress | None] = field(default_factory=dict)
    """Progress of the scheme itself, by test."""

    def of(self, mutant: Mutant) -> Finding:
        record = _Record(shown(mutant, self.costs))
        scheme = mutant.of(self.scheme)
        passed: list[tuple[Ground, Verdict]] = []
        for each in self.grounds:
            if mutant.row.number in each.rows and each.verdict.word is Word.UNKNOWN:
                record.unknown(each, f"under the scheme itself: {each.verdict.reason}")
        for each in telling(self.grounds, mutant.row.number):
            answer = self.judge.answer(each.case, scheme, self.file)
            record.decided += 1
            record.bound(each.verdict, answer.verdict)
            if answer.verdict.word is Word.UNSOUND:
                return record.found(Fate.UNSOUND, each, answer.verdict)
            if answer.verdict.word is Word.UNKNOWN:
                record.unknown(each, answer.verdict.reason, answer.internal)
            else:
                passed.append((each, answer.verdict))
        stopping = (each for each in passed if self._stops(*each, scheme, record))
        for each, verdict in stopping:
            return record.found(Fate.STUCK, each, verdict)
        return record.found(Fate.SURVIVES)

    def _stops(self, ground: Ground, verdict: Verdict, scheme: Scheme, record: _Record) -> bool:
        """Whether a mutant gets stuck, or never completes, where the scheme itself always does."""
        case = ground.case
        found = self.judge.progress(case, scheme, verdict)
        vacuous = verdict.word is Word.VACUOUS
        stuck = found is not None and found.word is ProgressWord.STUCK
        if not stuck and not vacuous:
            if found is not None and found.word is ProgressWord.UNKNOWN:
                record.unknown(ground, f"progress: {found.reason}")
            return False
        itself = self._itself(ground)
        if itself is None or itself.word is ProgressWord.UNKNOWN:
            why = itself.reason if itself else "not asked"
            record.unknown(ground, f"progress under the scheme itself: {why}")
            return False
        if itself.word is ProgressWord.STUCK:
            record.stuck.append(ground.test)
            return False
        if found is not None and stuck:
            record.reason = found.reason
        return True

    def _itself(self, ground: Ground) -> Progress | None:
        file = ground.case.file
        if file not in self.known:
            self.known[file] = self.judge.progress(ground.case, self.scheme, ground.verdict)
        return self.known[file]


class _Record:
    """What is known of one mutant so far."""

    def __init__(self, mutant: MutantAnswer) -> None:
        self.mutant = mutant
        self.decided = 0
        self.reason = ""
        self.stuck: list[NamedTest] = []
        self._unknown: dict[NamedTest, str] = {}
        self._internal: list[Internal] = []
        self._within: dict[str, int] = {}

    def unknown(self, ground: Ground, reason: str, internal: Internal | None = None) -> None:
        self._unknown.setdefault(ground.test, reason)
        if internal is not None:
            self._internal.append(internal)

    def bound(self, *verdicts: Verdict) -> None:
        for verdict in verdicts:
            self._within |= verdict.within

    def found(
        self, fate: Fate, ground: Ground | None = None, verdict: Verdict | None = None
    ) -> Finding:
        """The finding. All bounds count for one that survives; else those of the test alone."""
        within: Mapping[str, int] = self._within
        if ground is not None and verdict is not None:
            within = {**ground.verdict.within, **verdict.within}
        return Finding(
            mutant=self.mutant,
            verdict=fate,
            test=ground.test.test if ground else None,
            file=ground.test.file if ground else None,
            reason=self.reason or (verdict.reason if verdict else ""),
            within=dict(within),
            decided=self.decided,
            unknown=tuple(
                TestAndReason(it.test, it.file, why) for it, why in self._unknown.items()
            ),
            stuck=tuple(self.stuck),
            internal=tuple(self._internal),
        )
