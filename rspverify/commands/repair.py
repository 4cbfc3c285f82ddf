"""`repair`: The cheapest sound schemes near a broken one."""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Self

from rspverify.answers import Result
from rspverify.api.asked import Asked, Ending, Shown, Stop
from rspverify.api.details import MOST, known, known_details
from rspverify.api.inputs import AScheme, schemes_given, tests_given
from rspverify.api.judges import chosen
from rspverify.api.parameters import COSTS, OfSchemeAndTests, question
from rspverify.corpus.inputs import inputs_meant
from rspverify.engineering.hunt.assumptions import alone_may_break
from rspverify.engineering.repair.answer import RepairReport, SchemeFound
from rspverify.engineering.repair.constraints import EVERY_ROW, Constraints
from rspverify.engineering.repair.hunting import Hunt
from rspverify.engineering.repair.run import Repair, settings_for
from rspverify.engineering.setup import Setup, read_setup
from rspverify.judge.judge import Judge
from rspverify.limits import LimitReached
from rspverify.options import option
from rspverify.scheme.cost import default_costs, read_costs
from rspverify.soundness.settings import explain_command
from rspverify.source import InputError, Problem, require
from rspverify.terminal.ask import asking
from rspverify.terminal.command import EVERYWHERE, OF_A_CASE, PAGES, REPORTED, Command
from rspverify.verdict import Word

if TYPE_CHECKING:
    from rich.console import Console

    from rspverify.render.document import Document


@dataclass(frozen=True)
class RepairParameters(OfSchemeAndTests):
    """What candidates may be, and what they are put to.

    constraints: in Python, all in one of what candidates may be.
    """

    than: AScheme | None = option(
        None, "Say whether any scheme found is cheaper than this.", metavar="SCHEME"
    )
    rows: str | None = option(
        None,
        "The rows that may change, joined by commas, or `all`. Default: those that have "
        "more than an access to memory.",
    )
    allow: Sequence[str] = option(
        (),
        "Make codes of these instructions alone, joined by commas, with their reach "
        "(`INV_L1 WG`) or without it. Accesses need not be named.",
        commas=True,
    )
    forbid: Sequence[str] = option(
        (), "Make no code of these instructions, joined by commas.", commas=True
    )
    max_length: int | None = option(
        None,
        "The most instructions of a code. Default: as many as the scheme's longest has, "
        "but 7 at least.",
        least=1,
        most=16,
    )
    store_again: int | None = option(
        None,
        "How often the code of a row that writes may store the same again. Default: as "
        "often as a row of the scheme does.",
        least=0,
        most=3,
    )
    set_aside: bool = option(False, "Leave out the tests that no candidate passes, and name them.")
    costs: str | Path | None = option(None, COSTS, metavar="FILE")
    count: int = option(5, "So many schemes of the least cost at most.", least=1)
    sample: int = option(
        8,
        "So many tests for each row that may change, the smallest, are decided by the "
        "explicit engine, too.",
        least=0,
    )
    hunt_events: int = option(
        3,
        "Put what passes every test to all programs of so many operations, too (hunt); 0: to none.",
        least=0,
    )
    write: str | Path | None = option(None, "Write each scheme found as a file.", metavar="DIR")
    constraints: Constraints | None = None
    judge: Judge | None = None

    def wanted(self) -> Constraints:
        """What is asked of candidates. Raises InputError."""
        if self.constraints is not None:
            return self.constraints
        numbers = [each.strip() for each in (self.rows or "").split(",") if each.strip()]
        every = self.rows is not None and numbers == [EVERY_ROW]
        right = all(each.isascii() and each.isdigit() for each in numbers)
        require(
            every or (right and (self.rows is None or bool(numbers))),
            f"--rows must be the numbers of rows, joined by commas, or {EVERY_ROW}, "
            f"not {self.rows!r}",
        )
        return Constraints(
            None if self.rows is None or every else tuple(map(int, numbers)),
            tuple(self.allow),
            tuple(self.forbid),
            self.max_length,
            every,
            self.store_again,
            self.set_aside,
        )


class Repairing(Asked[SchemeFound, RepairReport]):
    """Gives the schemes that were found, once the search is over.

    on_test: told how many tests are decided under the scheme itself, and of how many; on_prepared:
    of the report of that alone; on_step: of each candidate, how many there were, and the least
    cost. unwritten: what was wrong where a scheme was to be written.
    """

    def __init__(self, setup: Setup, search: Repair, folder: str = "") -> None:
        super().__init__()
        self.notes = setup.verdicts.model.notes
        self.on_test: Callable[[int, int], None] = lambda done, of: None
        self.on_prepared: Callable[[RepairReport], object] = lambda report: None
        self.on_step: Callable[[int, int], None] = lambda candidates, least: None
        self.unwritten: tuple[Problem, ...] = ()
        self._setup, self._search, self._folder = setup, search, folder
        self._prepared = False

    def prepare(self) -> RepairReport:
        """Decide what each test says of the scheme, which comes first; the report of that alone.

        Raises InputError where no row may change.
        """
        if not self._prepared:
            tried = partial(self._told, "on_step")
            self._search.prepare(partial(self._told, "on_test"), tried)
            self._prepared = True
            self.on_prepared(self._search.report())
        return self._search.report()

    def _told(self, listener: str, *numbers: int) -> None:
        getattr(self, listener)(*numbers)

    def _answers(self) -> Generator[SchemeFound, None, None]:
        self.prepare()
        self._search.run()
        yield from self._search.report().found

    def _report(self, stop: Stop) -> RepairReport:
        if not self._prepared and stop.interrupted:
            raise KeyboardInterrupt
        if not self._prepared:  # nothing is known that could be reported
            raise LimitReached(f"before the search began: {stop.reason or 'not asked'}")
        report = self._search.report()
        if self._folder:
            try:
                report = self.write(self._folder, report)
            except InputError as error:
                self.unwritten = error.problems
        return report

    def write(self, folder: str | Path, report: RepairReport) -> RepairReport:
        """The report once each scheme that was found is in a file. Raises InputError."""
        return self._search.written_to(str(folder), report)

    def stream(self, console: Console, form: str) -> Shown[SchemeFound, RepairReport]:
        """Shows how far the search is."""
        return _Searching(console, self)

    def ending(self, report: RepairReport) -> Ending:
        """1: no candidate passes. 3: something was not decided."""
        hunted = any(each.hunted and each.hunted.unknown for each in report.found)
        undecided = bool(self.stopped.limit or report.claim.stopped or hunted)
        undecided |= not report.claim.exact
        return Ending(
            internal=bool(report.internal),
            found=not report.found and not undecided,
            undecided=undecided,
            unwritten=self.unwritten,
        )

    def document(self, report: RepairReport, *, detailed: bool = False) -> Document:
        """All of it; detailed: the schemes, and the tests that the one given fails."""
        from rspverify.drawing.details import Broken
        from rspverify.judge.faults import faults
        from rspverify.render.repair import document

        if not detailed:
            return document(report)
        setup, search = self._setup, self._search
        scheme, verdicts = setup.schemes[0], setup.verdicts
        broken: dict[str, Broken] = {}
        for file in list(dict.fromkeys(each.file for each in report.effort.killers))[:MOST]:
            word = verdicts.answer(search.tests[file], scheme).verdict.word
            command = explain_command(scheme.file, file, verdicts.settings)
            broken[file] = Broken(search.tests[file].source, scheme, word, True, command)
        seen = known_details(broken, verdicts, self.stopped)
        unsound: dict[str, Result] = {}
        files = {each.file for each in setup.tests}
        for file, detail in seen.items():
            result = detail.explanation.result if detail.explanation else None
            if result and result.verdict is Word.UNSOUND and file in files:  # not found by a hunt
                unsound[file] = result
        texts = {it.file: it.source for it in setup.tests} | {scheme.file: scheme.scheme.source}
        at_fault = faults([*unsound.values()], verdicts.settings, verdicts.judge, texts)
        return document(report, seen, known(unsound, at_fault, verdicts.judge, self.stopped))


class _Searching(Shown[SchemeFound, RepairReport]):
    """A bar for the tests and then for candidates; between them how large the search is."""

    def __init__(self, console: Console, asked: Repairing) -> None:
        super().__init__(console, asked.document)
        self._asked, self._bar = asked, ExitStack()

    def __enter__(self) -> Self:
        from rspverify.render.repair import before, shown_search

        shown = self._bar.enter_context(shown_search())
        self._asked.on_test, self._asked.on_step = shown.prepared, shown.tried
        self._asked.on_prepared = lambda report: print(before(report), file=sys.stderr)
        return self

    def __exit__(self, *error: object) -> None:
        self._bar.close()


@question(RepairParameters)
def repair(asked: RepairParameters) -> Repairing:
    """Repair a scheme: the cheapest schemes near it that pass every test and never get stuck.

    Candidates change the code of rows. The cheapest that nothing learnt rules out is put to the
    tests; of a test that it fails all codes are learnt that fail it as surely. So no scheme of the
    candidates is cheaper than those found. Their cost is the sum over all rows.

    In Python: RepairParameters has what can be chosen. Raises InputError.
    """
    named = schemes_given(asked.scheme)
    require(len(named) == 1, f"one scheme must be given, not {len(named)}")
    others = schemes_given(asked.than) if asked.than else []
    wanted = asked.wanted()
    meant = inputs_meant([*named, *others], tests_given(asked.tests))
    weights = read_costs(str(asked.costs)) if asked.costs else default_costs()
    given = settings_for(asked.settings)
    setup = read_setup(meant.schemes, meant.tests, given, chosen(asked.judge, given))
    table = setup.schemes[0].scheme
    again = bool(wanted.repeats) or alone_may_break(table)
    hunt = Hunt(setup.verdicts, table, asked.hunt_events, again=again)
    search = Repair(
        setup,
        wanted,
        weights,
        count=asked.count,
        sample=asked.sample,
        hunt=hunt if asked.hunt_events else None,
    )
    found = Repairing(setup, search, str(asked.write or ""))
    found.notes = (*meant.notes, *found.notes)
    return found


COMMAND = Command(
    RepairParameters,
    asking(repair),
    about=repair,
    ends="1 no candidate passes; 3 something was not decided, so that there may be a cheaper one; "
    "0 otherwise",
    takes=OF_A_CASE,
    forms=PAGES,
    reports=REPORTED,
    also=EVERYWHERE,
)
