"""`hunt`: The smallest programs that break a scheme, of all within bounds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from rspverify.answers import RowsAtFault
from rspverify.api.asked import Asked, Ending
from rspverify.api.details import known_details
from rspverify.api.inputs import AScheme, schemes_given
from rspverify.api.parameters import Decided, question
from rspverify.axiomatic.coverage import require_vocabulary
from rspverify.corpus.inputs import meant_by
from rspverify.engineering.hunt.by_shapes import are_alike
from rspverify.engineering.hunt.finding import By, Finding, HuntReport
from rspverify.engineering.hunt.hunt import Hunt, HuntSetup, written_to
from rspverify.engineering.hunt.operations import hunting_space
from rspverify.files import require_folder
from rspverify.judge.judge import Judge
from rspverify.judge.run import read_inputs
from rspverify.litmus.program import LOCAL
from rspverify.options import argument, option
from rspverify.records import replace
from rspverify.soundness.settings import Settings, explain_command
from rspverify.source import Problems, Source, name_of, require
from rspverify.terminal.command import EVERYWHERE, PAGES, Command
from rspverify.translators import has_rows, rows_in
from rspverify.verdict import Word

if TYPE_CHECKING:
    from rich.console import Console

    from rspverify.render.document import Document
    from rspverify.render.hunt import HuntStream

MOST = 7
"""The most of anything that a program has."""


@dataclass(frozen=True)
class HuntParameters(Decided):
    """The programs of a hunt, and how they are decided."""

    scheme: AScheme = argument(
        "A scheme: a .yaml file, or a name as of list; or a compiler, as amdgpu:gfx942.",
        completes="scheme",
    )
    settings: Settings = Settings()
    events: int = option(4, "The most operations.", least=1, most=MOST)
    threads: int = option(3, "The most threads.", least=1, most=MOST)
    workgroups: int | None = option(
        None,
        "The most work-groups. Default: as many as threads; 1 where nothing tells them apart.",
        least=1,
        most=MOST,
    )
    devices: int = option(1, "The most devices.", least=1, most=MOST)
    locations: int = option(2, "The most locations.", least=1, most=MOST)
    guards: int | None = option(None, "The most ifs. Default: any number.", least=0)
    operations: Sequence[str] = option(
        (),
        "An operation that programs may have, as st.na or ld.DV.R; more than once for "
        "several. Default: those of Tab. 3, with several devices also those of scope ALL.",
        name="--operation",
    )
    scopes: Sequence[str] = option(
        (),
        "Instead of --operation: loads, stores and increments of these scopes, as WG,DV. "
        "Default where --orders is given: WG,DV, with several devices also ALL.",
        commas=True,
    )
    orders: Sequence[str] = option(
        (),
        "The same in these orders, of rlx,acq,rel,ar,sc. Default: the usual one of each.",
        commas=True,
    )
    kinds: Sequence[str] = option(
        (),
        "The same of these kinds, of na,ld,st,inc,cas,F: plain operations, loads, stores, "
        "increments, compare-exchanges, fences. Default: all but the last two.",
        commas=True,
    )
    memories: Sequence[str] = option(
        (),
        "Where locations may be: global, local, or global,local. Default: global. With "
        "local memory fences are for both, and programs are not counted.",
        commas=True,
    )
    plain_on_atomic: bool = option(
        False, "Let plain operations access locations that are declared atomic, too."
    )
    by: By | None = option(
        None,
        "Decide by a proof of the scheme, by one formula for many programs, all of a shape at "
        "once, or program by program. Default: proof if there is one (see prove), shapes for "
        "tables for processors, or else formula where it applies (no --plain-on-atomic, rows that "
        "give back their locks).",
    )
    proof: bool = option(
        True,
        "Say at once that a scheme is sound for all programs, where that is proved.",
        name="--proof/--no-proof",
    )
    count: bool = option(
        True,
        "By formula: list and count the programs, too; the verdict does not need it.",
        name="--count/--no-count",
    )
    first: bool = option(False, "Stop at the first program that breaks the scheme.")
    estimate: bool = option(
        False,
        "Only say how many programs there are, and how long it takes to list "
        "them (program by program also to decide them).",
    )
    write: str | Path | None = option(
        None, "Write each program found there, as hunt-SCHEME-rowN.litmus.", metavar="DIR"
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        message = "operations must not be named where scopes, orders or kinds are"
        require(not self.operations or not (self.scopes or self.orders or self.kinds), message)


class Hunting(Asked[Finding, HuntReport]):
    """Gives the programs that break a scheme, the smallest first, each with the rows at fault.

    After each the hunt goes on with these rows made stronger.
    """

    def __init__(self, setup: HuntSetup, judge: Judge, asked: HuntParameters) -> None:
        super().__init__(
            lambda _: self._hunt.going(only_estimate=asked.estimate),
            self._whole,
            "hunt",
            document=lambda report, _: self._with_details(report),
            ending=self._end,
            notes=setup.model.notes,
        )
        self._unwritten = Problems()
        self._setup, self._judge, self._write = setup, judge, str(asked.write or "")
        self._hunt = Hunt(setup, judge, self._kept)

    def _kept(self, found: Finding) -> Finding:
        """Written if that is asked for, and shown whatever comes of it."""
        with self._unwritten:
            if self._write:
                return replace(found, file=written_to(self._write, self._setup.scheme.name, found))
        return found

    def so_far(self) -> HuntReport:
        """All that is known by now."""
        return self._hunt.report()

    def _whole(self, _: object) -> HuntReport:
        report, stop = self.so_far(), self.stopped
        stopped, interrupted = stop.reason or report.stopped, stop.interrupted
        return replace(report, stopped=stopped, interrupted=interrupted, seconds=self.seconds)

    def stream(self, console: Console, form: str) -> HuntStream:
        """Who shows programs as they are found, and how far the hunt is."""
        from rspverify.render.hunt import HuntStream

        stream = HuntStream(console, self.so_far(), text=form == "text")
        self._hunt.strategy.shown = stream
        return stream

    def _end(self, report: HuntReport) -> Ending:
        return Ending(
            internal=bool(report.internal),
            found=any(it.switch is None for it in report.findings),
            undecided=bool(report.unknown or report.findings),
            unwritten=self._unwritten,
        )

    def _with_details(self, report: HuntReport) -> Document:
        """All of it, each program under the scheme that it was found to break."""
        from rspverify.drawing.details import Broken
        from rspverify.judge.faults import row_at_fault
        from rspverify.judge.inputs import NamedModel, NamedScheme
        from rspverify.judge.verdicts import Verdicts
        from rspverify.render.hunt import document

        setup = self._setup
        rows = {}
        if has_rows(setup.scheme):
            rows = {row.number: row for row in rows_in(setup.scheme).rows}
        broken: dict[str, Broken] = {}
        at_fault: dict[str, RowsAtFault] = {}
        for found, scheme in zip(report.findings, self._hunt.strategy.schemes, strict=False):
            file, command = found.file or f"{found.test}.litmus", ""
            if found.file and not found.stronger:
                command = explain_command(setup.file, found.file, setup.settings)
            named, source = NamedScheme.by(scheme, setup.file), Source(file, found.text)
            broken[found.text] = Broken(source, named, Word.UNSOUND, False, command)
            blamed = (rows[row.number] for row in found.blamed)
            at_fault[found.text] = RowsAtFault(tuple(map(row_at_fault, blamed)))
        verdicts = Verdicts(self._judge, NamedModel.by(setup.model), setup.settings)
        return document(report, known_details(broken, verdicts, self.stopped), at_fault)


@question(HuntParameters)
def hunt(asked: HuntParameters) -> Hunting:
    """Hunt for programs that break a scheme: all programs within bounds, up to symmetry.

    The smallest that is UNSOUND is shown, with the row at fault: one with the fewest
    operations, then the fewest threads, and program by program also the shortest text; through a
    compiler, of those first in which two threads share two locations. The hunt goes on with that
    row made as strong as can be, so that the next one shows another row, until every program within
    the bounds is sound. An interrupted hunt goes on where it was. By formula findings come first,
    and the count of the programs last.

    In Python: HuntParameters has what can be chosen. Raises InputError.

    Examples:
        >>> next(iter(rspverify.hunt("original", events=2))).program
        'r0=inc.WG x || st.DV.R x 10'
    """
    settings = asked.settings
    judge = asked.decider
    (named,) = meant_by(schemes=schemes_given(asked.scheme)).schemes
    if asked.write is not None:
        require_folder(str(asked.write), "programs")
    run = read_inputs([named], settings, judge, compilers=True)
    table, model = run.schemes[0], run.verdicts.model
    require_vocabulary(model, table.translator.language or "OpenCL")
    groups = asked.workgroups or (1 if are_alike(table.translator, model) else asked.threads)
    bounds = (asked.events, asked.threads, groups, asked.devices, asked.locations, asked.guards)
    space, left_out = hunting_space(
        table.translator,
        bounds,
        asked.operations or None,
        mixed=asked.plain_on_atomic,
        scopes=asked.scopes,
        orders=asked.orders,
        kinds=asked.kinds,
        memories=asked.memories,
    )
    message = "programs with local memory are not listed, so that nothing can be estimated"
    require(not asked.estimate or LOCAL not in space.memories, message)
    setup = HuntSetup(
        table.translator,
        name_of(named),
        model,
        space,
        left_out,
        replace(settings, model=model.name),
        asked.by,
        first=asked.first,
        count=asked.count and LOCAL not in space.memories,
        proof=asked.proof and not asked.estimate,
    )
    return Hunting(setup, judge, asked)


COMMAND = Command(
    hunt,
    ends="1 a program breaks the scheme; 3 none does, but some are OPEN or UNKNOWN; 0 all are "
    "sound (or only an estimate was asked for)",
    takes=("model", "seconds", "machine", "l2"),
    forms=PAGES,
    also=EVERYWHERE,
)
