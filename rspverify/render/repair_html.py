"""`repair` as a page of HTML: the schemes found beside the one given, and what forced changes."""

from __future__ import annotations

import posixpath
from collections.abc import Mapping

from rspverify.answers import Detail, RowsAtFault
from rspverify.engineering.repair import answer
from rspverify.render.cells import changed_codes, plain, result_cell
from rspverify.render.expectations import progress_in_words
from rspverify.render.finding_html import explained
from rspverify.render.page import Article, Cell, Matrix, Page, Piece, Row, Table
from rspverify.render.page_html import left_out, page, told
from rspverify.render.repair_text import asked, effort, rests_on, summary, warnings
from rspverify.render.words import counted
from rspverify.verdict import ProgressWord, Word

_TAKES = 3
"""Columns of numbers of a scheme that was found."""


def html(
    it: answer.RepairReport, details: Mapping[str, Detail], faults: Mapping[str, RowsAtFault]
) -> str:
    """The page. details, faults: of tests under the scheme as given, by their files."""
    killers = dict.fromkeys(each.file for each in it.effort.killers)
    failed = [file for file in killers if _fails(details.get(file))]
    articles = [
        _article(file, it, f"f{n}", details[file], faults.get(file))
        for n, file in enumerate(told(failed), 1)
    ]
    places = {file: shown.place for file, shown in zip(failed, articles, strict=False)}
    folders: dict[str, list[Row]] = {}
    for killer in it.effort.killers:
        detail, fault = details.get(killer.file), faults.get(killer.file)
        row = _killer(killer, detail, fault, places.get(killer.file, ""))
        folders.setdefault(posixpath.dirname(killer.file) or ".", []).append(row)
    heads = ("word", "candidates that fell to it", "the scheme as given", "row at fault there")
    subject = it.subject
    how = "rspverify explain SCHEME TEST"
    return page(
        Page(
            command="repair",
            conclusion=subject.titled,
            warnings=[each.plain for each in warnings(it)],
            lines=[each.plain for each in summary(it)],
            notes=[each.plain for each in (*asked(it), *effort(it))],
            tables=[_scheme(each, n, it) for n, each in enumerate(it.found, 1)],
            results="Tests that ruled candidates out",
            matrices=[Matrix("", "", heads, list(folders.items()))] if folders else [],
            findings_head="What the scheme as given fails",
            findings=articles,
            left_out=list(left_out(len(failed), len(articles), 0, 0, how)),
        )
    )


def _fails(detail: Detail | None) -> bool:
    if detail is None or detail.explanation is None:
        return False
    result = detail.explanation.result
    return result.verdict is Word.UNSOUND or result.progress is ProgressWord.STUCK


def _scheme(found: answer.SchemeFound, place: int, it: answer.RepairReport) -> Table:
    """A scheme that was found, row by row beside the one that was given."""
    given = {row.row: row.code for row in it.space.rows}
    order = sorted(found.rows, key=lambda row: not row.changed)
    rows = [_row(row, given[row.row]) for row in order]
    than = it.reference.scheme if it.reference else ""
    heads = ["row", "operations", "given", "found", "given costs", "costs"]
    heads += [f"{than} costs"] if than else []
    if not than:
        rows = [row[:-1] for row in rows]
    notes = [rests_on(found, it), *filter(None, [found.written])]
    for row in found.rows if place == 1 else ():
        notes += [f"row {row.row} in another: {'; '.join(each)}" for each in row.alternatives]
    costs = f"cost {found.cost:,}, given {it.cost:,}"
    costs += f", {than} {it.reference.cost:,}" if it.reference else ""
    dull = frozenset(n for n, row in enumerate(order) if not row.changed)
    head = f"{place}. {found.name}: {costs}"
    return Table(head, heads, rows, notes, _TAKES if than else _TAKES - 1, dull)


def _row(it: answer.RowFound, given: tuple[str, ...]) -> list[list[Piece]]:
    reference = "" if it.reference is None else it.reference
    numbers = [list(plain(each)) for each in (it.given, it.cost, reference)]
    head = [list(plain(each)) for each in (it.row, it.operations)]
    return [*head, *changed_codes(given, it.code), *numbers]


def _killer(it: answer.Killer, detail: Detail | None, fault: RowsAtFault | None, place: str) -> Row:
    explanation = detail.explanation if detail else None
    rows = ", ".join(f"row {row.number}" for row in (fault.rows if fault else ()))
    cells = [
        Cell(it.verdict, it.verdict),
        Cell("", f"{it.candidates:,}"),
        result_cell(explanation.result, place) if explanation else None,
        Cell("", rows) if rows else None,
    ]
    return Row(it.test, it.file, cells, bool(place))


def _article(
    file: str, it: answer.RepairReport, place: str, detail: Detail, fault: RowsAtFault | None
) -> Article:
    killers = [each for each in it.effort.killers if each.file == file]
    fallen = ", ".join(
        f"{counted(each.candidates, 'candidate')} {each.verdict}" for each in killers
    )
    words = [f"{fallen} by this test. Below: {it.subject.scheme} as given."]
    kind: str = Word.UNSOUND
    if detail.explanation is not None:
        result = detail.explanation.result
        kind = kind if result.verdict is Word.UNSOUND else ProgressWord.STUCK
        words += [result.reason, progress_in_words(result)]
    shown = Article(place, kind, killers[0].test, "\n".join(filter(None, words)), [file])
    return explained(shown, it.subject.file, fault, detail)
