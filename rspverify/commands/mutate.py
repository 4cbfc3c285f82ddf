"""`mutate`: is each instruction of a scheme needed, and which test shows it?"""

from __future__ import annotations

import sys
from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from rspverify.commands.command import command
from rspverify.commands.exit_code import exit_code
from rspverify.commands.guard import told
from rspverify.commands.options import (
    OF_A_CASE,
    ClusterAt,
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
    from rspverify.api.asked import Stop
    from rspverify.api.mutations import Mutation

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
    cluster: ClusterAt = None,
    no_cache: NoCache = False,
) -> None:
    """Mutate a scheme: for each instruction, the smallest test that shows it to be needed.

    Each mutant is the scheme with one step of change in one row: an instruction dropped, a lock
    dropped with its unlock, a reach narrowed, two neighbours swapped. Only tests that the scheme
    itself passes say anything of its mutants.

    Exit code: 70 internal error, with a folder to report; 2 wrong input; 1 a mutant survives; 3 one
    survives, but not all tests could be decided; 0 otherwise.
    """
    from rspverify.api.inputs import split
    from rspverify.api.mutations import Fate
    from rspverify.api.mutations import mutate as mutated
    from rspverify.render.console import opened
    from rspverify.render.mutate_text import mutation_table
    from rspverify.render.progress import working

    written = reports_meant(report or (), [*inputs, costs, output], WRITTEN)
    judge = judge_of(jobs, cluster, cached=not no_cache)
    schemes, tests = split(inputs)
    with working("reading tests"):
        asked = mutated(
            schemes, tests, settings, widen=widen, costs=costs, write=write, judge=judge
        )
    note(asked.notes)
    with opened(output) as console:
        stop = _decided(asked)
        answer = asked.report(stop)
        page = partial(asked.page, answer, stop)
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


def _decided(asked: Mutation) -> Stop:
    """Decide until it is all or an interrupt comes; an estimate between."""
    from rspverify.api.asked import stoppable
    from rspverify.render.progress import counting

    with counting("tests", asked.tests) as advance, stoppable() as stop:
        seconds = asked.prepare(advance)
    if stop.reason:
        return told(stop)
    if seconds > _LONG:
        words = f"{asked.mutants} mutants, up to about {seconds:,.0f} s for their verdicts"
        print(f"{words}; less the sooner each fails a test", file=sys.stderr)
    with counting("mutants", asked.mutants) as advance:
        return told(asked.each(lambda _: advance()))
