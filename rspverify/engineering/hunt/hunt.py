"""A hunt: a smallest program that breaks a scheme, its rows made stronger, and the next."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing

from msgspec import Struct

from rspverify.axiomatic.model import MemoryModel
from rspverify.convert import counts
from rspverify.engineering.hunt.assumptions import smaller_stand
from rspverify.engineering.hunt.by_formula import ByFormula, why_not
from rspverify.engineering.hunt.by_programs import ByPrograms
from rspverify.engineering.hunt.by_shapes import ByShapes
from rspverify.engineering.hunt.by_shapes import why_not as why_not_by_shapes
from rspverify.engineering.hunt.finding import (
    ESTIMATED,
    FIRST,
    NO_ROW,
    NO_ROWS,
    BlamedRow,
    By,
    Finding,
    HuntedSpace,
    HuntReport,
    Method,
    OperationLeftOut,
)
from rspverify.engineering.hunt.operations import idle_rows
from rspverify.engineering.hunt.strategy import (
    ByProof,
    Strategy,
    loaded_test,
    program_named,
    programs_of,
    proof_of,
)
from rspverify.engineering.setup import subject_of
from rspverify.enumeration.estimate import Estimate, expectations
from rspverify.enumeration.naming import line_of
from rspverify.enumeration.packed import decoded
from rspverify.enumeration.space import Space, chosen_operations
from rspverify.enumeration.survey import Survey
from rspverify.files import write_beside
from rspverify.judge.judge import Judge
from rspverify.litmus.program import LOCAL
from rspverify.proof.covered import Proved
from rspverify.records import replace
from rspverify.scheme.row import AnyRow
from rspverify.soundness.blame import Blame, blame
from rspverify.soundness.case import Case
from rspverify.soundness.check import check
from rspverify.soundness.settings import Settings
from rspverify.soundness.sides import ModelSide
from rspverify.source import InputError, Problem
from rspverify.translators import Translator, has_rows, is_scheme, machine_behind, rows_in
from rspverify.verdict import WRONG, Word

_LONG = 60.0
"""From so many seconds on an estimate is given beforehand."""

_QUICK = 3
"""Programs of up to so many operations are listed before anything is estimated."""


class HuntSetup(Struct, frozen=True):
    """All that a hunt takes, read.

    by: None for a proof if there is one, or else formulas where they apply. first: whether it stops
    at the first finding. count: whether the programs that formulas have decided are counted. proof:
    whether a proof will do.
    """

    scheme: Translator
    file: str
    model: MemoryModel
    space: Space
    left_out: tuple[tuple[str, str], ...]
    settings: Settings
    by: By | None = None
    first: bool = False
    count: bool = True
    proof: bool = True


class Hunt:
    """One hunt. What is known so far can be asked for at any time.

    keep: what is done with a finding before it is shown. Raises InputError where formulas are asked
    for and do not apply.
    """

    def __init__(
        self,
        setup: HuntSetup,
        judge: Judge,
        keep: Callable[[Finding], Finding] = lambda finding: finding,
    ) -> None:
        self.findings: list[Finding] = []
        self.stronger: list[int] = []
        self.switches: list[str] = []
        self.stopped = ""
        self._setup = setup
        self._keep = keep
        self._estimates: tuple[Estimate, ...] = ()
        self._started = time.perf_counter()
        survey = Survey(setup.space, setup.model, judge, self._surveying)
        self._why = None
        self._proof = self._proved(survey, setup.scheme)
        if setup.by is By.PROOF and self._proof is None:
            message = f"--by proof cannot be used here: {setup.scheme.name} is not proved for this"
            raise InputError([Problem(None, message, f"rspverify prove {setup.file} says why")])
        shapes = why_not_by_shapes(survey, setup.scheme)
        if setup.by is By.SHAPES and shapes is not None:
            raise InputError([Problem(None, f"--by shapes cannot be used here: {shapes}")])
        shaped = self._proof is None and setup.by in (None, By.SHAPES) and shapes is None
        if setup.by is not By.PROGRAMS and self._proof is None and not shaped:
            formulas = why_not(survey, setup.scheme, setup.settings)
            self._why = formulas if is_scheme(setup.scheme) or setup.scheme.whole else shapes
        if self._why is not None and setup.by is By.FORMULA:
            raise InputError([Problem(None, f"--by formula cannot be used here: {self._why}")])
        if LOCAL in setup.space.memories and (self._why or setup.by is By.PROGRAMS):
            why = self._why or "--by programs has global memory alone"
            raise InputError([Problem(None, f"hunts with local memory are by formula: {why}")])
        by_programs = self._why is not None or setup.by is By.PROGRAMS
        kind: type[Strategy] = ByPrograms if by_programs else ByFormula
        if self._proof or shaped:
            kind = ByShapes if shaped else ByProof
        self.strategy: Strategy = kind(survey, setup.scheme, setup.settings, file=setup.file)

    def _proved(self, survey: Survey, scheme: Translator) -> Proved | None:
        """What proves a scheme for all programs, if that is asked for and something does."""
        setup = self._setup
        if setup.by is By.PROOF or (setup.by is None and setup.proof):
            return proof_of(survey, scheme, setup.settings)
        return None

    def _surveying(self, events: int, threads: int, done: int, total: int) -> None:
        if not done:
            self.strategy.shown.count(f"listing {programs_of(events, threads)}", total)
        self.strategy.shown.at(done)

    def run(self, *, only_estimate: bool = False) -> HuntReport:
        """Everything. Raises LimitReached; `report` has what was known by then."""
        for _ in self.going(only_estimate=only_estimate):
            pass
        return self.report()

    def going(self, *, only_estimate: bool = False) -> Generator[Finding, None, None]:
        """Finding after finding. Close it when done. Raises LimitReached."""
        strategy = self.strategy
        if only_estimate:
            self._estimates, self.stopped = self._expected(), ESTIMATED
            self.strategy.shown.estimated(self._estimates)
            return
        if isinstance(strategy, ByPrograms):
            self._foretell()
        yield from self._hunt()
        counting = self._setup.count and self._proof is None
        if isinstance(strategy, ByFormula) and strategy.complete and counting:
            self._count(strategy)

    def _hunt(self) -> Generator[Finding, None, None]:
        """Finding after finding, each under what the one before has led to.

        That is the machine with the switch on that excuses it, so that it stands for all that the
        switch does; or else the scheme with the rows made stronger that are at fault.
        """
        with closing(self.strategy.broken()) as coming:
            for program in coming:
                fault = self._found(program)
                yield self.findings[-1]
                switch = self.findings[-1].switch
                if self._setup.first or not (fault.blamed or switch or self.strategy.goes_on):
                    mended = NO_ROW if has_rows(self._setup.scheme) else NO_ROWS
                    self.stopped = FIRST if self._setup.first else mended
                    return
                if switch is not None:
                    self.switches.append(switch)
                    scheme = self.strategy.scheme
                    machine = machine_behind(scheme).switched(switch)
                    self.strategy.schemes.append(scheme.on_machine(machine))
                    continue
                self.strategy.schemes.append(fault.mended)
                numbers = [row.number for row in fault.blamed]
                self.stronger += [each for each in numbers if each not in self.stronger]
                self._proof = self._proved(self.strategy.survey, fault.mended)
                if self._proof is not None:
                    self.strategy.complete = True
                    return

    def _count(self, strategy: ByFormula) -> None:
        """Count the programs, which takes longer than to find those that break the scheme."""
        if self._setup.space.events > _QUICK:
            self.strategy.shown.answered(self.report())
        self._foretell()
        strategy.count()

    def _found(self, program: bytes) -> Blame:
        """Decide a program again from its text, and say which rows are at fault."""
        setup, strategy, test = self._setup, self.strategy, decoded(program)
        line = line_of(test, setup.space)
        settings = replace(setup.settings, shortest=True, progress=False, seconds=0)
        loaded = loaded_test(test, setup.space, settings)
        verdict = check(Case(loaded.program, strategy.scheme, setup.model, settings))
        if verdict.word not in WRONG:
            raise AssertionError(f"{line} is UNSOUND, and from its text {verdict.word.value}")
        case = Case(loaded.program, strategy.scheme, setup.model, strategy.settings)
        fault = Blame((), (), strategy.scheme)
        known = getattr(strategy.scheme, "has_strengths", True)
        if has_rows(strategy.scheme) and known and not strategy.goes_on:
            fault = blame(case, devices=setup.space.devices)
        finding = Finding(
            program=line,
            test=loaded.program.title,
            text=loaded.source.text,
            events=test.size,
            threads=len(test.threads),
            reason=verdict.reason,
            steps=len(verdict.execution.steps) if verdict.execution else None,
            axioms=verdict.axioms,
            blamed=tuple(_blamed(row, fault.mended) for row in fault.blamed),
            mends=tuple(tuple(row.number for row in rows) for rows in fault.mends),
            uses=strategy.uses,
            switch=next(iter(verdict.sound_if), None),
            stronger=tuple(self.stronger),
            switches=tuple(self.switches),
            decided=strategy.done,
            open=len(strategy.unknown),
            seconds=time.perf_counter() - self._started,
        )
        self.findings.append(self._keep(finding))
        return fault

    def _foretell(self) -> None:
        """Say what is expected where that takes long."""
        events = self._setup.space.events
        if events > _QUICK and not self.strategy.survey.is_kept():
            self._estimates = self._expected()
            if any(it.seconds > _LONG for it in self._estimates if it.events == events):
                self.strategy.shown.estimated(self._estimates)

    def _expected(self) -> tuple[Estimate, ...]:
        """What hunts of more and more operations take; by formula, to list the programs."""
        survey, scheme, settings = self.strategy.survey, self._setup.scheme, self.strategy.settings
        if not survey.argued:
            return ()

        def decide(tests: Sequence[bytes]) -> Iterator[None]:
            programs = [program_named(decoded(packed), survey.space) for packed in tests]
            scheme.prepare(programs)
            for program in programs:
                source = ModelSide(program, survey.model, race_free=True)
                check(Case(program, scheme, survey.model, settings), source)
                yield

        deciding = None if isinstance(self.strategy, ByFormula) else decide
        known, larger = min(_QUICK, survey.space.events), not smaller_stand(scheme)
        return tuple(expectations(survey, known, larger=larger, decide=deciding))

    def report(self) -> HuntReport:
        """All that is known by now."""
        setup, it = self._setup, self.strategy
        space, settings = setup.space, setup.settings
        scheme = setup.scheme
        usual = chosen_operations(None, space.devices)
        return HuntReport(
            subject=subject_of(scheme, setup.file, setup.model.name, settings),
            space=HuntedSpace(
                within=space.bounds,
                operations=space.operations,
                left_out=tuple(OperationLeftOut(*each) for each in setup.left_out),
                idle_rows=idle_rows(rows_in(scheme), space) if has_rows(scheme) else (),
                plain_on_atomic=space.mixed,
                some_operations=not set(usual) <= set(space.operations),
                memories=space.memories,
            ),
            method=Method(
                by=it.by,
                why_by_programs=self._why,
                formulas=it.formulas,
                counted=it.counted,
                filtered=it.survey.argued,
                estimates=self._estimates,
            ),
            phases=tuple(it.phases),
            findings=tuple(self.findings),
            stronger=tuple(self.stronger),
            switches=tuple(self.switches),
            programs=it.programs,
            decided=counts(Word, it.words),
            unknown=it.unknown,
            complete=it.complete,
            sound=it.complete and not (it.unknown or it.internal or it.words[Word.UNSOUND]),
            proof=self._proof,
            stopped=self.stopped or None,
            interrupted=False,
            internal=tuple(it.internal),
            seconds=time.perf_counter() - self._started,
        )


def _blamed(row: AnyRow, mended: Translator) -> BlamedRow:
    stronger = next(each.text for each in rows_in(mended).rows if each.number == row.number)
    return BlamedRow(row.number, str(row), row.text, stronger)


def written_to(folder: str, scheme: str, found: Finding) -> str:
    """Write a program to a folder; the name of its file, hunt-SCHEME-rowN.litmus.

    No file that says something else is touched: then a number is added to the name. Raises
    InputError.
    """
    rows = "+".join(f"row{row.number}" for row in found.blamed) or "no-row"
    stem = f"hunt-{re.sub(r'[^A-Za-z0-9._+-]+', '-', scheme).strip('.-') or 'scheme'}-{rows}"
    (place,) = write_beside(folder, stem, lambda _: {".litmus": found.text})
    return str(place)
