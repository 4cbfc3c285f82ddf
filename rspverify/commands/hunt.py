"""`hunt`: which smallest program breaks a scheme, of all programs within bounds?"""

from __future__ import annotations

import sys
import time
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from rspverify.commands.command import command
from rspverify.commands.exit_code import exit_code
from rspverify.commands.guard import stoppable, tell
from rspverify.commands.options import (
    Jobs,
    NoCache,
    OutputFile,
    PageFormat,
    Reports,
    SchemeFile,
)
from rspverify.commands.output import judge_of, note, print_answer
from rspverify.commands.reports import WRITTEN, PageForm, reports_meant
from rspverify.engineering.hunt.by import By
from rspverify.soundness.settings import Settings

if TYPE_CHECKING:
    from rspverify.engineering.hunt.finding import Finding


@command(
    "The smallest programs that break a scheme, of all within bounds.",
    takes=("model", "seconds", "machine", "l2"),
)
def hunt(
    settings: Settings,
    scheme: SchemeFile,
    events: Annotated[int, typer.Option(min=1, max=7, help="The most operations.")] = 4,
    threads: Annotated[int, typer.Option(min=1, max=7, help="The most threads.")] = 3,
    workgroups: Annotated[
        int | None,
        typer.Option(min=1, max=7, help="The most work-groups. Default: as many as threads."),
    ] = None,
    devices: Annotated[int, typer.Option(min=1, max=7, help="The most devices.")] = 1,
    locations: Annotated[int, typer.Option(min=1, max=7, help="The most locations.")] = 2,
    guards: Annotated[
        int | None, typer.Option(min=0, help="The most ifs. Default: any number.")
    ] = None,
    operation: Annotated[
        list[str] | None,
        typer.Option(
            help="An operation that programs may have, as st.na or ld.DV.R; more than once for "
            "several. Default: those of Tab. 3, with several devices also those of scope ALL."
        ),
    ] = None,
    plain_on_atomic: Annotated[
        bool,
        typer.Option(
            "--plain-on-atomic",
            help="Let plain operations access locations that are declared atomic, too.",
        ),
    ] = False,
    by: Annotated[
        By | None,
        typer.Option(
            help="Decide by one formula for many programs, or program by program. Default: formula "
            "where it applies (one device, no --plain-on-atomic, rows that give back their locks)."
        ),
    ] = None,
    count: Annotated[
        bool,
        typer.Option(
            "--count/--no-count",
            help="By formula: list and count the programs, too; the verdict does not need it.",
        ),
    ] = True,
    first: Annotated[
        bool, typer.Option("--first", help="Stop at the first program that breaks the scheme.")
    ] = False,
    estimate: Annotated[
        bool,
        typer.Option(
            "--estimate",
            help="Only say how many programs there are, and how long it takes to list "
            "them (program by program also to decide them).",
        ),
    ] = False,
    write: Annotated[
        str | None,
        typer.Option(
            metavar="DIR", help="Write each program found there, as hunt-SCHEME-rowN.litmus."
        ),
    ] = None,
    format: PageFormat = PageForm.TEXT,
    report: Reports = None,
    output: OutputFile = None,
    jobs: Jobs = None,
    no_cache: NoCache = False,
) -> None:
    """Hunt for programs that break a scheme: all programs within bounds, up to symmetry.

    The smallest that is UNSOUND is shown, with the row at fault: one with the fewest
    operations, then the fewest threads, and program by program also the shortest text. The hunt
    goes on with that row made as strong as can be, so that the next one shows another row, until
    every program within the bounds is sound. An interrupted hunt goes on where it was. By formula
    findings come first, and the count of the programs last.

    Exit code: 70 internal error, with a folder to report; 2 wrong input; 1 a program breaks the
    scheme; 3 none does, but some are UNKNOWN; 0 all are sound (or only an estimate was asked for).
    """
    from rspverify.commands.pages import hunt_page
    from rspverify.corpus.inputs import meant_by
    from rspverify.engineering.hunt.files import written_to
    from rspverify.engineering.hunt.hunt import Hunt, HuntSetup
    from rspverify.engineering.hunt.operations import hunting_space
    from rspverify.files import require_folder
    from rspverify.judge.reading import read_inputs
    from rspverify.render.console import opened
    from rspverify.render.hunt_stream import HuntStream
    from rspverify.render.hunt_text import conclusion
    from rspverify.source import InputError, Problem

    started = time.perf_counter()
    written = reports_meant(report or (), [scheme, output], WRITTEN)
    (scheme,) = meant_by(schemes=[scheme]).schemes
    if write is not None:
        require_folder(write, "programs")
    judge = judge_of(jobs, cached=not no_cache)
    (named,), memory_model = read_inputs([scheme], settings, judge).parsed()
    note(memory_model.notes)
    table = named.scheme
    settings = replace(settings, model=memory_model.name)
    bounds = (events, threads, workgroups or threads, devices, locations, guards)
    space, left_out = hunting_space(table, bounds, operation, mixed=plain_on_atomic)

    unwritten: list[Problem] = []

    def keep(found: Finding) -> Finding:
        """Written if that is asked for, and shown whatever comes of it."""
        if write is None:
            return found
        try:
            return replace(found, file=written_to(write, table.name, found))
        except InputError as error:
            unwritten.extend(error.problems)
            return found

    setup = HuntSetup(
        table, scheme, memory_model, space, left_out, settings, by, first=first, count=count
    )
    with opened(output) as console:
        with HuntStream(console, text=format is PageForm.TEXT) as stream:
            hunted = Hunt(setup, judge, stream, keep)
            stream.heading(hunted.report())
            with stoppable() as stop:
                hunted.run(only_estimate=estimate)
            answer = hunted.report()
            answer = replace(
                answer,
                stopped=stop.reason or answer.stopped,
                interrupted=stop.interrupted,
                seconds=time.perf_counter() - started,
            )
        page = partial(hunt_page, answer, hunted, setup, judge, stop)
        lost = print_answer(console, format, answer, conclusion(answer), page, written)
    if stop.interrupted:
        print("interrupted", file=sys.stderr)
    tell(unwritten)
    raise typer.Exit(
        exit_code(
            internal=answer.internal,
            interrupted=stop.interrupted,
            wrong=unwritten or lost,
            found=answer.findings,
            undecided=answer.unknown or stop.limit,
        )
    )
