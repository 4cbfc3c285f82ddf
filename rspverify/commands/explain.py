"""`explain`: one verdict with all that it rests on."""

from __future__ import annotations

from functools import partial

import typer

from rspverify.commands.command import command
from rspverify.commands.exit_code import exit_code_of
from rspverify.commands.guard import Stop, stoppable
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
    from rspverify.axiomatic import load_model
    from rspverify.corpus.inputs import meant_by
    from rspverify.judge.explain import Reach
    from rspverify.judge.explain import explain as explained
    from rspverify.judge.incident import Incident, reporting
    from rspverify.judge.judge import Judge
    from rspverify.judge.loaded_test import read_test
    from rspverify.judge.reading import load_scheme
    from rspverify.judge.verdicts import NamedScheme, Verdicts
    from rspverify.render.console import opened
    from rspverify.render.explanation_text import explanation, reached
    from rspverify.render.progress import working
    from rspverify.source import read_source, require
    from rspverify.verdict import Word

    require(
        not scheme.endswith(".litmus"), f"the scheme must come first, and then the test: {scheme}"
    )
    meant = meant_by(schemes=[scheme], tests=[test])
    (scheme,), (test,) = meant.schemes, meant.tests
    incident, limits = Incident("explain", (test,), (scheme,), settings), settings.limits()
    shown = partial(working, f"{test} under {scheme}", settings.seconds)
    with reporting(incident), shown():
        named = NamedScheme.of(load_scheme(scheme, settings), scheme)
        loaded = read_test(read_source(test), settings)
        verdicts = Verdicts(Judge(), load_model(settings.model), settings)
        found = explained(loaded, named, verdicts)
    stop = Stop()
    with opened(output) as console:
        for part in explanation(found):
            console.print(part)
        if found.verdict.word is Word.SOUND and not settings.progress:
            console.file.flush()
            with reporting(incident), shown():
                reach = Reach(loaded, named, verdicts, limits)
                with stoppable() as stop:
                    reach.find()
            for part in reached(reach.answer()):
                console.print(part)
    raise typer.Exit(exit_code_of([found.result], interrupted=stop.interrupted))
