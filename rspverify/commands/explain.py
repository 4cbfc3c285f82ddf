"""`explain`: one verdict with all that it rests on, or a run of a machine."""

from __future__ import annotations

from functools import partial
from typing import Annotated

import typer

from rspverify.commands.command import command
from rspverify.commands.completion import scheme_and_test_words
from rspverify.commands.exit_code import exit_code, exit_code_of
from rspverify.commands.guard import told
from rspverify.commands.options import OutputFile
from rspverify.soundness.settings import OPTIONS, Settings


@command("One verdict with all that it rests on; a run of a machine.", takes=OPTIONS)
def explain(
    settings: Settings,
    words: Annotated[
        list[str],
        typer.Argument(
            metavar="[SCHEME] TEST",
            autocompletion=scheme_and_test_words,
            help="A scheme (a .yaml file, or a name as of list) and a litmus test (a file, or a "
            "name as of list); of a test in PTX the test alone, with --machine.",
        ),
    ],
    outcome: Annotated[
        str | None,
        typer.Option(
            help="Of a test in PTX: a run with these final values, as in '1:r1=2 1:r2=0'; other "
            "values may be any. Default: what its final condition speaks of."
        ),
    ] = None,
    output: OutputFile = None,
) -> None:
    """Explain one verdict: the counterexample step by step, the race, or how far it reaches.

    Of a test that is SOUND the outcomes that the machine reaches are listed, up to 100 of them;
    --timeout bounds that together with the verdict, and Ctrl-C leaves it.

    Of a test in PTX, which no scheme compiles, show a shortest run of the --machine that satisfies
    the final condition (that breaks it, if it says forall), step by step; or say that none does.

    Exit code: 70 internal error, with a folder to report; otherwise as of check. Of a test in PTX:
    1 there is no such run; 3 a limit was met; 0 otherwise.
    """
    from rspverify.api.inputs import split
    from rspverify.source import InputError, Problem, require

    if len(words) > 2:
        message = f"explain must have [SCHEME] TEST and no more, not {' '.join(words[2:])}"
        raise InputError([Problem(None, message, "rspverify explain --help")])
    if len(words) == 1:
        require(not split(words)[0], f"a test must be given, too, behind the scheme {words[0]}")
        _show_run(settings, words[0], outcome, output)
    require(outcome is None, "--outcome must go without a scheme, and with a test in PTX")
    scheme, test = words
    _show_verdict(settings, scheme, test, output)


def _show_run(settings: Settings, test: str, outcome: str | None, output: str | None) -> None:
    from rspverify.api.runs import trace
    from rspverify.render.console import opened
    from rspverify.render.progress import working
    from rspverify.render.run_text import run_in_words

    with working(f"{test} on the machine", settings.seconds):
        found = trace(test, settings, outcome).run
    with opened(output) as console:
        for part in run_in_words(found):
            console.print(part)
    raise typer.Exit(exit_code(found=found.execution is None))


def _show_verdict(settings: Settings, scheme: str, test: str, output: str | None) -> None:
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
