"""`explain`: one verdict with all that it rests on."""

from __future__ import annotations

from functools import partial

import typer

from rspverify.commands.command import command
from rspverify.commands.exit_code import exit_code_of
from rspverify.commands.guard import told
from rspverify.commands.options import OutputFile, SchemeFile, TestFile
from rspverify.soundness.settings import OPTIONS, Settings


@command("One verdict with all that it rests on.", takes=OPTIONS)
def explain(
    settings: Settings, scheme: SchemeFile, test: TestFile, output: OutputFile = None
) -> None:
    """Explain one verdict: the counterexample step by step, the race, or how far it reaches.

    Of a test that is SOUND the outcomes that the machine reaches are listed, up to 100 of them;
    --timeout bounds that together with the verdict, and Ctrl-C leaves it.

    Exit code: 70 internal error, with a folder to report; otherwise as of check.
    """
    from rspverify.api.explanations import explain as explained
    from rspverify.render.console import opened
    from rspverify.render.explanation_text import explanation, reached
    from rspverify.render.progress import working
    from rspverify.source import require

    require(
        not scheme.endswith(".litmus"), f"the scheme must come first, and then the test: {scheme}"
    )
    shown = partial(working, f"{test} under {scheme}", settings.seconds)
    with shown():
        found = explained(scheme, test, settings)
    interrupted = False
    with opened(output) as console:
        for part in explanation(found.explanation):
            console.print(part)
        if found.lists_outcomes:
            console.file.flush()
            with shown():
                outcomes, stop = found.reached()
            interrupted = told(stop).interrupted
            for part in reached(outcomes):
                console.print(part)
    raise typer.Exit(exit_code_of([found.explanation.result], interrupted=interrupted))
