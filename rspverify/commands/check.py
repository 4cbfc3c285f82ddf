"""`check`: a verdict for each test under each scheme, and suites held to what is expected."""

from __future__ import annotations

import sys
from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from rspverify.commands.command import command
from rspverify.commands.completion import scheme_and_test_words
from rspverify.commands.exit_code import exit_code, exit_code_of, first_of
from rspverify.commands.guard import tell, told
from rspverify.commands.options import ClusterAt, Jobs, NoCache, OutputFile, Reports
from rspverify.commands.output import judge_of, note
from rspverify.commands.reports import Form, reports_meant, write_reports
from rspverify.records import replace
from rspverify.soundness.settings import OPTIONS, Settings
from rspverify.source import Given, require

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from rspverify.answers import SuiteReport
    from rspverify.api.checks import Check


@command("A verdict for each test under each scheme.", takes=OPTIONS)
def check(
    settings: Settings,
    inputs: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[SCHEME… [TEST…] | SUITE…]",
            autocompletion=scheme_and_test_words,
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
    everything: Annotated[
        bool,
        typer.Option(
            "--all", help="Print a line for every test, not only where one wishes it otherwise."
        ),
    ] = False,
    format: Annotated[
        Form,
        typer.Option(
            help="Text, or for other tools: JSON, JUnit XML, SARIF 2.1.0, Markdown, annotations of "
            "a GitHub workflow; or a page of HTML to look into."
        ),
    ] = Form.TEXT,
    report: Reports = None,
    output: OutputFile = None,
    compiler: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="In the place of a scheme: compile each test, whole, and check what is emitted. "
            "amdgpu:CPU, as amdgpu:gfx942, amdgpu:gfx942+tgsplit.",
        ),
    ] = None,
    llc: Annotated[
        str | None,
        typer.Option(metavar="PATH", help="The llc that compiles. Default: LLVM in llvmlite."),
    ] = None,
    compare_table: Annotated[
        bool,
        typer.Option(
            "--compare-table",
            help="Also check the table by which --compiler compiles operations one by one, and "
            "tell where the two differ.",
        ),
    ] = False,
    jobs: Jobs = None,
    cluster: ClusterAt = None,
    no_cache: NoCache = False,
) -> None:
    """Check schemes against litmus tests: a verdict for each test under each scheme.

    Without a scheme, run suites: tests that say themselves what they are put to, and what is
    expected of them.

    Exit: 70 internal error, with a folder to report; 2 wrong input, or a report that cannot be
    written; 1 UNSOUND, STUCK or unexpected; 3 UNKNOWN, VACUOUS, UNSUPPORTED; 0 otherwise.
    """
    from rspverify.api.checks import check as checked
    from rspverify.api.checks import check_suites
    from rspverify.api.compilers import compilers_named, differences, tables_of
    from rspverify.api.inputs import split
    from rspverify.api.reasons import Wanted
    from rspverify.render.check_text import CheckStream
    from rspverify.render.console import opened
    from rspverify.render.suites_text import SuitesStream

    files = reports_meant(report or (), [*(inputs or ()), expect, output], Form)
    judge = judge_of(jobs, cluster, cached=not no_cache, settings=settings)
    text = format is Form.TEXT
    named = compilers_named(compiler or (), llc)
    require(llc is None or bool(named), "--llc must go with --compiler")
    require(not compare_table or bool(named), "--compare-table must go with --compiler")
    parts = None
    if not named:
        parts = check_suites(inputs or (), settings, refresh=refresh, judge=judge)
    suites = parts is not None
    require(
        not suites or expect is None, "--expect must go with a scheme: a suite has its own file"
    )
    if parts is None:
        schemes, tests = split(inputs or ())
        given: list[Given] = [*schemes, *named]
        if compare_table:
            given += tables_of(named, tests, settings)
        parts = [checked(given, tests, settings, expect=expect, refresh=refresh, judge=judge)]
    first = parts[0]
    note(first.notes)
    reports: list[SuiteReport] = []
    codes: list[int] = []
    wanted = Wanted.of({format, *files.values()})
    with opened(output) as console:
        stream: CheckStream | SuitesStream = SuitesStream(console, text=text)
        if not suites:
            stream = CheckStream(
                console,
                first.names,
                first.tests,
                text,
                wished=first.wished,
                everything=everything,
                progress=settings.progress,
            )
        with stream:
            for part in parts:
                stream.begin(part.suite.folder, part.total)
                found = part.report(told(part.each(stream.show)))
                reports.append(part.with_reasons(replace(found, refreshed=refresh), wanted, stream))
                wanted = wanted.after(reports[-1])
                stream.end(reports[-1])
                if reports[-1].stopped:
                    break
            problems = write_reports(_forms(reports), files) if files else []
            if text:
                stream.finish(reports, () if suites else first.commands())
                for line in differences(reports[0]) if compare_table else ():
                    console.print(line, markup=False, highlight=False, soft_wrap=True)
            else:
                console.file.write(_forms(reports)[format]())
    tell(problems)
    for part, its in zip(parts, reports, strict=False):
        codes.append(_written(part, its) if refresh else _exit_code(its))
    raise typer.Exit(first_of([*codes, exit_code(wrong=problems)]))


def _forms(reports: Sequence[SuiteReport]) -> Mapping[Form, Callable[[], str]]:
    """The reports in each form; made when that is wanted."""
    from rspverify.render.check_forms import FORMS

    return {form: partial(FORMS[form], reports) for form in Form}


def _exit_code(report: SuiteReport) -> int:
    code = exit_code_of(report.results, report.held, interrupted=report.interrupted)
    return first_of((code, exit_code(undecided=report.limit)))


def _written(part: Check, report: SuiteReport) -> int:
    """The exit code once the results are written to the file of what is expected."""
    from rspverify.verdict import Word

    results = report.results
    if report.stopped or any(each.internal for each in results):
        return _exit_code(report)
    wrong = part.expect(results)
    print(f"wrote {part.suite.expected}", file=sys.stderr)
    open_ = [each.file for each in results if Word.UNKNOWN in each.words.split()]
    if open_:
        named = ", ".join(dict.fromkeys(open_))
        print(f"note: UNKNOWN is what is expected now of {named}", file=sys.stderr)
    for message in wrong:
        print(message, file=sys.stderr)
    return exit_code(wrong=wrong)
