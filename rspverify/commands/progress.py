"""`progress`: whether tests hang, under schedulers that may leave work-groups out."""

from __future__ import annotations

from typing import Annotated

import typer

from rspverify.commands.command import command
from rspverify.commands.completion import scheduler_words, test_words
from rspverify.commands.exit_code import exit_code
from rspverify.commands.guard import told
from rspverify.commands.options import Format, FormatName, Jobs, NoCache, OutputFile
from rspverify.commands.output import judge_of, note
from rspverify.soundness.settings import OF_A_TEST, Settings


@command("Whether tests hang, under schedulers that may leave work-groups out.", takes=OF_A_TEST)
def progress(
    settings: Settings,
    tests: Annotated[
        list[str],
        typer.Argument(
            metavar="TEST…", help="Litmus tests, files or folders.", autocompletion=test_words
        ),
    ],
    scheduler: Annotated[
        list[str] | None,
        typer.Option(
            "--scheduler",
            metavar="SCHEDULER",
            help="fair, obe, obe:N, hsa, hsa-obe, lobe or unfair; as often as wanted. Default: "
            "fair, under which only programs hang that are wrong, and obe, which GPUs keep to.",
            autocompletion=scheduler_words,
        ),
    ] = None,
    format: Format = FormatName.TEXT,
    output: OutputFile = None,
    jobs: Jobs = None,
    no_cache: NoCache = False,
) -> None:
    """Does a program come to its end whatever the model allows and the scheduler does?

    LIVE: no execution hangs. STUCK: one does, and it is shown: a thread goes round in a loop for
    ever and reads what is last in memory, or waits at a barrier; some work-groups may be stopped.
    UNKNOWN: why, as a bound on loops, or a race. Asked is the source; `check --progress` asks the
    compiled program. --timeout is for all schedulers of a test together.

    Exit code: 70 internal error, with a folder to report; 2 wrong input; 1 something is STUCK;
    3 something is UNKNOWN or UNSUPPORTED; 0 otherwise.
    """
    from rspverify.api.progress import progress as asked_of
    from rspverify.render.console import opened
    from rspverify.render.progress_text import ProgressStream
    from rspverify.soundness.schedulers import DEFAULT
    from rspverify.verdict import ProgressWord, Word

    judge = judge_of(jobs, cached=not no_cache, settings=settings)
    asked = asked_of(tests, scheduler or DEFAULT, settings, judge=judge)
    note(asked.notes)
    text = format is FormatName.TEXT
    with opened(output) as console:
        total = len(asked.tests)
        with ProgressStream(console, asked.schedulers, total=total, text=text) as stream:
            stop = told(asked.each(stream.show))
        stream.finish(asked.report(stop))
    found = {each.progress for each in asked.known}
    raise typer.Exit(
        exit_code(
            internal=any(each.internal for each in asked.known),
            interrupted=stop.interrupted,
            wrong=any(each.word is Word.ERROR for each in asked.known),
            found=ProgressWord.STUCK in found,
            undecided=stop.limit or ProgressWord.UNKNOWN in found,
        )
    )
