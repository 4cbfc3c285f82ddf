"""`compare`: what an edit of a scheme changes."""

from __future__ import annotations

from functools import partial
from typing import Annotated

import typer

from rspverify.commands.command import command
from rspverify.commands.completion import scheme_words, test_words
from rspverify.commands.exit_code import exit_code
from rspverify.commands.guard import told
from rspverify.commands.options import ClusterAt, Jobs, NoCache, OutputFile, PageFormat, Reports
from rspverify.commands.output import judge_of, note, print_answer
from rspverify.commands.reports import WRITTEN, PageForm, reports_meant
from rspverify.soundness.settings import OPTIONS, Settings

_LIMIT = 1_000


@command("What an edit of a scheme changes.", takes=OPTIONS.keys() - {"confirm", "smt_dir"})
def compare(
    settings: Settings,
    old: Annotated[
        str,
        typer.Argument(metavar="OLD", help="A scheme, a .yaml file.", autocompletion=scheme_words),
    ],
    new: Annotated[
        str,
        typer.Argument(
            metavar="NEW",
            help="Another, perhaps an edit of OLD with the same name.",
            autocompletion=scheme_words,
        ),
    ],
    tests: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="TEST…",
            autocompletion=test_words,
            help="Files or folders of tests. Default: those of the suite litmus/rsp.",
        ),
    ] = None,
    costs: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="What instructions cost, as in `FLU_L1 DV: 40`; what it leaves out costs as "
            "in rspverify/scheme/costs.yaml.",
        ),
    ] = None,
    fail_on_regression: Annotated[
        bool,
        typer.Option(
            "--fail-on-regression",
            help="Exit with 1 if a test got worse: SOUND is better than UNSUPPORTED, that than "
            "VACUOUS, that than UNSOUND; LIVE is better than STUCK. RACY counts as SOUND.",
        ),
    ] = False,
    limit: Annotated[
        int,
        typer.Option(
            "--limit-outcomes",
            min=1,
            help="Where a compiled test has more outcomes, those gained and lost are not listed.",
        ),
    ] = _LIMIT,
    everything: Annotated[
        bool,
        typer.Option("--all", help="Print a line for every test that becomes other code."),
    ] = False,
    format: PageFormat = PageForm.TEXT,
    report: Reports = None,
    output: OutputFile = None,
    jobs: Jobs = None,
    cluster: ClusterAt = None,
    no_cache: NoCache = False,
) -> None:
    """Compare two schemes, one perhaps an edit of the other: what rows cost, verdicts, outcomes.

    Only tests that become other code under NEW than under OLD are decided. Rows are matched by
    the operations that they compile.

    Exit: 70 internal error, with a folder to report; 2 wrong input; 1 with --fail-on-regression, a
    test got worse; 3 a verdict, or progress, is UNKNOWN; 0 otherwise, whatever the verdicts are.
    """
    from rspverify.api.comparisons import Change
    from rspverify.api.comparisons import compare as compared
    from rspverify.render.compare_text import CompareStream, summary
    from rspverify.render.console import opened
    from rspverify.source import require
    from rspverify.verdict import Word

    written = reports_meant(report or (), [old, new, *(tests or ()), costs, output], WRITTEN)
    for scheme in (old, new):
        message = f"the two schemes must come first, and then the tests: {scheme}"
        require(not scheme.endswith(".litmus"), message)
    judge = judge_of(jobs, cluster, cached=not no_cache)
    asked = compared(
        old, new, tests or None, settings, costs=costs, most_outcomes=limit, judge=judge
    )
    note(asked.notes)
    text = format is PageForm.TEXT
    with opened(output) as console:
        with CompareStream(console, len(asked.tests), text=text, everything=everything) as stream:
            stream.start(asked.start)
            stop = told(asked.each(stream.show))
        whole = asked.report(stop)
        page = partial(asked.page, whole, stop)
        unwritten = print_answer(console, format, whole, summary(whole), page, written)
    changes = {each.change for each in whole.tests}
    raise typer.Exit(
        exit_code(
            internal=any(each.failed for each in whole.left_out)
            or any(each.failed for each in whole.tests),
            interrupted=stop.interrupted,
            wrong=unwritten or any(each.verdict is Word.ERROR for each in whole.left_out),
            found=fail_on_regression and Change.WORSE in changes,
            undecided=stop.limit or Change.UNKNOWN in changes,
        )
    )
