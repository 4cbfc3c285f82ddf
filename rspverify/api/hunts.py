"""Which smallest program breaks a scheme, of all programs within bounds?"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rspverify.api.asked import Asked, Stop, printed
from rspverify.api.inputs import AScheme, schemes_given, settled
from rspverify.api.judges import chosen
from rspverify.convert import to_json
from rspverify.corpus.inputs import meant_by
from rspverify.engineering.hunt.by import By
from rspverify.engineering.hunt.files import written_to
from rspverify.engineering.hunt.finding import Finding, HuntReport
from rspverify.engineering.hunt.hunt import Hunt, HuntSetup
from rspverify.engineering.hunt.operations import hunting_space
from rspverify.engineering.hunt.strategy import Watcher
from rspverify.files import require_folder
from rspverify.judge.judge import Judge
from rspverify.judge.reading import read_inputs
from rspverify.litmus.program import LOCAL
from rspverify.records import replace
from rspverify.soundness.settings import Settings
from rspverify.source import InputError, Problem, name_of, require

if TYPE_CHECKING:
    from rspverify.api.pages import Made

MOST = 7
"""The most of anything that a program has."""


class Hunting(Asked[Finding, HuntReport]):
    """Gives the programs that break a scheme, the smallest first, each with the rows at fault.

    After each the hunt goes on with these rows made stronger. unwritten: what was wrong where a
    program was to be written.
    """

    def __init__(
        self, setup: HuntSetup, judge: Judge, watcher: Watcher, write: str, *, estimate: bool
    ) -> None:
        super().__init__()
        self.unwritten: list[Problem] = []
        self.notes = setup.model.notes
        self._setup, self._judge = setup, judge
        self._write, self._estimate = write, estimate
        self._hunt = Hunt(setup, judge, watcher, self._kept)

    def _kept(self, found: Finding) -> Finding:
        """Written if that is asked for, and shown whatever comes of it."""
        if not self._write:
            return found
        try:
            return replace(found, file=written_to(self._write, self._setup.scheme.name, found))
        except InputError as error:
            self.unwritten.extend(error.problems)
            return found

    def _answers(self) -> Generator[Finding, None, None]:
        return self._hunt.going(only_estimate=self._estimate)

    def so_far(self) -> HuntReport:
        """All that is known by now."""
        return self._hunt.report()

    def _report(self, stop: Stop) -> HuntReport:
        report = self._hunt.report()
        return replace(
            report,
            stopped=stop.reason or report.stopped,
            interrupted=stop.interrupted,
            seconds=self.seconds,
        )

    @property
    def forms(self) -> Mapping[str, Callable[[HuntReport], str]]:
        """Text, JSON, and a page of HTML."""
        return {"text": _text, "json": to_json, "html": lambda it: self.page(it, Stop())}

    def page(self, report: HuntReport, stop: Stop, made: Made | None = None) -> str:
        """A page of HTML; what it shows besides the report is asked for, unless it was stopped.

        made: of what is shown, if it is not to be a page that stands alone.
        """
        from rspverify.api.pages import hunt_page
        from rspverify.render.page_html import page

        return hunt_page(report, self._hunt, self._setup, self._judge, stop, made or page)


def _text(report: HuntReport) -> str:
    from rspverify.render.hunt_text import conclusion, finding, heading

    parts = list(heading(report))
    for each in report.findings:
        parts += finding(each, report.subject.scheme, report.method.by)
    return printed([*parts, *conclusion(report)])


def hunt(
    scheme: AScheme,
    settings: Settings | None = None,
    *,
    events: int = 4,
    threads: int = 3,
    workgroups: int | None = None,
    devices: int = 1,
    locations: int = 2,
    guards: int | None = None,
    operations: Sequence[str] | None = None,
    scopes: Sequence[str] = (),
    orders: Sequence[str] = (),
    kinds: Sequence[str] = (),
    memories: Sequence[str] = (),
    plain_on_atomic: bool = False,
    by: By | None = None,
    count: bool = True,
    first: bool = False,
    estimate: bool = False,
    write: str | Path | None = None,
    watcher: Watcher | None = None,
    judge: Judge | None = None,
) -> Hunting:
    """The programs that break a scheme, of all programs within bounds, up to symmetry.

    events, threads, workgroups (None: as many as threads), devices, locations, guards (None: any
    number): at most so many of each. operations: as `st.na` or `ld.DV.R`; None for those of Tab. 3.
    scopes, orders: instead, all loads, stores and increments of these, as `WG` and `rlx`. kinds:
    the same of these kinds, of na, ld, st, inc, cas (compare-exchanges), F (fences). memories:
    where locations may be, `global` (where it is empty) or `local`; with local memory programs are
    not counted.
    plain_on_atomic: plain operations may access locations that are declared atomic. by: one formula
    for many programs, or program by program; None for formulas where they apply. count: by formula,
    the programs are counted, too. first: stop at the first finding. estimate: only say how many
    programs there are. write: a folder for what is found. watcher: is told how it goes. Raises
    InputError.

    Examples:
        >>> next(iter(rspverify.hunt("original", events=2))).program
        'r0=inc.WG x || st.DV.R x 10'
    """
    settings = settled(settings)
    judge = chosen(judge, settings)
    most = {"events": events, "threads": threads, "devices": devices, "locations": locations}
    for name, bound in (most | {"workgroups": workgroups or threads}).items():
        require(1 <= bound <= MOST, f"{name} must be from 1 to {MOST}, not {bound}")
    require(guards is None or guards >= 0, f"guards must be 0 or more, not {guards}")
    (named,) = meant_by(schemes=schemes_given(scheme)).schemes
    if write is not None:
        require_folder(str(write), "programs")
    message = "operations must not be named where scopes, orders or kinds are"
    require(not operations or not (scopes or orders or kinds), message)
    (table,), model = read_inputs([named], settings, judge).tables()
    bounds = (events, threads, workgroups or threads, devices, locations, guards)
    space, left_out = hunting_space(
        table.scheme,
        bounds,
        operations,
        mixed=plain_on_atomic,
        scopes=scopes,
        orders=orders,
        kinds=kinds,
        memories=memories,
    )
    message = "programs with local memory are not listed, so that nothing can be estimated"
    require(not estimate or LOCAL not in space.memories, message)
    setup = HuntSetup(
        table.scheme,
        name_of(named),
        model,
        space,
        left_out,
        replace(settings, model=model.name),
        by,
        first=first,
        count=count and LOCAL not in space.memories,
    )
    return Hunting(setup, judge, watcher or Watcher(), str(write or ""), estimate=estimate)
