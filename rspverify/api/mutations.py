"""Is each instruction of a scheme needed, and which test shows it?"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from rspverify.api.asked import Asked, Stop, collect, printed
from rspverify.api.inputs import AScheme, ATest, schemes_given, settled, tests_given
from rspverify.api.judges import chosen
from rspverify.convert import to_json
from rspverify.corpus.inputs import inputs_meant
from rspverify.engineering.mutate import Baseline, baselines, findings, longest
from rspverify.engineering.mutation import Fate as Fate
from rspverify.engineering.mutation import Finding, MutationReport
from rspverify.engineering.mutation_report import Asked as AskedOf
from rspverify.engineering.mutation_report import asked_of, mutation_report, written_to
from rspverify.engineering.setup import read_setup
from rspverify.judge.judge import Judge
from rspverify.records import replace
from rspverify.scheme.cost import default_costs, read_costs
from rspverify.soundness.settings import Settings
from rspverify.source import require

if TYPE_CHECKING:
    from rspverify.api.pages import Made


class Mutation(Asked[Finding, MutationReport]):
    """Gives what the tests make of each mutant, in their order.

    grounds: what each test says of the scheme itself, the smallest first.
    """

    def __init__(self, asked: AskedOf) -> None:
        super().__init__()
        self.grounds: list[Baseline] = []
        self.tests, self.mutants = len(asked.setup.tests), len(asked.mutants)
        self._asked = asked
        self._prepared = False

    def prepare(self, on_test: Callable[[], object] = lambda: None) -> float:
        """Decide every test under the scheme itself, which comes first in any case.

        How many seconds the mutants take at the most.
        """
        asked, setup = self._asked, self._asked.setup
        if not self._prepared:
            self.grounds.clear()
            collect(baselines(setup), self.grounds, lambda _: on_test())
        self._prepared = True
        return longest(asked.mutants, self.grounds, setup.verdicts.judge.workers)

    def _answers(self) -> Generator[Finding, None, None]:
        self.prepare()
        asked = self._asked
        yield from findings(asked.setup, asked.mutants, self.grounds, asked.costs)

    def _report(self, stop: Stop) -> MutationReport:
        given = (self._asked, self.grounds, self.known, self.seconds)
        return mutation_report(*given, stop.reason, stop.interrupted)

    @property
    def forms(self) -> Mapping[str, Callable[[MutationReport], str]]:
        """Text, JSON, and a page of HTML."""
        from rspverify.render.mutate_text import mutation_table

        return {
            "text": lambda report: printed(mutation_table(report)),
            "json": to_json,
            "html": lambda report: self.page(report, Stop()),
        }

    def page(self, report: MutationReport, stop: Stop, made: Made | None = None) -> str:
        """A page of HTML; what it shows besides the report is asked for, unless it was stopped.

        made: of what is shown, if it is not to be a page that stands alone.
        """
        from rspverify.api.pages import mutate_page
        from rspverify.render.page_html import page

        return mutate_page(report, self._asked, stop, made or page)


def mutate(
    scheme: AScheme | Iterable[AScheme],
    tests: ATest | Iterable[ATest] | None = None,
    settings: Settings | None = None,
    *,
    widen: bool = False,
    costs: str | Path | None = None,
    write: str | Path | None = None,
    judge: Judge | None = None,
) -> Mutation:
    """Every one-step mutant of a scheme, and the smallest test that shows it to be broken.

    widen: list those that reach further, too. costs: a file with what instructions cost. write: a
    folder to which each mutant is written. Raises InputError.
    """
    settings = replace(settled(settings), shortest=False)
    named = schemes_given(scheme)
    require(len(named) == 1, f"one scheme must be given, not {len(named)}")
    meant = inputs_meant(named, tests_given(tests))
    weights = read_costs(str(costs)) if costs else default_costs()
    setup = read_setup(meant.schemes, meant.tests, settings, chosen(judge, settings))
    asked = asked_of(setup, weights, widen=widen)
    if write is not None:
        asked = written_to(str(write), asked)
    mutation = Mutation(asked)
    mutation.notes = (*meant.notes, *setup.verdicts.model.notes)
    return mutation
