"""`mutate`: Which instruction of a scheme is needed, and which test shows it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Self

from rspverify.api.asked import Asked, Ending, Shown, Stop, collect
from rspverify.api.details import MOST, known_details
from rspverify.api.inputs import schemes_given, tests_given
from rspverify.api.judges import chosen
from rspverify.api.parameters import COSTS, OfSchemeAndTests, question
from rspverify.corpus.inputs import inputs_meant
from rspverify.engineering.mutate import Baseline, baselines, findings, longest
from rspverify.engineering.mutation import Fate, Finding, MutationReport
from rspverify.engineering.mutation_report import Asked as AskedOf
from rspverify.engineering.mutation_report import asked_of, mutation_report, written_to
from rspverify.engineering.setup import read_setup
from rspverify.judge.judge import Judge
from rspverify.options import option
from rspverify.records import replace
from rspverify.scheme.cost import default_costs, read_costs
from rspverify.source import require
from rspverify.terminal.ask import asking
from rspverify.terminal.command import EVERYWHERE, OF_A_CASE, PAGES, REPORTED, Command
from rspverify.verdict import Word

if TYPE_CHECKING:
    from rich.console import Console

    from rspverify.render.document import Document

_LONG = 30.0
"""From so many seconds on an estimate is given beforehand."""


@dataclass(frozen=True)
class MutateParameters(OfSchemeAndTests):
    """What is said of mutants."""

    widen: bool = option(
        False, "Also list the mutants in which an instruction reaches further, with what they cost."
    )
    costs: str | Path | None = option(None, COSTS, metavar="FILE")
    write: str | Path | None = option(
        None, "Write each mutant as a scheme, for explain and hunt.", metavar="DIR"
    )
    judge: Judge | None = None


class Mutation(Asked[Finding, MutationReport]):
    """Gives what the tests make of each mutant, in their order.

    grounds: what each test says of the scheme itself, the smallest first. on_test: called after
    each of these; on_prepared: after all, with the seconds that the mutants take at the most.
    """

    def __init__(self, asked: AskedOf) -> None:
        super().__init__()
        self.grounds: list[Baseline] = []
        self.tests, self.mutants = len(asked.setup.tests), len(asked.mutants)
        self.on_test: Callable[[], object] = lambda: None
        self.on_prepared: Callable[[float], object] = lambda seconds: None
        self._asked = asked
        self._prepared = False

    def prepare(self) -> None:
        """Decide every test under the scheme itself, which comes first in any case."""
        if self._prepared:
            return
        self.grounds.clear()
        setup = self._asked.setup
        collect(baselines(setup), self.grounds, lambda _: self.on_test())
        self._prepared = True
        workers = setup.verdicts.judge.workers
        self.on_prepared(longest(self._asked.mutants, self.grounds, workers))

    def _answers(self) -> Generator[Finding, None, None]:
        self.prepare()
        asked = self._asked
        yield from findings(asked.setup, asked.mutants, self.grounds, asked.costs)

    def _report(self, stop: Stop) -> MutationReport:
        given = (self._asked, self.grounds, self.known, self.seconds)
        return mutation_report(*given, stop.reason, stop.interrupted)

    def stream(self, console: Console, form: str) -> Shown[Finding, MutationReport]:
        """Shows how many tests and mutants are decided."""
        return _Counted(console, self)

    def ending(self, report: MutationReport) -> Ending:
        """1: a mutant survives. 3: one survives, but not all tests could be decided."""
        surviving = [it for it in report.mutants if it.verdict is Fate.SURVIVES]
        return Ending(
            internal=bool(report.internal),
            found=any(not it.undecided for it in surviving),
            undecided=bool(surviving),
        )

    def document(self, report: MutationReport, *, detailed: bool = False) -> Document:
        """All of it; detailed: each mutant with the smallest test that it fails."""
        from rspverify.drawing.details import Broken
        from rspverify.engineering.mutate import changed
        from rspverify.judge.inputs import NamedScheme
        from rspverify.render.mutate import document

        if not detailed:
            return document(report)
        setup = self._asked.setup
        (scheme, *_), tests = setup.schemes, {each.file: each.source for each in setup.tests}
        mutants = {each.name: each for each in self._asked.mutants}
        broken: dict[str, Broken] = {}
        for found in [each for each in report.mutants if each.file][:MOST]:
            name, stuck = found.mutant.name, found.verdict is Fate.STUCK
            changed_scheme = changed(mutants[name], scheme.scheme, found.switches)
            mutant = NamedScheme.of(changed_scheme, scheme.file)
            word = Word.SOUND if stuck else Word.UNSOUND
            broken[name] = Broken(tests[found.file or ""], mutant, word, stuck)
        return document(report, known_details(broken, setup.verdicts, self.stopped))


class _Counted(Shown[Finding, MutationReport]):
    """A bar for the tests, an estimate, and a bar for the mutants."""

    def __init__(self, console: Console, asked: Mutation) -> None:
        super().__init__(console, asked.document)
        self._asked, self._bar = asked, ExitStack()
        self._advance: Callable[[], object] = lambda: None

    def __enter__(self) -> Self:
        self._count("tests", self._asked.tests)
        self._asked.on_test = lambda: self._advance()
        self._asked.on_prepared = self._prepared
        return self

    def __exit__(self, *error: object) -> None:
        self._bar.close()

    def _count(self, what: str, total: int) -> None:
        from rspverify.render.progress import counting

        self._bar.close()
        self._advance = self._bar.enter_context(counting(what, total))

    def _prepared(self, seconds: float) -> None:
        self._bar.close()
        if seconds > _LONG:
            words = (
                f"{self._asked.mutants} mutants, up to about {seconds:,.0f} s for their verdicts"
            )
            print(f"{words}; less the sooner each fails a test", file=sys.stderr)
        self._count("mutants", self._asked.mutants)

    def show(self, answer: Finding) -> None:
        """One more mutant is decided."""
        self._advance()


@question(MutateParameters)
def mutate(asked: MutateParameters) -> Mutation:
    """Mutate a scheme: for each instruction, the smallest test that shows it to be needed.

    Each mutant is the scheme with one step of change in one row: an instruction dropped, a lock
    dropped with its unlock, a reach narrowed, two neighbours swapped. Only tests that the scheme
    itself passes say anything of its mutants.

    In Python: MutateParameters has what can be chosen. Raises InputError.
    """
    settings = replace(asked.settings, shortest=False)
    named = schemes_given(asked.scheme)
    require(len(named) == 1, f"one scheme must be given, not {len(named)}")
    meant = inputs_meant(named, tests_given(asked.tests))
    weights = read_costs(str(asked.costs)) if asked.costs else default_costs()
    setup = read_setup(meant.schemes, meant.tests, settings, chosen(asked.judge, settings))
    found = asked_of(setup, weights, widen=asked.widen)
    if asked.write is not None:
        found = written_to(str(asked.write), found)
    mutation = Mutation(found)
    mutation.notes = (*meant.notes, *setup.verdicts.model.notes)
    return mutation


COMMAND = Command(
    MutateParameters,
    asking(mutate),
    about=mutate,
    ends="1 a mutant survives; 3 one survives, but not all tests could be decided; 0 otherwise",
    takes=OF_A_CASE,
    forms=PAGES,
    reports=REPORTED,
    also=EVERYWHERE,
)
