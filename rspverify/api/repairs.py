"""The cheapest schemes near a broken one that pass every test and never get stuck."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Mapping
from pathlib import Path

from rspverify.api.asked import Asked, Stop, printed
from rspverify.api.inputs import AScheme, ATest, schemes_given, settled, tests_given
from rspverify.api.judges import chosen
from rspverify.convert import to_json
from rspverify.corpus.inputs import inputs_meant
from rspverify.engineering.hunt.assumptions import alone_may_break
from rspverify.engineering.repair.answer import RepairReport, SchemeFound
from rspverify.engineering.repair.constraints import EVERY_ROW as EVERY_ROW
from rspverify.engineering.repair.constraints import Constraints as Constraints
from rspverify.engineering.repair.hunting import Hunt
from rspverify.engineering.repair.run import Repair, settings_for
from rspverify.engineering.setup import Setup, read_setup
from rspverify.judge.judge import Judge
from rspverify.limits import LimitReached
from rspverify.scheme.cost import default_costs, read_costs
from rspverify.soundness.settings import Settings
from rspverify.source import require


class Repairing(Asked[SchemeFound, RepairReport]):
    """Gives the schemes that were found, once the search is over."""

    def __init__(self, setup: Setup, search: Repair) -> None:
        super().__init__()
        self.notes = setup.verdicts.model.notes
        self._setup, self._search = setup, search
        self._prepared = False

    def prepare(
        self,
        on_test: Callable[[int, int], None] = lambda done, of: None,
        on_step: Callable[[int, int], None] = lambda candidates, least: None,
    ) -> RepairReport:
        """Decide what each test says of the scheme, which comes first; the report of that alone.

        on_test: told how many are decided, and of how many. on_step: told of each candidate of the
        search: how many there were, and the least cost. Raises InputError where no row may change.
        """
        if not self._prepared:
            self._search.prepare(on_test, on_step)
        self._prepared = True
        return self._search.report()

    def _answers(self) -> Generator[SchemeFound, None, None]:
        self.prepare()
        self._search.run()
        yield from self._search.report().found

    def _report(self, stop: Stop) -> RepairReport:
        if not self._prepared:  # nothing is known that could be reported
            raise LimitReached(f"before the search began: {stop.reason or 'not asked'}")
        return self._search.report()

    def write(self, folder: str | Path, report: RepairReport) -> RepairReport:
        """The report once each scheme that was found is in a file. Raises InputError."""
        return self._search.written_to(str(folder), report)

    @property
    def forms(self) -> Mapping[str, Callable[[RepairReport], str]]:
        """Text, JSON, and a page of HTML."""
        from rspverify.render.repair_text import repair_table

        return {
            "text": lambda report: printed(repair_table(report)),
            "json": to_json,
            "html": lambda report: self.page(report, Stop()),
        }

    def page(self, report: RepairReport, stop: Stop) -> str:
        """A page of HTML; what it shows besides the report is asked for, unless it was stopped."""
        from rspverify.api.pages import repair_page

        return repair_page(report, self._search, self._setup, stop)


def repair(
    scheme: AScheme | Iterable[AScheme],
    tests: ATest | Iterable[ATest] | None = None,
    settings: Settings | None = None,
    *,
    than: AScheme | None = None,
    constraints: Constraints | None = None,
    costs: str | Path | None = None,
    count: int = 5,
    sample: int = 8,
    hunt_events: int = 3,
    judge: Judge | None = None,
) -> Repairing:
    """The cheapest schemes near one that pass every test, and that a hunt does not break.

    than: a scheme that they are compared with. constraints: which rows may change, and what codes
    they may have. costs: a file with what instructions cost. count: so many of the least cost.
    sample: so many tests for each row that changes are decided by the explicit engine, too.
    hunt_events: what passes is put to all programs of so many operations, too; 0: to none. Raises
    InputError.
    """
    named = schemes_given(scheme)
    require(len(named) == 1, f"one scheme must be given, not {len(named)}")
    meant = inputs_meant([*named, *(schemes_given(than) if than else [])], tests_given(tests))
    weights = read_costs(str(costs)) if costs else default_costs()
    wanted = constraints or Constraints()
    given = settings_for(settled(settings))
    setup = read_setup(meant.schemes, meant.tests, given, chosen(judge, given))
    table = setup.schemes[0].scheme
    again = bool(wanted.repeats) or alone_may_break(table)
    hunt = Hunt(setup.verdicts, table, hunt_events, again=again) if hunt_events else None
    search = Repair(setup, wanted, weights, count=count, sample=sample, hunt=hunt)
    asked = Repairing(setup, search)
    asked.notes = (*meant.notes, *asked.notes)
    return asked
