"""`check`: a verdict for each test under each scheme, and suites held to what is expected."""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rspverify.commands.command import command
from rspverify.commands.completion import scheme_and_test_words
from rspverify.commands.exit_code import exit_code, exit_code_of, first_of
from rspverify.commands.guard import collect, stoppable, tell
from rspverify.commands.options import Jobs, NoCache, OutputFile, Reports
from rspverify.commands.output import judge_of, note
from rspverify.commands.reasons import Wanted, with_reasons
from rspverify.commands.reports import Form, reports_meant, write_reports
from rspverify.soundness.settings import OPTIONS, Settings

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Mapping, Sequence

    from rspverify.answers import ModelAnswer, Result, SuiteReport
    from rspverify.corpus.expected import Expected
    from rspverify.corpus.suite import Suite
    from rspverify.judge.judge import Judge
    from rspverify.render.check_text import CheckStream
    from rspverify.render.suites_text import SuitesStream


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
    jobs: Jobs = None,
    no_cache: NoCache = False,
) -> None:
    """Check schemes against litmus tests: a verdict for each test under each scheme.

    Without a scheme, run suites: tests that say themselves what they are put to, and what is
    expected of them.

    Exit: 70 internal error, with a folder to report; 2 wrong input, or a report that cannot be
    written; 1 UNSOUND, STUCK or unexpected; 3 UNKNOWN, VACUOUS, UNSUPPORTED; 0 otherwise.
    """
    from rspverify.corpus.inputs import suites_meant
    from rspverify.judge.answers import answers_may_be_kept
    from rspverify.render.check_text import CheckStream
    from rspverify.render.console import opened
    from rspverify.render.suites_text import SuitesStream
    from rspverify.source import require

    files = reports_meant(report or (), [*(inputs or ()), expect, output], Form)
    suites = suites_meant(inputs or ())
    require(
        suites is None or expect is None,
        "--expect must go with a scheme: a suite has its own file",
    )
    judge = judge_of(jobs, cached=answers_may_be_kept(settings) and not no_cache)
    text = format is Form.TEXT
    if suites is None:
        parts = [_of_command_line(settings, inputs or (), expect, refresh, judge)]
    else:
        parts = _of_suites(settings, suites, refresh, judge)
    first = parts[0]
    reports: list[SuiteReport] = []
    wanted = Wanted.of({format, *files.values()})
    with opened(output) as console:
        stream: CheckStream | SuitesStream = SuitesStream(console, text=text)
        if suites is None:
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
                reports.append(part.run(stream, judge, refresh=refresh, wanted=wanted))
                wanted = wanted.after(reports[-1])
                stream.end(reports[-1])
                if reports[-1].stopped:
                    break
            problems = write_reports(_forms(reports), files) if files else []
            if text:
                commands = first.commands(reports[0]) if suites is None else ()
                stream.finish(reports, commands)
            else:
                console.file.write(_forms(reports)[format]())
    tell(problems)
    ended = zip(parts, reports, strict=False)
    codes = [part.exit_code(report, refresh) for part, report in ended]
    raise typer.Exit(first_of([*codes, exit_code(wrong=problems)]))


def _forms(reports: Sequence[SuiteReport]) -> Mapping[Form, Callable[[], str]]:
    """The reports in each form; made when that is wanted."""
    from rspverify.render.check_forms import FORMS

    return {form: partial(FORMS[form], reports) for form in Form}


@dataclass(frozen=True)
class _Part:
    """Tests and what they are put to: a suite, or what a command line names as if it were one.

    names: of the columns, as they are shown. given: the paths that were asked for. known: what is
    expected, None where nothing is. coming: the results.
    """

    suite: Suite
    names: Sequence[str]
    settings: Settings
    tests: Sequence[str]
    given: Sequence[str]
    known: Expected | None
    coming: Generator[Result | ModelAnswer, None, None]

    def wished(self, result: Result) -> bool:
        """Whether a result is as one wishes: the expected one, where something is expected."""
        from rspverify.render.check_text import wished

        if self.known is None:
            return wished(result)
        return self.known.of(result) == result.claim and not result.internal

    def commands(self, report: SuiteReport) -> list[str]:
        """What shows why the smallest test that breaks a scheme does, if one does."""
        from rspverify.answers import ModelAnswer
        from rspverify.shipped import located
        from rspverify.soundness.settings import explain_command
        from rspverify.verdict import ProgressWord, Word

        shown: list[tuple[bool, int, str, Result]] = []
        for it in report.results:
            if isinstance(it, ModelAnswer):
                continue
            stuck = it.progress is ProgressWord.STUCK
            if (it.verdict is Word.UNSOUND or stuck) and not self.wished(it):
                sound, size = it.verdict is not Word.UNSOUND, located(it.file).stat().st_size
                shown.append((sound, size, it.file, it))
        if not shown:
            return []
        stuck, _, file, smallest = min(shown, key=lambda each: each[:3])
        return [explain_command(smallest.scheme_file, file, self.settings, progress=stuck)]

    @property
    def total(self) -> int:
        """How many results there are to be."""
        return len(self.tests) * len(self.suite.columns)

    def run(
        self, stream: CheckStream | SuitesStream, judge: Judge, *, refresh: bool, wanted: Wanted
    ) -> SuiteReport:
        """The results as far as they came, each shown, held to what is expected.

        wanted: what is asked of findings besides.
        """
        from rspverify.answers import SuiteReport

        started, held = time.perf_counter(), None
        results: list[Result | ModelAnswer] = []
        with stoppable() as stop:
            collect(self.coming, results, stream.show)
        if self.known is not None:
            progress = self.settings.progress
            held = self.known.held(results, self.given, self.tests, progress=progress)
        it, seconds = self.suite, time.perf_counter() - started
        report = SuiteReport(
            folder=it.folder,
            about=it.about,
            noun=it.kind.noun,
            names=tuple(self.names),
            total=self.total,
            results=tuple(results),
            held=held,
            seconds=seconds,
            refreshed=refresh,
            interrupted=stop.interrupted,
            limit=stop.limit,
        )
        return with_reasons(report, self.settings, judge, wanted, stream)

    def exit_code(self, report: SuiteReport, refresh: bool) -> int:
        """The exit code; where the file of what is expected is to be written, it is."""
        from rspverify.corpus.expected import not_to_be_expected, write_expected
        from rspverify.verdict import Word

        results = report.results
        if not refresh or report.stopped or any(each.internal for each in results):
            limit = exit_code(undecided=report.limit)
            code = exit_code_of(results, report.held, interrupted=report.interrupted)
            return first_of((code, limit))
        write_expected(self.suite.expected, results, self.settings.model, self.suite.kind)
        print(f"wrote {self.suite.expected}", file=sys.stderr)
        open_ = [each.file for each in results if Word.UNKNOWN in each.words.split()]
        if open_:
            named = ", ".join(dict.fromkeys(open_))
            print(f"note: UNKNOWN is what is expected now of {named}", file=sys.stderr)
        wrong = not_to_be_expected(results)
        for message in wrong:
            print(message, file=sys.stderr)
        return exit_code(wrong=wrong)


def _of_command_line(
    settings: Settings,
    inputs: Sequence[str],
    expect: str | None,
    refresh: bool,
    judge: Judge,
) -> _Part:
    """Schemes and tests."""
    from rspverify.corpus.expected import read_expected
    from rspverify.corpus.inputs import split_inputs
    from rspverify.corpus.suite import Kind, Suite
    from rspverify.judge.reading import read_inputs
    from rspverify.judge.run import Run
    from rspverify.source import require

    meant = split_inputs(inputs)
    schemes, tests = meant.schemes, meant.tests
    require(not refresh or expect is not None, "--refresh must come with --expect FILE")
    require(expect is None or Path(expect).parent.is_dir(), f"{expect}: its folder must exist")
    known = read_expected(expect, settings.model) if expect and not refresh else None
    read = read_inputs(schemes, settings, judge)
    note(meant.notes)
    suite = Suite("", "", Kind.SCHEMES, tuple(schemes), {}, expect or "", False)
    coming = Run(read, judge).results(tests)
    return _Part(suite, read.names, settings, tests, meant.given, known, coming)


def _of_suites(
    settings: Settings, suites: Sequence[Suite], refresh: bool, judge: Judge
) -> list[_Part]:
    from rspverify.corpus.expected import read_all_expected
    from rspverify.corpus.run import suite_results
    from rspverify.shipped import ships
    from rspverify.source import require

    for suite in suites:
        message = (
            f"{suite.expected}: ships with rspverify; --refresh must go with suites of one's own"
        )
        require(not (refresh and ships(suite.expected)), message)
    chosen = [suite.settings(settings) for suite in suites]
    known = [None] * len(suites) if refresh else read_all_expected(suites, chosen)
    parts = []
    for suite, its, expected in zip(suites, chosen, known, strict=True):
        tests = suite.tests()
        coming = suite_results(suite, its, tests, judge)
        parts.append(_Part(suite, suite.columns, its, tests, [suite.folder], expected, coming))
    return parts
