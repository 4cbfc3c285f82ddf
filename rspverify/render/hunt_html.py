"""`hunt` as a page of HTML: the programs that break a scheme, each with the row at fault."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from rspverify.answers import Detail, RowsAtFault
from rspverify.engineering.hunt.finding import Finding, HuntReport
from rspverify.render.cells import changed_codes, plain
from rspverify.render.finding_html import explained
from rspverify.render.hunt_text import (
    HEADS,
    goes_on_with,
    heading,
    made_stronger,
    mended_by_others,
    phase_cells,
    reason,
    smallest,
    summary,
)
from rspverify.render.page import Article, Cell, Matrix, Page, Row, Table
from rspverify.render.page_html import left_out, page, told
from rspverify.render.words import UNMENDED
from rspverify.verdict import Word


def html(
    it: HuntReport,
    details: Mapping[str, Detail],
    faults: Mapping[str, RowsAtFault],
    made: Callable[[Page], str] = page,
) -> str:
    """The page. details, faults: of the programs, by their texts. made: of what is shown."""
    articles = [
        _article(each, it, f"f{n}", details.get(each.text), faults.get(each.text))
        for n, each in enumerate(told(it.findings), 1)
    ]
    places = [each.place for each in articles] + [""] * (len(it.findings) - len(articles))
    found, shown = len(it.findings), sum(each.text in details for each in it.findings)
    *said, last = [*summary(it)]
    subject = it.subject
    rows = [_row(each, place) for each, place in zip(it.findings, places, strict=True)]
    heads = ("verdict", "row at fault", "operations", "threads", "steps")
    how = "--write DIR, and then rspverify explain,"
    return made(
        Page(
            command="hunt",
            conclusion=subject.titled,
            warnings=[str(each) for each in it.internal],
            lines=[last.plain],
            notes=[each.plain for each in (*heading(it), *said)],
            results="Programs that break it",
            matrices=[Matrix("", "", heads, [("smallest first", rows)], noun="program")]
            if rows
            else [],
            findings=articles,
            left_out=list(left_out(found, len(articles), found, shown, how)),
            counted=[_phases(it)] if it.phases else [],
        )
    )


def _phases(it: HuntReport) -> Table:
    rows = [[plain(each) for each in phase_cells(phase)] for phase in it.phases]
    return Table("Programs up to symmetry", HEADS, rows, numbers=len(HEADS))


def _row(it: Finding, place: str) -> Row:
    blamed = ", ".join(f"row {row.number}, {row.operations}" for row in it.blamed)
    cells = [
        Cell(Word.UNSOUND, Word.UNSOUND, it.reason, place=place),
        Cell("", blamed or "none"),
        *(Cell("", f"{each}") for each in (it.events, it.threads)),
        None if it.steps is None else Cell("", f"{it.steps}"),
    ]
    return Row(it.program, it.file or "", cells, True)


def _article(
    it: Finding, report: HuntReport, place: str, detail: Detail | None, fault: RowsAtFault | None
) -> Article:
    words = [
        f"It breaks {made_stronger(it, report.subject.scheme)}: {reason(it)}.",
        f"A smallest one: {smallest(it, report.method.by)}).",
        *([] if it.blamed else [UNMENDED]),
        *filter(None, [mended_by_others(it), goes_on_with(it)]),
    ]
    tables = []
    if it.blamed:
        rows = [
            [plain(f"row {row.number}, {row.operations}"), *changed_codes(row.code, row.strongest)]
            for row in it.blamed
        ]
        heads = ("row at fault", "code", "as strong as can be")
        tables.append(Table("What mends it, and the hunt goes on with", heads, rows))
    shown = Article(
        place,
        Word.UNSOUND,
        it.program,
        "\n".join(words),
        [it.file] if it.file else [],
        tables=tables,
    )
    return explained(shown, report.subject.file, fault, detail)
