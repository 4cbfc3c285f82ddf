"""The forms of what `check` says, each a function from the reports of its suites to a text."""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping, Sequence

from rspverify.answers import Result, SuiteReport, check_report
from rspverify.convert import to_json
from rspverify.render.check_github import github
from rspverify.render.check_html import html
from rspverify.render.check_junit import junit
from rspverify.render.check_markdown import markdown
from rspverify.render.check_sarif import sarif
from rspverify.render.check_text import CheckStream, wished
from rspverify.render.console import printing_to
from rspverify.render.suites_text import SuitesStream


def wished_of(report: SuiteReport) -> Callable[[Result], bool]:
    """Which results are as one wishes: where something is expected, those that it is."""
    if report.held is None:
        return wished
    differing = {id(each.result) for each in report.held.differences}
    return lambda it: id(it) not in differing and not it.internal


def text(reports: Sequence[SuiteReport]) -> str:
    """What people read, as it is printed where no terminal is."""
    stream = io.StringIO()
    console, first = printing_to(stream), reports[0]
    shown: CheckStream | SuitesStream = SuitesStream(console, text=True)
    if not first.folder:
        progress = any(isinstance(it, Result) and it.progress for it in first.results)
        tests = list(dict.fromkeys(it.file for it in first.results))
        shown = CheckStream(
            console, first.names, tests, True, wished=wished_of(first), progress=progress
        )
    for report in reports:
        for each in report.results:
            shown.show(each)
        shown.end(report)
    shown.finish(reports)
    return stream.getvalue()


FORMS: Mapping[str, Callable[[Sequence[SuiteReport]], str]] = {
    "text": text,
    "json": lambda reports: to_json(check_report(reports)),
    "junit": junit,
    "sarif": sarif,
    "markdown": markdown,
    "github": github,
    "html": html,
}
