"""`outcomes`: All outcomes that the model allows and schemes reach; races."""

from __future__ import annotations

from collections.abc import Generator, Iterable
from dataclasses import dataclass
from typing import Any, TypeAlias

from rspverify.answers import OutcomeAnswer, OutcomesReport
from rspverify.api.asked import Asked, Ending, ending_of
from rspverify.api.inputs import AScheme, all_tests, schemes_given
from rspverify.api.judges import judge_of
from rspverify.api.parameters import OfTests, question
from rspverify.architecture.machines import machine_named
from rspverify.axiomatic.cat import load_model
from rspverify.corpus.inputs import meant_by
from rspverify.judge.listing import Listing
from rspverify.options import option
from rspverify.schedulers import schedulers_of
from rspverify.soundness.settings import Settings
from rspverify.source import name_of, require
from rspverify.terminal.command import Command, asking
from rspverify.terminal.output import Output
from rspverify.translators import read_translator
from rspverify.verdict import Word

Outcomes: TypeAlias = Asked[OutcomeAnswer, OutcomesReport]
"""The outcomes of each test, in their order."""


@dataclass(frozen=True)
class OutcomesParameters(OfTests):
    """Which executions count."""

    schemes: AScheme | Iterable[AScheme] = option(
        (), "Show what this scheme reaches, too.", name="--scheme"
    )
    settings: Settings = Settings()
    races: bool = option(
        False,
        "Only whether each test races; of one test, the two accesses and a consistent "
        "execution that has them.",
    )
    scheduler: str | None = option(
        None,
        "Only executions that this scheduler allows. obe:N: no more than N work-groups "
        "are occupant at once; any other allows them all.",
        metavar="SCHEDULER",
        completes="scheduler",
    )


@question(OutcomesParameters)
def outcomes(asked: OutcomesParameters) -> Outcomes:
    """List every outcome that the model allows, and those that schemes reach on the machine.

    Of many tests, one after the other; what is wrong with one is said, and the others go on. Where
    there are more than 20,000 outcomes, or no time is left (--timeout), or at Ctrl-C, those that
    were found by then are shown, and that they are not all.

    In Python: OutcomesParameters has what can be chosen. Tests in assembly are put to the machine
    of the settings, and to no model. Raises InputError.

    Examples:
        >>> answer = rspverify.outcomes("Fig4").report().results[0]
        >>> [str(row.outcome) for row in answer.outcomes]
        ['1:r0=0 1:r1=-1 x=42 y=1', '1:r0=1 1:r1=42 x=42 y=1']
    """
    settings, races, scheduler = asked.settings, asked.races, asked.scheduler
    named = schemes_given(asked.schemes)
    require(not (races and named), "--races must go without --scheme: it asks the model alone")
    message = "--scheduler must go without --scheme, --races and --machine: it asks the source"
    require(scheduler is None or not (named or races or settings.machine), message)
    chosen = None if scheduler is None else schedulers_of([scheduler])[0]
    tests, model = all_tests(asked.tests), load_model(settings.model)
    found = meant_by(schemes=named).schemes
    tables = tuple(read_translator(each, settings.machine) for each in found)
    names = tuple(map(name_of, found))
    machine = None if settings.machine is None else machine_named(settings.machine)
    listing = Listing(model, tables, names, settings, races, machine, chosen)
    judge = asked.judge or judge_of(cache=False)

    def answers(shown: Any) -> Generator[OutcomeAnswer, None, None]:
        """Of the test that an interrupt meets, the outcomes that were found by then."""
        listing.so_far.step = shown.step
        try:
            yield from listing.answers(tests, judge)
        except KeyboardInterrupt:
            if known := listing.so_far.answer("interrupted"):
                listing.so_far.end()
                yield known
            raise

    def ending(it: OutcomesReport) -> Ending:
        words = [each.word for each in it.results]
        words += [Word.UNKNOWN for each in it.results if each.limited]
        return ending_of(words, it.results)

    def report(it: Outcomes) -> OutcomesReport:
        reason, named = it.stopped.reason, machine.name if machine else None
        return OutcomesReport(model.name, tuple(it.known), reason, named)

    return Asked(
        answers,
        report,
        "outcomes",
        told=lambda render, form: render.told(form, len(tests)),
        ending=ending,
        shown=("text", "herd"),
        total=len(tests),
        notes=model.notes,
    )


def _run(asked: OutcomesParameters, output: Output) -> int:
    for name, given in (("--races", asked.races), ("--scheme", asked.schemes)):
        message = f"{name} must go with --format text or json: herd has no form for it"
        require(not (given and output.format == "herd"), message)
    return asking(outcomes, asked, output)


COMMAND = Command(
    outcomes,
    run=_run,
    ends="3 a limit was met, or a test is beyond this version; 0 otherwise",
    takes=(
        "engine",
        "model",
        "seconds",
        "steps",
        "machine",
        "l2",
        "states",
        "unroll",
        "mixed",
        "dependencies",
    ),
    forms={"text": "Text, JSON for other tools, or what herd7 prints.", "json": "", "herd": ""},
    also=("output", "jobs"),
)
