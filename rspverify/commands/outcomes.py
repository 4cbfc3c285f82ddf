"""`outcomes`: all that a model allows of tests, and what schemes reach of it."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from rspverify.commands.command import command
from rspverify.commands.completion import test_words
from rspverify.commands.exit_code import exit_code
from rspverify.commands.guard import collect, stoppable
from rspverify.commands.options import Jobs, OutputFile
from rspverify.commands.output import judge_of, note
from rspverify.soundness.settings import Settings

if TYPE_CHECKING:
    from rspverify.answers import OutcomeAnswer


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
    from rspverify.axiomatic import load_model
    from rspverify.corpus.inputs import meant_by, tests_in
    from rspverify.judge.listing import Listing
    from rspverify.judge.reading import load_scheme
    from rspverify.render.console import opened
    from rspverify.render.outcomes_text import OutcomesStream
    from rspverify.soundness.outcomes import SoFar
    from rspverify.source import require
    from rspverify.verdict import Word

    schemes = tuple(scheme or ())
    require(not (races and schemes), "--races must go without --scheme: it asks the model alone")
    for option, given in (("--races", races), ("--scheme", schemes)):
        message = f"{option} must go with --format text or json: herd has no form for it"
        require(not (given and format is Form.HERD), message)
    files = tests_in(tests)
    model = load_model(settings.model)
    note(model.notes)
    schemes = tuple(meant_by(schemes=schemes).schemes)
    tables = tuple(load_scheme(path, settings) for path in schemes)
    found: list[OutcomeAnswer] = []
    with opened(output) as console:
        with OutcomesStream(console, format.value, total=len(files)) as stream:
            so_far = SoFar(stream.step)
            listing = Listing(model, tables, schemes, settings, races, so_far)
            with stoppable() as stop:
                collect(listing.answers(files, judge_of(jobs, cached=False)), found, stream.show)
            if stop.interrupted and (known := so_far.answer("interrupted")):
                found.append(known)
                stream.show(known)
        stream.finish(found, model.name)
    words = {each.word for each in found}
    raise typer.Exit(
        exit_code(
            internal=any(each.internal for each in found),
            interrupted=stop.interrupted,
            wrong=Word.ERROR in words,
            undecided=stop.limit or words & {Word.UNSUPPORTED, Word.UNKNOWN},
        )
    )
