"""`explain`: one verdict with all that it rests on."""

from __future__ import annotations

import typer

from rspverify.commands.command import command
from rspverify.commands.exit_code import exit_code_of
from rspverify.commands.options import OutputFile, SchemeFile, TestFile
from rspverify.commands.output import print_parts
from rspverify.soundness.settings import OPTIONS, Settings


@command("One verdict with all that it rests on.", takes=OPTIONS)
def explain(
    settings: Settings, scheme: SchemeFile, test: TestFile, output: OutputFile = None
) -> None:
    """Explain one verdict: the counterexample step by step, the race, or how far it reaches.

    Exit code: 70 internal error, with a folder to report; otherwise as of check.
    """
    from rspverify.axiomatic import load_model
    from rspverify.corpus.inputs import meant_by
    from rspverify.judge.explain import explain as explained
    from rspverify.judge.incident import Incident, reporting
    from rspverify.judge.judge import Judge
    from rspverify.judge.loaded_test import read_test
    from rspverify.judge.reading import load_scheme
    from rspverify.judge.verdicts import NamedScheme, Verdicts
    from rspverify.render.explanation_text import explanation
    from rspverify.source import read_source, require

    require(
        not scheme.endswith(".litmus"), f"the scheme must come first, and then the test: {scheme}"
    )
    meant = meant_by(schemes=[scheme], tests=[test])
    (scheme,), (test,) = meant.schemes, meant.tests
    with reporting(Incident("explain", (test,), (scheme,), settings)):
        table = load_scheme(scheme, settings)
        found = explained(
            read_test(read_source(test), settings),
            NamedScheme.of(table, scheme),
            Verdicts(Judge(), load_model(settings.model), settings),
        )
    print_parts(output, explanation(found))
    raise typer.Exit(exit_code_of([found.result]))
