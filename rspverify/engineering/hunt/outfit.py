"""A hunt from its bounds to its report: what `rspverify hunt` does, but for reading and showing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol, TypedDict

from rspverify.answers import Subject
from rspverify.axiomatic import MemoryModel
from rspverify.convert import counts
from rspverify.engineering.hunt.assumptions import stores_again
from rspverify.engineering.hunt.decide import row_shape
from rspverify.engineering.hunt.estimate import estimates
from rspverify.engineering.hunt.finding import (
    ESTIMATED,
    INTERRUPTED,
    By,
    Estimate,
    Finding,
    HuntedSpace,
    HuntReport,
    Method,
    OperationLeftOut,
)
from rspverify.engineering.hunt.formula.applies import why_not
from rspverify.engineering.hunt.formula.by_formula import ByFormula
from rspverify.engineering.hunt.hunt import Hunt
from rspverify.enumeration.space import Space, chosen_operations
from rspverify.enumeration.survey import Survey
from rspverify.judge.judge import Judge
from rspverify.programs import access_named
from rspverify.scheme import Scheme, Shape
from rspverify.soundness.settings import Settings
from rspverify.source import InputError, Problem
from rspverify.verdict import Word

LONG = 60.0
"""From so many seconds on an estimate is given beforehand."""

_QUICK = 3
"""Programs of up to so many operations are listed before anything is estimated."""

Bounds = tuple[int, int, int, int, int, int | None]


class Watcher(Protocol):
    """Whoever is told how a hunt goes."""

    def surveying(self, events: int, threads: int, done: int, total: int) -> None:
        """So many of the blocks of a phase have been enumerated."""

    def deciding(self, events: int, threads: int, total: int) -> None:
        """The programs of a phase are decided from now on."""

    def asking(self, events: int, threads: int, total: int) -> None:
        """The formulas of a phase are asked from now on."""

    def expecting(self, events: int, seconds: float) -> None:
        """The formulas for so many operations take about so many seconds; only if that is long."""

    def decided(self, count: int) -> None:
        """So many more have been."""

    def answered(self, report: HuntReport) -> None:
        """All formulas have been asked; now the programs are counted."""

    def found(self, finding: Finding) -> None:
        """A program breaks the scheme."""

    def estimated(self, estimates: Sequence[Estimate]) -> None:
        """What it will take."""


def hunting_space(
    scheme: Scheme, bounds: Bounds, names: Sequence[str] | None, *, mixed: bool
) -> tuple[Space, tuple[tuple[str, str], ...]]:
    """The space of a hunt, and which operations are left out of it, with why. Raises InputError.

    What the scheme has no row for is left out. Remote operations of work-group scope are added
    where the scheme gives them other code than those that are not remote: the model knows no
    difference.
    """
    wanted = list(chosen_operations(names, bounds[3]))
    table = {name: scheme.table.get(_shape_named(name)) for name in wanted}
    if not names:
        for kind in ("ld", "st", "inc"):
            near, far = (
                scheme.table.get(_shape_named(f"{kind}.{reach}")) for reach in ("WG", "WG.R")
            )
            if far is not None and (near is None or near.code != far.code):
                table[f"{kind}.WG.R"] = far
    operations = chosen_operations([name for name, row in table.items() if row], bounds[3])
    if not any(table.values()):
        message = (
            f"scheme {scheme.name} must have a row for one of {', '.join(table)}, and has none"
        )
        raise InputError([Problem(None, message)])
    left_out = tuple(
        (name, "the scheme has no row for it") for name, row in table.items() if not row
    )
    again = stores_again(scheme)
    return Space(*bounds, operations=operations, mixed=mixed, again=again), left_out


def _shape_named(name: str) -> Shape:
    return row_shape(access_named(name))


@dataclass(frozen=True)
class Outfit:
    """All that a hunt takes, read.

    by: None for formulas where they apply. count: whether the programs that
    formulas have decided are counted.
    """

    scheme: Scheme
    file: str
    model: MemoryModel
    space: Space
    left_out: tuple[tuple[str, str], ...]
    settings: Settings
    by: str | None = None
    count: bool = True

    def heading(self) -> HuntReport:
        """The report before there is anything to report."""
        return self._report(None)

    def hunt(
        self,
        watcher: Watcher,
        keep: Callable[[Finding], Finding],
        judge: Judge,
        *,
        first: bool,
        only_estimate: bool,
    ) -> HuntReport:
        """Everything, or as much as there was before an interrupt.

        keep: what is done with a finding first.
        """
        survey = Survey(self.space, self.model, judge, watcher.surveying)

        def found(finding: Finding) -> Finding:
            kept = keep(finding)
            watcher.found(kept)
            return kept

        why = "" if self.by == By.PROGRAMS else self._why_programs(survey)
        rest: _Told = {
            "file": self.file,
            "first": first,
            "found": found,
            "decided": watcher.decided,
        }
        hunt: Hunt
        if self.by == By.PROGRAMS or why:
            hunt = Hunt(
                survey,
                self.scheme,
                self.settings,
                phase=lambda phase, count: watcher.deciding(phase.events, phase.threads, count),
                **rest,
            )
        else:
            hunt = ByFormula(
                survey,
                self.scheme,
                self.settings,
                asking=watcher.asking,
                expecting=lambda events, seconds: (
                    watcher.expecting(events, seconds) if seconds > LONG else None
                ),
                **rest,
            )
        told = _Going(survey, hunt, watcher, why)
        try:
            if only_estimate:
                told.expected = self._expected(survey, hunt)
                watcher.estimated(told.expected)
            elif isinstance(hunt, ByFormula):
                self._by_formula(hunt, told)
            else:
                self._foretell(told)
                hunt.run()
            told.stopped = ESTIMATED if only_estimate else hunt.stopped
        except KeyboardInterrupt:
            told.stopped = INTERRUPTED
        return self._report(told)

    def _why_programs(self, survey: Survey) -> str:
        """Why nothing can be decided by formula, if so. Raises InputError where that was wanted."""
        why = why_not(survey, self.scheme, self.settings)
        if why is not None and self.by == By.FORMULA:
            raise InputError([Problem(None, f"--by formula cannot be used here: {why}")])
        return why or ""

    def _by_formula(self, hunt: ByFormula, told: _Going) -> None:
        """Findings first, which come soon; then the count, which does not depend on the scheme."""
        hunt.run()
        if hunt.complete and self.count:
            if self.space.events > _QUICK:
                told.watcher.answered(self._report(told))
            self._foretell(told)
            hunt.count()

    def _foretell(self, told: _Going) -> None:
        """Say what is expected where that takes long."""
        if self.space.events > _QUICK and not told.survey.is_kept():
            told.expected = self._expected(told.survey, told.hunt)
            own = (it for it in told.expected if it.events == self.space.events)
            if any(it.seconds > LONG for it in own):
                told.watcher.estimated(told.expected)

    def _expected(self, survey: Survey, hunt: Hunt) -> tuple[Estimate, ...]:
        if not survey.argued:
            return ()
        larger = hunt.deciding.needs_larger(self.scheme)
        known = min(_QUICK, self.space.events)
        deciding = not isinstance(hunt, ByFormula)
        return tuple(
            estimates(survey, self.scheme, self.settings, known, larger=larger, deciding=deciding)
        )

    def _idle(self) -> tuple[int, ...]:
        """The rows that no operation of the space has; WG.R counts as WG where it has its code."""
        names = {it.replace("WG", "WG.R") for it in self.space.operations if it.endswith("WG")}
        names.update(self.space.operations)
        table = self.scheme.table
        used = {table[shape].number for shape in map(_shape_named, names) if shape in table}
        return tuple(row.number for row in self.scheme.rows if row.number not in used)

    def _report(self, told: _Going | None) -> HuntReport:
        usual = chosen_operations(None, self.space.devices)
        space = HuntedSpace(
            within=self.space.bounds,
            operations=self.space.operations,
            left_out=tuple(OperationLeftOut(*each) for each in self.left_out),
            idle_rows=self._idle(),
            plain_on_atomic=self.space.mixed,
            some_operations=not set(usual) <= set(self.space.operations),
        )
        hunt = told.hunt if told else None
        formulas = hunt.formulas if isinstance(hunt, ByFormula) else None
        method = Method(
            by=By.FORMULA if formulas else By.PROGRAMS,
            why_by_programs=(told.why or None) if told else None,
            formulas=formulas,
            counted=hunt.counted if isinstance(hunt, ByFormula) else bool(hunt and hunt.complete),
            filtered=told.survey.argued if told else True,
            estimates=told.expected if told else (),
        )
        machine, stopped = (
            self.settings.machine or self.scheme.machine.name,
            told.stopped if told else "",
        )
        unknown, internal = (hunt.unknown, tuple(hunt.internal)) if hunt else ((), ())
        complete = hunt.complete if hunt else False
        return HuntReport(
            subject=Subject(
                self.scheme.name, self.file, machine, self.model.name, self.settings.engine
            ),
            space=space,
            method=method,
            phases=tuple(hunt.phases) if hunt else (),
            findings=tuple(hunt.findings) if hunt else (),
            stronger=tuple(hunt.stronger) if hunt else (),
            programs=sum(phase.programs for phase in hunt.phases) if hunt else 0,
            decided=counts(Word, hunt.words if hunt else {}),
            unknown=unknown,
            complete=complete,
            sound=complete and not unknown and not internal,
            stopped=stopped or None,
            interrupted=stopped == INTERRUPTED,
            internal=internal,
            seconds=0.0,
        )


@dataclass
class _Going:
    """A hunt as it goes, and what is said of it. why: of its being by programs, if not chosen."""

    survey: Survey
    hunt: Hunt
    watcher: Watcher
    why: str
    expected: tuple[Estimate, ...] = ()
    stopped: str = ""


class _Told(TypedDict):
    """What every hunt is given."""

    file: str
    first: bool
    found: Callable[[Finding], Finding]
    decided: Callable[[int], None]
