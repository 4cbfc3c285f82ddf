"""`rspverify compare`: what an edit of a scheme changes."""

from __future__ import annotations

import os
from contextlib import closing
from typing import TYPE_CHECKING, Annotated

import typer

from rspverify.commands.guard import INTERRUPTED, guarded
from rspverify.commands.output import warn_once
from rspverify.options import Format, FormatName, Jobs, NoCache, OutputFile, with_settings
from rspverify.soundness.settings import Settings

if TYPE_CHECKING:
    from rspverify.engineering.comparison import Compared

_LIMIT = 1_000


@guarded
@with_settings("confirm", "smt_dir")
def compare(
    settings: Settings,
    old: Annotated[str, typer.Argument(metavar="OLD", help="A scheme, a .yaml file.")],
    new: Annotated[
        str,
        typer.Argument(metavar="NEW", help="Another, perhaps an edit of OLD with the same name."),
    ],
    tests: Annotated[
        list[str] | None,
        typer.Argument(metavar="TEST…", help="Files or folders of tests. Default: litmus."),
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
    format: Format = FormatName.TEXT,
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
    from rspverify.check.inputs import find_tests, require
    from rspverify.engineering.compare import Comparer, comparison, exit_code, read_both
    from rspverify.judge.cache import cache_place
    from rspverify.judge.judge import Judge
    from rspverify.judge.run import Run
    from rspverify.limits import LimitReached
    from rspverify.render.compare_stream import CompareStream
    from rspverify.render.console import opened
    from rspverify.scheme.cost import default_costs, read_costs
    from rspverify.source import InputError, Problem

    for scheme in (old, new):
        message = f"the two schemes must come first, and then the tests: {scheme}"
        require(not scheme.endswith(".litmus"), message)
    problems: list[Problem] = []
    files = find_tests(tests or ["litmus"], problems)
    weights, given = default_costs(), None
    warn = warn_once()
    judge = Judge(cache_place(not no_cache, warn), warn, jobs or os.cpu_count() or 1)
    try:
        weights = read_costs(costs) if costs else weights
    except InputError as error:
        problems += error.problems
    try:
        given = read_both(old, new, settings, judge)
    except InputError as error:
        problems += error.problems
    if problems or given is None:
        raise InputError(problems)

    found: list[Compared] = []
    stopped, code = None, 0
    with opened(output) as console, CompareStream(console, format.value, len(files)) as stream:
        start = comparison(given, weights, len(files), limit)
        stream.start(start)
        try:
            with closing(Comparer(Run(given, judge), limit).compared(files)) as coming:
                for each in coming:
                    found.append(each)
                    stream.show(each)
        except KeyboardInterrupt:
            stopped, code = "interrupted", INTERRUPTED
        except LimitReached as met:
            stopped = str(met)
        whole = start.ended(found, stopped)
        stream.finish(whole)
    raise typer.Exit(code or exit_code(whole, fail_on_regression=fail_on_regression))
