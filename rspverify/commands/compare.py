"""`compare`: what an edit of a scheme changes."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from rspverify.commands.command import command
from rspverify.commands.completion import scheme_words, test_words
from rspverify.commands.exit_code import exit_code
from rspverify.commands.guard import collect, stoppable
from rspverify.commands.options import Jobs, NoCache, OutputFile, PageFormat, Reports
from rspverify.commands.output import judge_of, note, print_answer
from rspverify.commands.reports import WRITTEN, PageForm, reports_meant
from rspverify.soundness.settings import OPTIONS, Settings

if TYPE_CHECKING:
    from rspverify.engineering.comparison import Compared

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
    no_cache: NoCache = False,
) -> None:
    """Compare two schemes, one perhaps an edit of the other: what rows cost, verdicts, outcomes.

    Only tests that become other code under NEW than under OLD are decided. Rows are matched by
    the operations that they compile.

    Exit: 70 internal error, with a folder to report; 2 wrong input; 1 with --fail-on-regression, a
    test got worse; 3 a verdict, or progress, is UNKNOWN; 0 otherwise, whatever the verdicts are.
    """
    from rspverify.commands.pages import compare_page
    from rspverify.corpus.inputs import Meant, default_tests, find_tests, scheme_meant
    from rspverify.engineering.compare.comparer import Comparer
    from rspverify.engineering.comparison import Change
    from rspverify.judge.reading import read_inputs
    from rspverify.judge.run import Run
    from rspverify.render.compare_text import CompareStream, summary
    from rspverify.render.console import opened
    from rspverify.scheme.cost import default_costs, read_costs
    from rspverify.shipped import located
    from rspverify.source import InputError, Problem, require
    from rspverify.verdict import Word

    written = reports_meant(report or (), [old, new, *(tests or ()), costs, output], WRITTEN)
    for scheme in (old, new):
        message = f"the two schemes must come first, and then the tests: {scheme}"
        require(not scheme.endswith(".litmus"), message)
    problems: list[Problem] = []
    meant = Meant([], find_tests(tests, problems)) if tests else default_tests(problems)
    files = meant.tests
    schemes = [scheme_meant(word, problems) for word in (old, new)]
    weights, given = default_costs(), None
    judge = judge_of(jobs, cached=not no_cache)
    try:
        weights = read_costs(costs) if costs else weights
    except InputError as error:
        problems += error.problems
    try:
        there = [path for path in schemes if located(path).exists()]
        given = read_inputs(there, settings, judge, unique=False)
    except InputError as error:  # What is wrong with a scheme that is both is met twice.
        problems += dict.fromkeys(error.problems)
    if problems or given is None:
        raise InputError(problems)

    found: list[Compared] = []
    note(meant.notes)
    text = format is PageForm.TEXT
    with opened(output) as console:
        with CompareStream(console, len(files), text=text, everything=everything) as stream:
            comparer = Comparer(Run(given, judge), limit)
            start = comparer.start(weights, len(files))
            stream.start(start)
            with stoppable() as stop:
                collect(comparer.compared(files), found, stream.show)
            whole = start.ended(found, stop.reason)
        page = partial(compare_page, whole, given, judge, stop)
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
