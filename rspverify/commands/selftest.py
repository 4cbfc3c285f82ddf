"""`selftest`: do the engines agree on random programs?"""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from rspverify.commands.command import command
from rspverify.commands.exit_code import exit_code
from rspverify.commands.guard import told
from rspverify.commands.options import ClusterAt, Format, FormatName, Jobs
from rspverify.commands.output import judge_of


@command("Do the engines agree on random programs?")
def selftest(
    programs: Annotated[int, typer.Option(min=1, help="How many pairs.")] = 1000,
    seed: Annotated[
        int, typer.Option(help="Which pairs: number i of a seed is always the same.")
    ] = 0,
    start: Annotated[int, typer.Option(min=0, help="The number of the first pair.")] = 0,
    devices: Annotated[
        int | None, typer.Option(min=1, max=2, help="Programs on so many devices. Default: either.")
    ] = None,
    machine: Annotated[
        str | None,
        typer.Option(
            metavar="NAME|FILE|random",
            help="The machine of all pairs, or one drawn for each. Default: any, seldom drawn.",
        ),
    ] = None,
    engines: Annotated[
        str | None, typer.Option(help="Engines, joined by commas. Default: all there are.")
    ] = None,
    states: Annotated[
        int,
        typer.Option("--limit-states", min=1, help="Beyond so many, explicit gives no answer."),
    ] = 20_000,
    steps: Annotated[
        int, typer.Option("--limit-steps", min=1, help="Where K* is more, unroll is not asked.")
    ] = 28,
    timeout: Annotated[
        float,
        typer.Option(
            min=0.001,
            help="Seconds for each question about a pair; at most one for the verdict on a "
            "large one that is UNSOUND.",
        ),
    ] = 5.0,
    outcomes: Annotated[
        bool,
        typer.Option(
            "--outcomes",
            help="Compare outcomes only, with L2s as check treats them: no verdicts, no progress, "
            "no real L2s on one device. Three to ten times as many pairs in the same time.",
        ),
    ] = False,
    jobs: Jobs = None,
    cluster: ClusterAt = None,
    output: Annotated[
        str, typer.Option("-o", "--output", help="The folder for what disagrees.")
    ] = ".",
    progress: Annotated[
        bool | None,
        typer.Option(help="Show progress. Default: where standard error is a terminal."),
    ] = None,
    format: Format = FormatName.TEXT,
) -> None:
    """Hold the engines against each other on random programs under random schemes.

    Each disagreement is made as small as it goes, and written as selftest-SEED-NUMBER.litmus,
    .yaml and, if the machine was drawn, .machine. Exit: 1 if there is one, 130 if interrupted, 3 if
    a worker process was lost, 0 otherwise.
    """
    from rspverify.api.selftests import selftest as tested
    from rspverify.render.console import opened
    from rspverify.render.selftest_text import shown_progress, summary

    asked = tested(
        programs,
        seed=seed,
        start=start,
        devices=devices,
        machine=machine,
        engines=engines,
        states=states,
        steps=steps,
        timeout=timeout,
        outcomes=outcomes,
        folder=output,
        judge=judge_of(jobs, cluster, cached=False),
    )
    shown = sys.stderr.isatty() if progress is None else progress
    with shown_progress(programs, shown) as advance:
        stop = told(asked.each(lambda _: advance()))
    found = asked.report(stop)
    with opened(None) as console:
        if format is FormatName.JSON:
            console.file.write(asked.forms["json"](found))
        else:
            for part in summary(found):
                console.print(part)
    raise typer.Exit(
        exit_code(interrupted=stop.interrupted, found=found.disagreements, undecided=stop.limit)
    )
