"""`outcomes`: all that a model allows of tests, and what schemes reach of it."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from rspverify.commands.command import command
from rspverify.commands.completion import scheduler_words, test_words
from rspverify.commands.exit_code import exit_code
from rspverify.commands.guard import told
from rspverify.commands.options import Jobs, OutputFile
from rspverify.commands.output import judge_of, note
from rspverify.soundness.settings import Settings


class Form(StrEnum):
    """Forms that --format takes."""

    TEXT = "text"
    JSON = "json"
    HERD = "herd"


@command(
    "All outcomes that the model allows and schemes reach; races.",
    takes=("engine", "model", "seconds", "steps", "machine", "l2", "states", "unroll", "mixed"),
)
def outcomes(
    settings: Settings,
    tests: Annotated[
        list[str],
        typer.Argument(
            metavar="TEST…", help="Litmus tests, files or folders.", autocompletion=test_words
        ),
    ],
    scheme: Annotated[
        list[str] | None, typer.Option("--scheme", help="Show what this scheme reaches, too.")
    ] = None,
    races: Annotated[
        bool,
        typer.Option(
            "--races",
            help="Only whether each test races; of one test, the two accesses and a consistent "
            "execution that has them.",
        ),
    ] = False,
    scheduler: Annotated[
        str | None,
        typer.Option(
            metavar="SCHEDULER",
            help="Only executions that this scheduler allows. obe:N: no more than N work-groups "
            "are occupant at once; any other allows them all.",
            autocompletion=scheduler_words,
        ),
    ] = None,
    format: Annotated[
        Form, typer.Option(help="Text, JSON for other tools, or what herd7 prints.")
    ] = Form.TEXT,
    output: OutputFile = None,
    jobs: Jobs = None,
) -> None:
    """List every outcome that the model allows, and those that schemes reach on the machine.

    Of many tests, one after the other; what is wrong with one is said, and the others go on. Where
    there are more than 20,000 outcomes, or no time is left (--timeout), or at Ctrl-C, those that
    were found by then are shown, and that they are not all.

    Exit code: 70 internal error, with a folder to report; 2 wrong input; 3 a limit was met, or a
    test is beyond this version; 0 otherwise.
    """
    from rspverify.api.outcomes import outcomes as asked_of
    from rspverify.render.console import opened
    from rspverify.render.outcomes_text import OutcomesStream
    from rspverify.source import require
    from rspverify.verdict import Word

    schemes = scheme or ()
    for option, given in (("--races", races), ("--scheme", schemes)):
        message = f"{option} must go with --format text or json: herd has no form for it"
        require(not (given and format is Form.HERD), message)
    judge = judge_of(jobs, cached=False)
    asked = asked_of(tests, schemes, settings, races=races, scheduler=scheduler, judge=judge)
    note(asked.notes)
    with opened(output) as console:
        with OutcomesStream(console, format.value, total=len(asked.tests)) as stream:
            asked.watch(stream.step)
            stop = told(asked.each(stream.show))
        stream.finish(asked.report(stop))
    words = {each.word for each in asked.known}
    raise typer.Exit(
        exit_code(
            internal=any(each.internal for each in asked.known),
            interrupted=stop.interrupted,
            wrong=Word.ERROR in words,
            undecided=stop.limit or words & {Word.UNSUPPORTED, Word.UNKNOWN},
        )
    )
