"""Compares tests one by one: what the cache knows at once, the rest by deciding it."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from itertools import islice
from typing import Any

from rspverify.answers import Result
from rspverify.assembly.program import AssemblyProgram
from rspverify.axiomatic.model import MemoryModel
from rspverify.convert import counts
from rspverify.engineering.comparison import (
    Change,
    Compared,
    Comparison,
    ComparisonSummary,
    LeftOut,
    OutcomeChange,
    OutcomeChanges,
    RowChange,
    SchemeName,
    TouchedTest,
    Untouched,
    change_of,
    changed_rows,
)
from rspverify.enumeration.lemmas import PROVED_FOR
from rspverify.judge.judge import Judge
from rspverify.judge.question import WORKER_LOST, Incident, Question, Undecided
from rspverify.judge.run import CheckQuestion, Run
from rspverify.limits import LimitReached
from rspverify.litmus.program import Program
from rspverify.mapping.mapped import Mapped, seen_but, untold_in
from rspverify.proof.covered import Obligations, obligations_of
from rspverify.records import replace
from rspverify.scheme.cost import Costs
from rspverify.soundness.case import decided, side_of
from rspverify.soundness.settings import Settings
from rspverify.soundness.sides import ModelSide
from rspverify.soundness.wording import observed
from rspverify.source import Given
from rspverify.translators import Translator, is_scheme, table_of
from rspverify.verdict import WITHOUT_PROGRESS as WITHOUT_OUTCOMES
from rspverify.verdict import Outcome, Word


def started(run: Run, limit: int, costs: Costs, tests: int) -> Comparison:
    """The old and the new scheme of a run, or compilers, which have no rows; and no test yet.

    limit: how many outcomes of a test under a scheme are listed at the most.
    """
    settings = run.verdicts.settings
    argued = run.verdicts.model.meaning_digest == PROVED_FOR

    def proof(scheme: Translator) -> Obligations | None:
        return obligations_of(table_of(scheme)) if argued and is_scheme(scheme) else None

    before, after = (
        SchemeName(
            file=it.file,
            name=it.name,
            machine=it.translator.runs_on,
            machine_file=(it.machine and it.machine.path) or None,
            target=it.machine is None,
            proof=proof(it.translator),
        )
        for it in run.schemes
    )
    old, new = (each.translator for each in run.schemes)
    rows: tuple[RowChange, ...] = ()
    if is_scheme(old) and is_scheme(new):
        rows = changed_rows(table_of(old), table_of(new), costs)
    return Comparison(
        old=before,
        new=after,
        model=run.verdicts.named.name,
        engine=settings.engine,
        reading=settings.reading,
        costs=costs.file,
        limit_outcomes=limit,
        rows=rows,
        summary=ComparisonSummary(tests, 0, counts(Change, ())),
    )


def compared(run: Run, limit: int, files: Sequence[Given]) -> Generator[Compared, None, None]:
    """Each test under both, in their order. Close it when done.

    Raises LimitReached if a worker is lost.
    """
    run.compile(files)
    questions = [CompareQuestion(run.question(file), limit) for file in files]
    yield from run.verdicts.judge.run(questions)


class CompareQuestion(Question[Compared], frozen=True):
    """What changes of a test from the first scheme to the second? check: their results."""

    kind = "compare"

    check: CheckQuestion
    limit: int

    @property
    def name(self) -> str:
        return self.check.name

    @property
    def incident(self) -> Incident:
        return self.check.incident

    def prepare(self) -> None:
        self.check.prepare()

    def parts(self) -> Iterator[Question[Any]]:
        yield from self.check.parts()
        if all(each.known_form for each in self.check.verdicts):
            yield OutcomesQuestion(self.check, self.limit)

    def known(self, judge: Judge) -> Compared | None:
        """Tests that become the same code need no verdict."""
        if self.check.test.unreadable is not None:
            return self.lost(self.check.test.unreadable)
        keyed = all(each.known_form for each in self.check.verdicts)
        return self._known(judge) if keyed else None

    def decide(self) -> Compared:
        judge = self.check.run.verdicts.judge
        if (found := self._known(judge)) is None:
            before, after = self.check.decide()
            found = self._touched(before, after, judge.ask)
        assert found is not None
        return found

    def lost(self, why: Undecided) -> Compared:
        if why is WORKER_LOST:
            return super().lost(why)
        return LeftOut(self.check.test.file, why.word, why.reason, why.internal)

    def _known(self, judge: Judge) -> Compared | None:
        file, run = self.check.test.file, self.check.run
        old, new = (each.form for each in self.check.verdicts)
        if old.unread is not None:
            return LeftOut(file, Word.UNSUPPORTED, old.unread)
        machines = {each.identity for each in run.schemes}
        one_machine = run.verdicts.settings.machine is not None or len(machines) == 1
        if old.code == new.code and (not old.code or one_machine):
            return Untouched(file, compiled=bool(old.code))
        before, after = self.check.known_results()
        return self._touched(before, after, judge.known) if before and after else None

    def _touched(
        self, old: Result, new: Result, ask: Callable[[OutcomesQuestion], OutcomeChanges | None]
    ) -> TouchedTest | None:
        """What changes, as far as it is answered which outcomes are gained and lost."""
        words, outcomes = {old.verdict, new.verdict}, None
        if not words & WITHOUT_OUTCOMES and not (old.internal or new.internal):
            outcomes = ask(OutcomesQuestion(self.check, self.limit))
            if outcomes is None:
                return None
        return TouchedTest(new.test, new.file, change_of(old, new), old, new, outcomes)


class OutcomesQuestion(Question[OutcomeChanges], frozen=True):
    """Which outcomes does a compiled test gain and lose?"""

    kind = "outcomes changed"
    answer = OutcomeChanges

    check: CheckQuestion
    limit: int

    @property
    def content(self) -> tuple[Any, ...]:
        run, test = self.check.run, self.check.test
        forms = tuple((each.form.code, each.form.refusal) for each in self.check.verdicts)
        machines = tuple(each.identity for each in run.schemes)
        model, settings = run.verdicts.named, run.verdicts.settings
        chosen = replace(settings, seconds=None, progress=False, model=model.name)
        return test.source.digest, forms, machines, model.digest, chosen, self.limit

    @property
    def incident(self) -> Incident:
        run = self.check.run
        files = tuple(each.file for each in run.schemes)
        return Incident("compare", (self.check.test.file,), files, run.verdicts.settings)

    def decide(self) -> OutcomeChanges:
        run, program = self.check.run, self.check.test.program
        old, new = (each.translator for each in run.schemes)
        return changed_outcomes(
            program, old, new, run.verdicts.model, run.verdicts.settings, self.limit
        )

    def lost(self, why: Undecided) -> OutcomeChanges:
        return OutcomeChanges(unknown=why.reason, internal=why.internal)

    def worth_keeping(self, answer: OutcomeChanges) -> bool:
        changed = (*(answer.gained or ()), *(answer.lost or ()))
        return all(each.allowed is not None for each in changed)


def changed_outcomes(
    program: Program,
    old: Translator,
    new: Translator,
    model: MemoryModel,
    settings: Settings,
    limit: int,
) -> OutcomeChanges:
    """What the machine reaches under one of the schemes alone, and whether the model allows it.

    Both must have rows for the program. Beyond `limit` outcomes under either nothing is known.
    Raises LimitReached.
    """
    program = decided(program, model, (old, new), settings)
    made = [it.compiled(program) for it in (old, new)]
    untold, others = map(untold_in, made)
    if untold != others:
        return OutcomeChanges(unknown="one tells what is read where nothing looks at it")
    before = _reached(made[0], settings, limit)
    after = _reached(made[1], settings, limit) if len(before) <= limit else before
    if max(len(before), len(after)) > limit:
        return OutcomeChanges(unknown=f"more than {limit:,} outcomes")
    source = ModelSide(program, model, settings.limits(), seen=seen_but(program, untold))
    gained, lost = (
        tuple(_change(program, source, each) for each in sorted(some))
        for some in (after - before, before - after)
    )
    return OutcomeChanges(gained, lost, len(before), len(after))


def _reached(made: AssemblyProgram | Mapped, settings: Settings, limit: int) -> set[Outcome]:
    """The outcomes of the compiled program; where there are more, one more than the limit."""
    return set(islice(side_of(made, settings, settings.limits()).outcomes(), limit + 1))


def _change(program: Program, source: ModelSide, outcome: Outcome) -> OutcomeChange:
    try:
        allowed: bool | None = source.allows(outcome)
    except LimitReached:
        allowed = None
    return OutcomeChange(observed(program, outcome), allowed)
