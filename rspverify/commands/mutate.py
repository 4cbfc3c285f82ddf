"""`mutate`: is each instruction of a scheme needed, and which test shows it?"""

from __future__ import annotations

import sys
import time
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from rspverify.commands.command import command
from rspverify.commands.exit_code import exit_code
from rspverify.commands.guard import collect, stoppable
from rspverify.commands.options import (
    OF_A_CASE,
    CostsFile,
    Jobs,
    NoCache,
    OutputFile,
    PageFormat,
    Reports,
    SchemeAndTests,
)
from rspverify.commands.output import judge_of, note, print_answer
from rspverify.commands.reports import WRITTEN, PageForm, reports_meant
from rspverify.soundness.settings import Settings

if TYPE_CHECKING:
    from rspverify.engineering.mutate import Baseline
    from rspverify.engineering.mutation import Finding
    from rspverify.engineering.mutation_report import Asked

_LONG = 30.0
"""From so many seconds on an estimate is given beforehand."""


@command("Which instruction of a scheme is needed, and which test shows it.", takes=OF_A_CASE)
def mutate(
    settings: Settings,
    inputs: SchemeAndTests,
    widen: Annotated[
        bool,
        typer.Option(
            "--widen",
            help="Also list the mutants in which an instruction reaches further, with what they "
            "cost.",
        ),
    ] = False,
    costs: CostsFile = None,
    write: Annotated[
        str | None,
        typer.Option(metavar="DIR", help="Write each mutant as a scheme, for explain and hunt."),
    ] = None,
    format: PageFormat = PageForm.TEXT,
    report: Reports = None,
    output: OutputFile = None,
    jobs: Jobs = None,
    no_cache: NoCache = False,
) -> None:
    """Mutate a scheme: for each instruction, the smallest test that shows it to be needed.

    Each mutant is the scheme with one step of change in one row: an instruction dropped, a lock
    dropped with its unlock, a reach narrowed, two neighbours swapped. Only tests that the scheme
    itself passes say anything of its mutants.

    Exit code: 70 internal error, with a folder to report; 2 wrong input; 1 a mutant survives; 3 one
    survives, but not all tests could be decided; 0 otherwise.
    """
    from rspverify.commands.pages import mutate_page
    from rspverify.corpus.inputs import split_inputs
    from rspverify.engineering.mutation import Fate
    from rspverify.engineering.mutation_report import asked_of, mutation_report, written_to
    from rspverify.engineering.setup import read_setup
    from rspverify.render.console import opened
    from rspverify.render.mutate_text import mutation_table
    from rspverify.render.progress import working
    from rspverify.scheme.cost import default_costs, read_costs
    from rspverify.source import require

    started = time.perf_counter()
    written = reports_meant(report or (), [*inputs, costs, output], WRITTEN)
    meant = split_inputs(inputs)
    schemes, tests = meant.schemes, meant.tests
    require(len(schemes) == 1, f"one scheme must be given, not {len(schemes)}")
    weights = read_costs(costs) if costs else default_costs()
    judge = judge_of(jobs, cached=not no_cache)
    with working("reading tests"):
        setup = read_setup(schemes, tests, replace(settings, shortest=False), judge)
    asked = asked_of(setup, weights, widen=widen)
    if write is not None:
        asked = written_to(write, asked)
    note((*meant.notes, *setup.verdicts.model.notes))
    known: list[Baseline] = []
    found: list[Finding] = []
    with opened(output) as console:
        with stoppable() as stop:
            _decide(asked, known, found)
        seconds = time.perf_counter() - started
        answer = mutation_report(asked, known, found, seconds, stop.reason, stop.interrupted)
        page = partial(mutate_page, answer, asked, stop)
        unwritten = print_answer(console, format, answer, mutation_table(answer), page, written)
    surviving = [it for it in answer.mutants if it.verdict is Fate.SURVIVES]
    raise typer.Exit(
        exit_code(
            internal=answer.internal,
            interrupted=stop.interrupted,
            wrong=unwritten,
            found=any(not it.undecided for it in surviving),
            undecided=stop.limit or surviving,
        )
    )


def _decide(asked: Asked, known: list[Baseline], found: list[Finding]) -> None:
    """Fill in what becomes known, until it is all or an interrupt comes; an estimate between."""
    from rspverify.engineering.mutate import baselines, findings, longest
    from rspverify.render.progress import counting

    setup, mutants = asked.setup, asked.mutants
    with counting("tests", len(setup.tests)) as advance:
        collect(baselines(setup), known, lambda _: advance())
    seconds = longest(mutants, known, setup.verdicts.judge.workers)
    if seconds > _LONG:
        words = f"{len(mutants)} mutants, up to about {seconds:,.0f} s for their verdicts"
        print(f"{words}; less the sooner each fails a test", file=sys.stderr)
    with counting("mutants", len(mutants)) as advance:
        collect(findings(setup, mutants, known, asked.costs), found, lambda _: advance())
