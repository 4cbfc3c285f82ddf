"""Which instruction of a scheme is needed: the smallest test that each of its mutants fails.

Only a test that the scheme itself passes says anything of a mutant. So each test is first decided
under the scheme, and then under each mutant of a row that the test uses, the smallest test first.
Then come tests that the scheme fails and a switch of its machine excuses: with that turned on it
passes them, and a mutant may not. Where each of several switches does, the test is asked with each.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from functools import cache
from itertools import groupby
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Struct

from rspverify.answers import Internal
from rspverify.engineering.mutation import Fate, Finding, MutantAnswer, NamedTest, TestAndReason
from rspverify.engineering.setup import Setup
from rspverify.enumeration.lemmas import PROVED_FOR
from rspverify.judge.inputs import LoadedTest, NamedScheme
from rspverify.judge.question import Question, stem
from rspverify.judge.verdicts import Answer, ProgressQuestion, Verdicts
from rspverify.proof.proof import ProofQuestion, ProofTest, ProofWord
from rspverify.records import replace
from rspverify.scheme.cost import Costs
from rspverify.scheme.equivalence import LONGER
from rspverify.scheme.mutants import Mutant
from rspverify.translators import is_scheme
from rspverify.verdict import WRONG, Progress, ProgressWord, Verdict, Word

if TYPE_CHECKING:
    from rspverify.translators import Rows

Places = tuple[int, ...]
Asked = tuple[str, str | None]
"""A test, by its file, and the switches that are on."""


class Baseline(Struct, frozen=True):
    """What a test says of the scheme itself. rows: the numbers of those that it uses."""

    test: LoadedTest
    verdict: Verdict
    rows: frozenset[int]
    seconds: float
    internal: Internal | None = None

    @property
    def passes(self) -> bool:
        """Whether the scheme passes it as it is."""
        return self.verdict.word is Word.SOUND

    @property
    def choices(self) -> tuple[str | None, ...]:
        """The switches with which the scheme passes it, in each way that is known: None for none,
        or some, joined by `+`, where it fails it without."""
        return (None,) if self.passes else self.verdict.sound_if

    @property
    def name(self) -> NamedTest:
        """The test by its names."""
        return named(self.test)


def named(test: LoadedTest) -> NamedTest:
    """A test by its names."""
    return NamedTest(test.program.title or test.file, test.file)


def told(test: LoadedTest, reason: str) -> TestAndReason:
    """A test by its names, and why it is told of."""
    return TestAndReason(test.program.title or test.file, test.file, reason)


def baselines(setup: Setup) -> Generator[Baseline, None, None]:
    """Every test under the scheme itself, the smallest first."""
    scheme, verdicts = setup.schemes[0], setup.verdicts
    questions = [BaselineQuestion(verdicts, test, scheme) for test in setup.tests]
    with closing(verdicts.judge.run(questions)) as decided:
        for test, answer in zip(setup.tests, decided, strict=True):
            rows: frozenset[int] = frozenset()
            if answer.verdict.word is not Word.UNSUPPORTED:
                rows = frozenset(row.number for row in scheme.scheme.rows_used(test.program))
            yield Baseline(test, answer.verdict, rows, answer.seconds, answer.internal)


def telling(known: Iterable[Baseline], row: int) -> list[tuple[Baseline, str | None]]:
    """The tests that say something of the mutants of a row: those that the scheme passes, and then
    those that it passes with switches on, each with these."""
    using = [(each, choice) for each in known if row in each.rows for choice in each.choices]
    return sorted(using, key=lambda it: it[1] is not None)


def changed(mutant: Mutant, scheme: Rows, switches: str | None) -> Rows:
    """The scheme with a mutant's code, on its machine with these switches on."""
    made = mutant.of(scheme)
    if switches is None or made.machine is None:
        return made
    return made.on_machine(made.machine.switched(switches))


def longest(mutants: Sequence[Mutant], known: Sequence[Baseline], workers: int) -> float:
    """About how many seconds the verdicts take if no mutant fails any test; progress left out."""
    seconds = (
        sum(each.seconds for each, _ in telling(known, mutant.row.number)) for mutant in mutants
    )
    return sum(seconds) / workers


def findings(
    setup: Setup,
    mutants: Sequence[Mutant],
    known: Sequence[Baseline],
    costs: Costs,
    *,
    proof: bool = True,
) -> Generator[Finding, None, None]:
    """What the tests make of each mutant, in their order: those of a row together.

    proof: whether of one that passes all it is asked what is proved of it.
    """
    trial = _Trial(setup.schemes[0], mutants, known, costs, setup.verdicts, proof)
    rows = groupby(range(len(mutants)), key=lambda it: mutants[it].row.number)
    questions = [RowQuestion(trial, tuple(those)) for _, those in rows]
    with closing(setup.verdicts.judge.run(questions)) as found:
        for those in found:
            yield from those


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


class BaselineQuestion(Question[Answer], frozen=True):
    """Does the scheme itself pass a test, or with which switches?"""

    kind = "baselines"

    verdicts: Verdicts
    test: LoadedTest
    scheme: NamedScheme

    @property
    def name(self) -> str:
        return stem(self.test.file)

    def parts(self) -> Iterator[Question[Any]]:
        yield self.verdicts.question(self.test, self.scheme)

    def decide(self) -> Answer:
        answer = self.verdicts.answer(self.test, self.scheme)
        return replace(answer, verdict=replace(answer.verdict, execution=None))


class _Trial(Struct, frozen=True):
    """Holds the mutants of a row, given by their places, against tests, the smallest first.

    What a mutant passes passes with more waits, too, and is not asked about again.
    """

    scheme: NamedScheme
    mutants: Sequence[Mutant]
    known: Sequence[Baseline]
    costs: Costs
    verdicts: Verdicts
    proof: bool = True
    itself: dict[str, Progress | None] = msgspec.field(default_factory=dict)
    """Progress of the scheme itself, by test."""

    def asks(self, mutant: Mutant) -> Iterator[Question[Any]]:
        """What may be asked about a mutant, if it passes all tests."""
        schemes = self._schemes(mutant)
        for each, switches in self._telling(mutant):
            question = self.verdicts.question(each.test, schemes[switches])
            yield question
            if each.passes and self.scheme.machine is not None:
                itself = self.verdicts.question(each.test, self.scheme)
                yield from (ProgressQuestion(question), ProgressQuestion(itself))

    def of(self, places: Places) -> tuple[Finding, ...]:
        """What tests make of the mutants of a row, in their order."""
        found, passed = dict[int, Finding](), dict[int, set[Asked]]()
        for place in sorted(places, key=lambda it: len(self.mutants[it].code)):
            passed[place] = set()
            for it in found:
                waits_more = self._waits_more(self.mutants[place], self.mutants[it])
                passed[place] |= {each for each in passed[it] if waits_more(each[1])}
            found[place] = self._of(self.mutants[place], passed[place])
        return tuple(found[place] for place in places)

    def _waits_more(self, one: Mutant, other: Mutant) -> Callable[[str | None], bool]:
        """Whether a mutant only waits longer than another, with a choice of switches on."""

        steps = self.scheme.scheme.steps
        return cache(lambda switches: steps.waits_longer(one.code, other.code, switches))

    def _of(self, mutant: Mutant, sound: set[Asked]) -> Finding:
        """What tests make of a mutant. sound: those that it passes, as far as is known."""
        record, schemes = _Record(shown(mutant, self.costs)), self._schemes(mutant)
        own, tests = mutant.row.code, self._telling(mutant)
        steps = self.scheme.scheme.steps
        record.reason = steps.equivalent(own, mutant.code) or ""
        if record.reason:
            return record.found(Fate.EQUIVALENT)
        stronger = steps.waits_longer(mutant.code, own)
        if stronger:
            sound |= {(each.test.file, switches) for each, switches in tests}
        passed: list[tuple[Baseline, Verdict]] = []
        for each in self.known:
            if mutant.row.number in each.rows and each.verdict.word is Word.UNKNOWN:
                record.unknown(each, f"under the scheme itself: {each.verdict.reason}")
        for each, switches in tests:
            record.decided += 1
            if (each.test.file, switches) in sound:
                record.within |= each.verdict.within
                passed += [(each, each.verdict)] if each.passes else []
                continue
            answer = self.verdicts.answer(each.test, schemes[switches])
            record.within |= {**each.verdict.within, **answer.verdict.within}
            if answer.verdict.word in WRONG:
                return record.found(Fate.UNSOUND, each, answer.verdict, switches)
            if answer.verdict.word is Word.UNKNOWN:
                record.unknown(each, answer.verdict.reason, answer.internal)
                continue
            passed += [(each, answer.verdict)] if each.passes else []
            if answer.verdict.word is Word.SOUND:
                sound.add((each.test.file, switches))
        for each, verdict in passed:
            if self._stops(each, verdict, schemes[None], record):
                return record.found(Fate.STUCK, each, verdict)
        record.reason = LONGER if stronger else ""
        if stronger:
            return record.found(Fate.STRONGER)
        return self._by_proof(schemes[None], record) or record.found(Fate.SURVIVES)

    @property
    def _itself_goes_on(self) -> bool:
        """Whether no program of the scheme itself gets stuck."""
        return ProofQuestion(self.verdicts, self.scheme).decide().progress is ProgressWord.LIVE

    def _by_proof(self, mutant: NamedScheme, record: _Record) -> Finding | None:
        """What is proved of a mutant that passes every test: that it is sound for all programs, or
        a test that its broken obligation is, which the scheme itself passes."""
        verdicts = self.verdicts
        argued = is_scheme(mutant.translator) and verdicts.model.meaning_digest == PROVED_FOR
        if not self.proof or not argued:
            return None
        asked, refuted = ProofQuestion(verdicts, mutant), False
        for test in asked.refutations():
            refuted = True
            if found := self._refuted_by(test, mutant, record):
                return found
        if refuted:
            return None
        proof = asked.decide()
        if proof.word is ProofWord.PROVED:
            going = proof.progress is not ProgressWord.STUCK
            record.reason = str(proof.reason if going else proof.progress_reason)
            if not going and self._itself_goes_on:
                return record.found(Fate.STUCK)
            return record.found(Fate.PROVED)
        coming = (self._refuted_by(test, mutant, record) for test in proof.refuting)
        return next(filter(None, coming), None)

    def _refuted_by(self, shown: ProofTest, mutant: NamedScheme, record: _Record) -> Finding | None:
        """That a mutant is unsound by a test that refutes it, if the scheme itself passes that."""
        verdicts = self.verdicts
        test = shown.loaded(verdicts.settings)
        itself = verdicts.answer(test, self.scheme).verdict
        if itself.word is not Word.SOUND:
            return None
        verdict = verdicts.answer(test, mutant).verdict
        found = record.found(Fate.UNSOUND, Baseline(test, itself, frozenset(), 0.0), verdict)
        return replace(found, text=shown.text)

    def _telling(self, mutant: Mutant) -> list[tuple[Baseline, str | None]]:
        return telling(self.known, mutant.row.number)

    def _schemes(self, mutant: Mutant) -> dict[str | None, NamedScheme]:
        """The mutant, as it is and with each choice of switches that a test asks for."""
        choices = {None, *(switches for _, switches in self._telling(mutant))}
        itself, file = self.scheme.scheme, self.scheme.file
        return {it: NamedScheme.by(changed(mutant, itself, it), file) for it in choices}

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


class RowQuestion(Question[tuple[Finding, ...]], frozen=True):
    """What do tests make of the mutants of a row, which are given by their places?"""

    kind = "mutate"

    trial: _Trial
    places: Places

    @property
    def name(self) -> str:
        """By its first mutant."""
        return self.trial.mutants[self.places[0]].name

    def parts(self) -> Iterator[Question[Any]]:
        for place in self.places:
            yield from self.trial.asks(self.trial.mutants[place])

    def decide(self) -> tuple[Finding, ...]:
        return self.trial.of(self.places)


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
        self.open.setdefault(baseline.name, told(baseline.test, reason))
        self.internal += [internal] if internal else []

    def found(
        self,
        fate: Fate,
        baseline: Baseline | None = None,
        verdict: Verdict | None = None,
        switches: str | None = None,
    ) -> Finding:
        """The finding. All bounds count for one that survives; else those of the test alone."""
        within: Mapping[str, int] = self.within
        if baseline is not None and verdict is not None:
            within = {**baseline.verdict.within, **verdict.within}
        reason = self.reason or (verdict.reason if verdict else "")
        return Finding(
            mutant=self.mutant,
            verdict=fate,
            test=baseline.name.test if baseline else None,
            file=baseline.name.file if baseline else None,
            reason=reason if switches is None else f"{reason}, with {switches}",
            within=within,
            decided=self.decided,
            unknown=tuple(self.open.values()),
            stuck=tuple(self.stuck),
            internal=tuple(self.internal),
            switches=switches,
        )
