"""`hunt`: which smallest program breaks a scheme, of all programs within bounds?"""

from __future__ import annotations

import sys
from functools import partial
from typing import Annotated

import typer

from rspverify.commands.command import command
from rspverify.commands.exit_code import exit_code
from rspverify.commands.guard import tell, told
from rspverify.commands.options import (
    ClusterAt,
    Jobs,
    NoCache,
    OutputFile,
    PageFormat,
    Reports,
    SchemeFile,
)
from rspverify.commands.output import judge_of, listed, note, print_answer
from rspverify.commands.reports import WRITTEN, PageForm, reports_meant
from rspverify.engineering.hunt.by import By
from rspverify.soundness.settings import Settings


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
    scopes: Annotated[
        str,
        typer.Option(
            help="Instead of --operation: loads, stores and increments of these scopes, as WG,DV. "
            "Default where --orders is given: WG,DV, with several devices also ALL."
        ),
    ] = "",
    orders: Annotated[
        str,
        typer.Option(
            help="The same in these orders, of rlx,acq,rel,ar,sc. Default: the usual one of each."
        ),
    ] = "",
    kinds: Annotated[
        str,
        typer.Option(
            help="The same of these kinds, of na,ld,st,inc,cas,F: plain operations, loads, stores, "
            "increments, compare-exchanges, fences. Default: all but the last two."
        ),
    ] = "",
    memories: Annotated[
        str,
        typer.Option(
            help="Where locations may be: global, local, or global,local. Default: global. With "
            "local memory fences are for both, and programs are not counted."
        ),
    ] = "",
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
            "where it applies (no --plain-on-atomic, rows that give back their locks)."
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
    cluster: ClusterAt = None,
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
    from rspverify.api.hunts import hunt as hunted
    from rspverify.render.console import opened
    from rspverify.render.hunt_stream import HuntStream
    from rspverify.render.hunt_text import conclusion

    written = reports_meant(report or (), [scheme, output], WRITTEN)
    with opened(output) as console:
        with HuntStream(console, text=format is PageForm.TEXT) as stream:
            asked = hunted(
                scheme,
                settings,
                events=events,
                threads=threads,
                workgroups=workgroups,
                devices=devices,
                locations=locations,
                guards=guards,
                operations=operation,
                scopes=listed("--scopes", scopes),
                orders=listed("--orders", orders),
                kinds=listed("--kinds", kinds),
                memories=listed("--memories", memories),
                plain_on_atomic=plain_on_atomic,
                by=by,
                count=count,
                first=first,
                estimate=estimate,
                write=write,
                watcher=stream,
                judge=judge_of(jobs, cluster, cached=not no_cache),
            )
            note(asked.notes)
            stream.heading(asked.so_far())
            stop = told(asked.each(lambda _: None))
        answer = asked.report(stop)
        page = partial(asked.page, answer, stop)
        lost = print_answer(console, format, answer, conclusion(answer), page, written)
    if stop.interrupted:
        print("interrupted", file=sys.stderr)
    tell(asked.unwritten)
    raise typer.Exit(
        exit_code(
            internal=answer.internal,
            interrupted=stop.interrupted,
            wrong=asked.unwritten or lost,
            found=answer.findings,
            undecided=answer.unknown or stop.limit,
        )
    )
