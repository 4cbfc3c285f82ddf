"""`mutate`: Which instruction of a scheme is needed, and which test shows it."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from rspverify.api.asked import Asked, Ending, collect
from rspverify.api.details import MOST, known_details
from rspverify.api.inputs import schemes_given, tests_given
from rspverify.api.judges import chosen
from rspverify.api.parameters import COSTS, OfSchemeAndTests, question
from rspverify.corpus.inputs import inputs_meant
from rspverify.engineering.mutate import Baseline, baselines, findings, longest
from rspverify.engineering.mutation import Fate, Finding, MutationReport
from rspverify.engineering.mutation_report import Asked as Subject
from rspverify.engineering.mutation_report import asked_of, mutation_report, written_to
from rspverify.engineering.setup import read_setup
from rspverify.options import option
from rspverify.records import replace
from rspverify.scheme.cost import read_costs
from rspverify.source import Source, require
from rspverify.terminal.command import EVERYWHERE, OF_A_CASE, PAGES, Command
from rspverify.verdict import Word

if TYPE_CHECKING:
    from rspverify.render.document import Document

Mutation: TypeAlias = Asked[Finding, MutationReport]
"""What the tests make of each mutant, in their order."""

_LONG = 30.0
"""From so many seconds on an estimate is given beforehand."""


@dataclass(frozen=True)
class MutateParameters(OfSchemeAndTests):
    """What is said of mutants."""

    widen: bool = option(
        False, "Also list the mutants in which an instruction reaches further, with what they cost."
    )
    proof: bool = option(
        True,
        "Of a mutant that passes every test, say what is proved of it (see prove), and show a test "
        "that refutes it.",
        name="--proof/--no-proof",
    )
    costs: str | Path | None = option(None, COSTS, metavar="FILE")
    write: str | Path | None = option(
        None, "Write each mutant as a scheme, for explain and hunt.", metavar="DIR"
    )


@question(MutateParameters)
def mutate(asked: MutateParameters) -> Mutation:
    """Mutate a scheme: for each instruction, the smallest test that shows it to be needed.

    Each mutant is the scheme with one step of change in one row: an instruction dropped, a lock
    dropped with its unlock, a reach narrowed, two neighbours swapped. Only tests that the scheme
    itself passes say anything of its mutants. Of a compiler, as amdgpu:gfx942, a row is what it
    makes of operations in the tests; of one for a processor, as gcc:riscv64, what `extract` finds.

    In Python: MutateParameters has what can be chosen. Raises InputError.
    """
    settings = replace(asked.settings, shortest=False)
    named = schemes_given(asked.scheme)
    require(len(named) == 1, f"one scheme must be given, not {len(named)}")
    meant = inputs_meant(named, tests_given(asked.tests))
    weights = read_costs(asked.costs)
    setup = read_setup(
        meant.schemes, meant.tests, settings, chosen(asked.judge, settings), compilers=True
    )
    whole = asked.write is not None and setup.schemes[0].scheme.whole
    require(not whole, "--write must go with a table, as a mutant of a compiler is none")
    subject = asked_of(setup, weights, widen=asked.widen)
    if asked.write is not None:
        subject = written_to(str(asked.write), subject)
    mutants, grounds = subject.mutants, list[Baseline]()

    def answers(shown: Any) -> Generator[Finding, None, None]:
        shown.count("tests", len(setup.tests))
        collect(baselines(setup), grounds, lambda _: shown.advance())
        seconds = longest(mutants, grounds, setup.verdicts.judge.workers)
        if seconds > _LONG:
            words = f"{len(mutants)} mutants, up to about {seconds:,.0f} s for their verdicts"
            shown.say(f"{words}; less the sooner each fails a test")
        shown.count("mutants", len(mutants))
        yield from findings(setup, mutants, grounds, weights, proof=asked.proof)

    def report(it: Mutation) -> MutationReport:
        stop = it.stopped
        return mutation_report(
            subject, grounds, it.known, it.seconds, stop.reason, stop.interrupted
        )

    found = Asked(
        answers,
        report,
        "mutate",
        document=lambda report, _: _detailed(report, subject, found),
        ending=_ending,
        total=len(mutants),
        before=len(setup.tests),
        notes=(*meant.notes, *setup.verdicts.model.notes),
    )
    return found


def _detailed(report: MutationReport, subject: Subject, asked: Mutation) -> Document:
    """All of it, each mutant with the smallest test that it fails."""
    from rspverify.drawing.details import Broken
    from rspverify.engineering.mutate import changed
    from rspverify.judge.inputs import NamedScheme
    from rspverify.render.mutate import document

    scheme, verdicts = subject.setup.schemes[0], subject.setup.verdicts
    tests = {each.file: each.source for each in subject.setup.tests}
    mutants = {each.name: each for each in subject.mutants}
    broken: dict[str, Broken] = {}
    for it in [each for each in report.mutants if each.file][:MOST]:
        name, stuck = it.mutant.name, it.verdict is Fate.STUCK
        mutant = NamedScheme.by(changed(mutants[name], scheme.scheme, it.switches), scheme.file)
        word = Word.SOUND if stuck else Word.UNSOUND
        source = Source(it.file or "", it.text) if it.text else tests[it.file or ""]
        broken[name] = Broken(source, mutant, word, stuck)
    return document(report, known_details(broken, verdicts, asked.stopped))


def _ending(report: MutationReport) -> Ending:
    surviving = [it for it in report.mutants if it.verdict is Fate.SURVIVES]
    return Ending(
        internal=bool(report.internal),
        found=any(not it.undecided for it in surviving),
        undecided=bool(surviving),
    )


COMMAND = Command(
    mutate,
    ends="1 a mutant survives; 3 one survives, but not all tests could be decided; 0 otherwise",
    takes=OF_A_CASE,
    forms=PAGES,
    also=EVERYWHERE,
)
