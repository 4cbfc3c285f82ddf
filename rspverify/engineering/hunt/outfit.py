"""A hunt from its bounds to its report: what `rspverify hunt` does, but for reading and showing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from rspverify.axiomatic import MemoryModel
from rspverify.check.cache import CachePlace, Warn
from rspverify.check.settings import Settings
from rspverify.engineering.hunt.decide import row_shape
from rspverify.engineering.hunt.estimate import estimates
from rspverify.engineering.hunt.filters import stores_again
from rspverify.engineering.hunt.hunt import Hunt
from rspverify.engineering.hunt.space import Space, access, chosen_operations
from rspverify.engineering.hunt.survey import Survey
from rspverify.report.hunts import (
    ESTIMATED,
    INTERRUPTED,
    BrokenShown,
    EstimateShown,
    HuntReport,
    SpaceShown,
)
from rspverify.scheme import Scheme
from rspverify.source import InputError, Problem

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

    def decided(self, count: int) -> None:
        """So many more have been."""

    def found(self, finding: BrokenShown) -> None:
        """A program breaks the scheme."""

    def estimated(self, estimates: Sequence[EstimateShown]) -> None:
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
    table = {name: scheme.table.get(row_shape(access(name))) for name in wanted}
    if not names:
        for kind in ("ld", "st", "inc"):
            near, far = (
                scheme.table.get(row_shape(access(f"{kind}.{reach}"))) for reach in ("WG", "WG.R")
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


@dataclass(frozen=True)
class Outfit:
    """All that a hunt takes, read."""

    scheme: Scheme
    file: str
    model: MemoryModel
    space: Space
    left_out: tuple[tuple[str, str], ...]
    settings: Settings
    workers: int

    def heading(self) -> HuntReport:
        """The report before there is anything to report."""
        return self._report(None, (), argued=True, stopped="")

    def hunt(
        self,
        watcher: Watcher,
        keep: Callable[[BrokenShown], BrokenShown],
        place: CachePlace | None,
        warn: Warn,
        *,
        first: bool,
        only_estimate: bool,
    ) -> HuntReport:
        """Everything, or as much as there was before an interrupt.

        keep: what is done with a finding first.
        """
        survey = Survey(self.space, self.model, place, warn, self.workers, watcher.surveying)

        def found(finding: BrokenShown) -> BrokenShown:
            kept = keep(finding)
            watcher.found(kept)
            return kept

        hunt = Hunt(
            survey,
            self.scheme,
            self.settings,
            file=self.file,
            first=first,
            found=found,
            phase=lambda phase, count: watcher.deciding(phase.events, phase.threads, count),
            decided=watcher.decided,
        )
        expected: tuple[EstimateShown, ...] = ()
        stopped = ""
        try:
            if only_estimate or (self.space.events > _QUICK and not survey.is_kept()):
                expected = self._expected(survey, hunt)
                long = any(it.seconds > LONG for it in expected if it.events == self.space.events)
                if only_estimate or long:
                    watcher.estimated(expected)
            if not only_estimate:
                hunt.run()
            stopped = ESTIMATED if only_estimate else hunt.stopped
        except KeyboardInterrupt:
            stopped = INTERRUPTED
        return self._report(hunt, expected, argued=survey.argued, stopped=stopped)

    def _expected(self, survey: Survey, hunt: Hunt) -> tuple[EstimateShown, ...]:
        if not survey.argued:
            return ()
        larger = hunt.deciding.needs_larger(self.scheme)
        known = min(_QUICK, self.space.events)
        return tuple(estimates(survey, self.scheme, self.settings, known, larger=larger))

    def _report(
        self,
        hunt: Hunt | None,
        expected: tuple[EstimateShown, ...],
        *,
        argued: bool,
        stopped: str,
    ) -> HuntReport:
        space = SpaceShown(
            self.space.bounds,
            self.space.operations,
            self.left_out,
            self.space.mixed,
            some=not set(chosen_operations(None, self.space.devices)) <= set(self.space.operations),
        )
        return HuntReport(
            scheme=self.scheme.name,
            file=self.file,
            machine=self.settings.machine or self.scheme.machine,
            model=self.model.name,
            space=space,
            argued=argued,
            estimates=expected,
            phases=tuple(hunt.phases) if hunt else (),
            findings=tuple(hunt.findings) if hunt else (),
            stronger=tuple(hunt.stronger) if hunt else (),
            words=hunt.words if hunt else {},
            unknown=hunt.unknown if hunt else (),
            complete=hunt.complete if hunt else False,
            stopped=stopped,
            seconds=0.0,
            internal=tuple(hunt.internal) if hunt else (),
        )
