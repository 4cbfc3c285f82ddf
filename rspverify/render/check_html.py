"""`check` as a page of HTML: a matrix, and what each finding rests on."""

from __future__ import annotations

import posixpath
from collections.abc import Mapping, Sequence
from types import MappingProxyType

from rspverify.answers import ModelAnswer, Result, SuiteReport
from rspverify.records import replace
from rspverify.render.cells import UNKNOWN_PROGRESS, result_cell
from rspverify.render.expectations import conclusion, unfinished
from rspverify.render.finding_html import article
from rspverify.render.findings import Finding, findings
from rspverify.render.page import Matrix, Page, Row, Total
from rspverify.render.page_html import left_out, page, told
from rspverify.render.tally import PROGRESS, tally
from rspverify.verdict import ProgressWord, Word

_NOWHERE: Mapping[int, str] = MappingProxyType({})


def html(reports: Sequence[SuiteReport]) -> str:
    """The page."""
    found = [(report, each) for report in reports for each in findings(report)]
    found.sort(key=lambda it: it[0].details.get(_key(it[1])) is None)
    articles = [article(report, it, f"f{n}") for n, (report, it) in enumerate(told(found), 1)]
    places = {id(it.result): "" for _, it in found}
    places |= {id(it.result): each.place for (_, it), each in zip(found, articles, strict=False)}
    broken = [it for it in found if it[1].kind in (Word.UNSOUND, ProgressWord.STUCK)]
    shown = sum(_key(it) in report.details for report, it in broken)
    return page(
        Page(
            command="check",
            conclusion=conclusion(reports),
            warnings=list(filter(None, map(unfinished, reports))),
            totals=check_totals(reports),
            matrices=[check_matrix(it, places) for it in reports],
            findings=articles,
            left_out=list(
                left_out(
                    len(found),
                    len(articles),
                    len(broken),
                    shown,
                    "rspverify explain SCHEME TEST",
                )
            ),
        )
    )


def check_totals(reports: Sequence[SuiteReport]) -> list[Total]:
    """How many results there are of each word."""
    kinds, counts = tally([each for it in reports for each in it.results])
    return [Total(it, _class(it), sum(of[it] for of in counts.values())) for it in kinds]


def _key(it: Finding) -> tuple[str, str]:
    return (it.result.file, it.result.scheme_file) if isinstance(it.result, Result) else ("", "")


def _class(kind: str) -> str:
    """That of the cells with a word: there is a verdict UNKNOWN, and one of progress."""
    return (
        UNKNOWN_PROGRESS
        if kind == f"{PROGRESS}{ProgressWord.UNKNOWN}"
        else kind.removeprefix(PROGRESS)
    )


def check_matrix(
    report: SuiteReport, places: Mapping[int, str], addresses: Mapping[int, str] = _NOWHERE
) -> Matrix:
    """The results of a suite. places: of findings, by the identity of the result, empty of those
    that are not told; addresses: of the pages of results."""
    heads = dict.fromkeys(map(_column, report.results))
    numbers = {key: number for number, key in enumerate(heads)}
    tests: dict[str, list[Result | ModelAnswer | None]] = {}
    for each in report.results:
        cells = tests.setdefault(each.file, [None] * len(heads))
        cells[numbers[_column(each)]] = each
    expected = {
        id(it.result): it.expected or "nothing"
        for it in (report.held.differences if report.held else ())
    }
    folders: dict[str, list[Row]] = {}
    for file, results in tests.items():
        row = [
            replace(
                result_cell(it, places.get(id(it), ""), expected.get(id(it), "")),
                address=addresses.get(id(it), ""),
            )
            if it
            else None
            for it in results
        ]
        title = next((it.test for it in results if it), "") or posixpath.basename(file)
        first = any(id(it) in places or id(it) in addresses for it in results)
        folders.setdefault(posixpath.dirname(file) or ".", []).append(Row(title, file, row, first))
    return Matrix(report.folder, report.about, [name for name, _ in heads], list(folders.items()))


def _column(it: Result | ModelAnswer) -> tuple[str, str]:
    return it.column, it.scheme_file if isinstance(it, Result) else ""
