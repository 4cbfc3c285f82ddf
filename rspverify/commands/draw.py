"""`draw`: an execution of a test as a picture."""

from __future__ import annotations

import sys
from enum import StrEnum
from typing import Annotated

import typer

from rspverify.commands.command import command
from rspverify.commands.completion import scheduler_words
from rspverify.commands.exit_code import exit_code
from rspverify.commands.options import OutputFile, TestFile
from rspverify.commands.output import note
from rspverify.soundness.settings import OF_A_TEST, Settings


class Form(StrEnum):
    """Forms that --format takes."""

    SVG = "svg"
    DOT = "dot"


@command("An execution of a test as a picture.", takes=OF_A_TEST)
def draw(
    settings: Settings,
    test: TestFile,
    race: Annotated[
        bool, typer.Option("--race", help="A consistent execution with a race, marked.")
    ] = False,
    forbidden: Annotated[
        bool,
        typer.Option(
            "--forbidden",
            help="A candidate execution that satisfies the final condition (or has the --outcome) "
            "and breaks an axiom; what breaks it is bold.",
        ),
    ] = False,
    all: Annotated[
        bool, typer.Option("--all", help="Every consistent execution, on one page.")
    ] = False,
    scheduler: Annotated[
        str | None,
        typer.Option(
            metavar="SCHEDULER",
            help="An execution that hangs under this scheduler, as of progress; what is read by "
            "loops that never end is marked.",
            autocompletion=scheduler_words,
        ),
    ] = None,
    outcome: Annotated[
        str | None,
        typer.Option(
            help="An execution with these final values, as in '1:r0=1 1:r1=0 x=2'; other values "
            "may be any."
        ),
    ] = None,
    edges: Annotated[
        str | None,
        typer.Option(
            help="Relations to draw, joined by commas. Default: sb,rf,mo,sw,hb, or what stands "
            "for them in the model, as po, co, gsw, ghb."
        ),
    ] = None,
    no_initial: Annotated[
        bool, typer.Option("--no-initial", help="Leave out the initial writes.")
    ] = False,
    format: Annotated[
        Form | None,
        typer.Option(help="svg, or dot for Graphviz. Default: as the file of -o ends, or svg."),
    ] = None,
    output: OutputFile = None,
) -> None:
    """Draw an execution of a test: events by thread, and the relations between them.

    By default the first consistent execution that is found, and one that satisfies the formula of
    the final condition if there is such a one. Of an order only the edges that the others follow
    from are drawn.

    Exit code: 70 internal error, with a folder to report; 2 wrong input; 1 there is no such
    execution; 3 a limit was met, or the test is beyond this version; 0 otherwise.
    """
    from rspverify.api.pictures import NoExecutionError
    from rspverify.api.pictures import draw as drawn
    from rspverify.render.console import opened
    from rspverify.render.progress import working
    from rspverify.source import require

    require(
        output is None or format is not None or output.endswith((".svg", ".dot", ".gv")),
        f"{output} must end in .svg, .dot or .gv, or --format must say which it is",
    )
    if format is None:
        ends_so = output is not None and output.endswith((".dot", ".gv"))
        format = Form.DOT if ends_so else Form.SVG
    text, missing = "", None
    with working(f"drawing {test}", settings.seconds):
        try:
            found = drawn(
                test,
                settings,
                race=race,
                forbidden=forbidden,
                all=all,
                outcome=outcome,
                edges=None if edges is None else [each.strip() for each in edges.split(",")],
                initial=not no_initial,
                scheduler=scheduler,
            )
            text = found.dot() if format is Form.DOT else found.svg()
        except NoExecutionError as error:
            missing = str(error)
    if missing is not None:
        print(missing, file=sys.stderr)
        raise typer.Exit(exit_code(found=True))
    note(found.notes)
    with opened(output) as console:
        console.file.write(text)
