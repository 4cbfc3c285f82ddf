"""`check`: a verdict for each test under each scheme, and suites held to what is expected."""

from __future__ import annotations

import os
import sys
import time
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rspverify.commands.command import command
from rspverify.commands.exit_code import INTERRUPTED, exit_code, exit_code_of, first_of
from rspverify.commands.guard import stoppable
from rspverify.commands.options import Format, FormatName, Jobs, NoCache, OutputFile
from rspverify.commands.output import warn_once
from rspverify.soundness.settings import OPTIONS, Settings

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rspverify.answers import ModelAnswer, Result
    from rspverify.corpus.suite import Kind, Suite


@command("A verdict for each test under each scheme.", takes=OPTIONS)
def check(
    settings: Settings,
    inputs: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[SCHEME… [TEST…] | SUITE…]",
            help="Schemes (files that end in .yaml) and tests (files or folders; default: those of "
            "the suite litmus/rsp). Or suites (folders with a suite.yaml, or with such folders; "
            "default: litmus).",
        ),
    ] = None,
    expect: Annotated[
        str | None,
        typer.Option(
            help="Hold the verdicts (and progress, if asked for) to this file: 0 if all are as "
            "expected."
        ),
    ] = None,
    refresh: Annotated[
        bool,
        typer.Option(
            "--refresh", help="Write the verdicts to the file of --expect, or of suites, instead."
        ),
    ] = False,
    format: Format = FormatName.TEXT,
    output: OutputFile = None,
    jobs: Jobs = None,
    no_cache: NoCache = False,
) -> None:
    """Check schemes against litmus tests: a verdict for each test under each scheme.

    Without a scheme, run suites: tests that say themselves what they are put to, and what is
    expected of them.

    Exit: 70 internal error, with a folder to report; 2 wrong input; 1 UNSOUND, STUCK or
    unexpected; 3 UNKNOWN, VACUOUS, UNSUPPORTED; 0 otherwise.
    """
    from rspverify.corpus.inputs import suites_meant

    text, workers = format is FormatName.TEXT, jobs or os.cpu_count() or 1
    suites = suites_meant(inputs or ())
    if suites is None:
        given = inputs or []
        code = _check(settings, given, expect, refresh, text, output, workers, cached=not no_cache)
    else:
        from rspverify.source import require

        require(expect is None, "--expect must go with a scheme: a suite has its own file")
        code = _suites(settings, suites, refresh, text, output, workers, cached=not no_cache)
    raise typer.Exit(code)


def _check(
    settings: Settings,
    inputs: Sequence[str],
    expect: str | None,
    refresh: bool,
    text: bool,
    output: str | None,
    workers: int,
    *,
    cached: bool,
) -> int:
    """Schemes against tests; the exit code."""
    from rspverify.corpus.expected import read_expected
    from rspverify.corpus.inputs import split_inputs
    from rspverify.corpus.suite import Kind
    from rspverify.judge.answers import answers_may_be_kept
    from rspverify.judge.cache import cache_place
    from rspverify.judge.judge import Judge
    from rspverify.judge.reading import read_inputs
    from rspverify.judge.run import Run
    from rspverify.render.check_text import CheckStream
    from rspverify.render.console import opened
    from rspverify.source import require

    schemes, tests = split_inputs(inputs)
    require(not refresh or expect is not None, "--refresh must come with --expect FILE")
    require(expect is None or Path(expect).parent.is_dir(), f"{expect}: its folder must exist")
    known = read_expected(expect, settings.model) if expect and not refresh else None
    started = time.perf_counter()
    warn = warn_once()
    judge = Judge(cache_place(cached and answers_may_be_kept(settings), warn), warn, workers)
    given = read_inputs(schemes, settings, judge)
    results: list[Result] = []
    held = None
    with opened(output) as console:
        with (
            CheckStream(
                console, given.names, len(tests), text, progress=settings.progress
            ) as stream,
            stoppable() as stop,
            closing(Run(given, judge).results(tests)) as coming,
        ):
            for result in coming:
                results.append(result)
                stream.show(result)
        if known is not None:
            held = known.held(results, inputs, tests, progress=settings.progress)
        if text:
            total = len(tests) * len(schemes)
            stream.finish(time.perf_counter() - started, total, held)
        else:
            from rspverify.answers import check_report
            from rspverify.convert import to_json

            console.file.write(to_json(check_report(results, interrupted=stop.interrupted)))
    if refresh and expect and not stop.reason and not any(each.internal for each in results):
        return _refreshed(expect, results, settings.model, Kind.SCHEMES)
    return exit_code_of(results, held, interrupted=stop.interrupted)


def _suites(
    settings: Settings,
    suites: Sequence[Suite],
    refresh: bool,
    text: bool,
    output: str | None,
    workers: int,
    *,
    cached: bool,
) -> int:
    """Suites, one after the other; the exit code of all."""
    from rspverify.answers import SuiteReport
    from rspverify.corpus.expected import read_all_expected
    from rspverify.corpus.run import suite_results
    from rspverify.judge.answers import answers_may_be_kept
    from rspverify.judge.cache import cache_place
    from rspverify.judge.judge import Judge
    from rspverify.render.console import opened
    from rspverify.render.suites_text import SuitesStream

    chosen = [suite.settings(settings) for suite in suites]
    known = [None] * len(suites) if refresh else read_all_expected(suites, chosen)
    warn = warn_once()
    reports: list[SuiteReport] = []
    codes: list[int] = []
    with opened(output) as console, SuitesStream(console, text=text) as stream:
        for suite, its, expected in zip(suites, chosen, known, strict=True):
            started = time.perf_counter()
            tests = suite.tests()
            results: list[Result | ModelAnswer] = []
            stream.begin(suite.folder, total := len(tests) * len(suite.columns))
            place = cache_place(cached and answers_may_be_kept(its), warn)
            judge = Judge(place, warn, workers)
            with stoppable() as stop, closing(suite_results(suite, its, tests, judge)) as coming:
                for result in coming:
                    results.append(result)
                    stream.advance()
            held = None
            if expected is not None:
                held = expected.held(results, [suite.folder], tests, progress=its.progress)
            of_suite = SuiteReport(
                suite.folder,
                suite.about,
                suite.kind.noun,
                len(suite.columns),
                total,
                tuple(results),
                held,
                time.perf_counter() - started,
            )
            reports.append(of_suite)
            stream.show(of_suite, refreshed=refresh)
            codes.append(exit_code_of(results, held, interrupted=stop.interrupted))
            if stop.reason:
                codes.append(exit_code(undecided=stop.limit))
                break
            if refresh and not any(each.internal for each in results):
                codes[-1] = _refreshed(suite.expected, results, its.model, suite.kind)
        if text:
            stream.finish(reports)
        else:
            from rspverify.answers import check_report
            from rspverify.convert import to_json

            report = check_report((), reports, interrupted=INTERRUPTED in codes)
            console.file.write(to_json(report))
    return first_of(codes)


def _refreshed(path: str, results: Sequence[Result | ModelAnswer], model: str, kind: Kind) -> int:
    """Writes a file of what is expected; the exit code."""
    from rspverify.corpus.expected import not_to_be_expected, write_expected

    write_expected(path, results, model, kind)
    print(f"wrote {path}", file=sys.stderr)
    wrong = not_to_be_expected(results)
    for message in wrong:
        print(message, file=sys.stderr)
    return exit_code(wrong=wrong)
