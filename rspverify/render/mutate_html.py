"""`mutate` as a page of HTML: rows and their mutants, and the test that each of them fails."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from rspverify.answers import Detail
from rspverify.engineering.mutation import (
    Fate,
    Finding,
    MutantAnswer,
    MutatedRow,
    MutationReport,
)
from rspverify.render.cells import changed_codes, code_cell, plain, pointed_at
from rspverify.render.finding_html import explained
from rspverify.render.mutate_text import (
    DERIVED,
    NEEDED,
    NOT_SHOWN,
    OPEN,
    SPARE,
    UNTOLD,
    mark_of,
    summary,
    warnings,
    wider_in_words,
)
from rspverify.render.page import Article, Cell, Matrix, Page, Piece, Row, Table, Total
from rspverify.render.page_html import left_out, page, told
from rspverify.render.words import counted, row_in_words

_CLASSES = {
    Fate.SURVIVES: "SURVIVES",
    Fate.EQUIVALENT: "by-EQUIVALENT",
    Fate.STRONGER: "by-EQUIVALENT",
    Fate.UNSOUND: "by-UNSOUND",
    Fate.STUCK: "by-STUCK",
}
"""Of a mutant it is well that it is UNSOUND."""
_MARKS = {NEEDED: "SOUND", NOT_SHOWN: "UNSOUND", OPEN: "UNKNOWN", UNTOLD: "RACY", SPARE: "UNKNOWN"}
"""The classes of what is said of instructions."""


def html(
    it: MutationReport,
    details: Mapping[str, Detail],
    made: Callable[[Page], str] = page,
) -> str:
    """The page. details: of the tests that mutants fail, by the names of the mutants.

    made: of what is shown.
    """
    found = sorted(it.mutants, key=lambda each: each.verdict is not Fate.SURVIVES)
    rows = {row.row: row for row in it.rows}
    articles = [
        _article(each, rows[each.mutant.row], f"f{n}", details.get(each.mutant.name))
        for n, each in enumerate(told(found), 1)
    ]
    places = {each.mutant.name: "" for each in found}
    places |= {each.mutant.name: shown.place for each, shown in zip(found, articles, strict=False)}
    failing = sum(each.file is not None for each in found)
    how = "--write DIR, and the commands that it prints,"
    subject = it.subject
    return made(
        Page(
            command="mutate",
            conclusion=subject.titled,
            warnings=[each.plain for each in warnings(it)],
            lines=[each.plain for each in summary(it)],
            totals=[
                Total(each.value, _CLASSES[each], it.summary.fates[each])
                for each in reversed(Fate)
                if it.summary.fates[each]
            ],
            tables=[_instructions(it), *_wider(it)],
            results="Mutants",
            matrices=[
                Matrix(
                    "",
                    "",
                    ("verdict", "smallest test that shows it", "cost", "code"),
                    list(_mutants(it, places)),
                    noun="mutant",
                )
            ],
            findings_head="What each mutant fails",
            findings=articles,
            left_out=list(left_out(len(found), len(articles), failing, len(details), how)),
        )
    )


def _instructions(it: MutationReport) -> Table:
    """What can be said of each instruction: a column for each mark that there is."""
    marks: dict[int, list[tuple[str, str]]] = {}
    for row in it.rows:
        found = [each for each in it.mutants if each.mutant.row == row.row]
        named = enumerate(row.code, 1)
        marks[row.row] = [(mark_of(row, place, found), each) for place, each in named]
    met = {mark for those in marks.values() for mark, _ in those}
    shown = [mark for mark in (NOT_SHOWN, SPARE, OPEN, UNTOLD, NEEDED) if mark in met]
    rows = []
    for row in it.rows:
        tests = counted(row.tests, "test") if row.tests else "no test that the scheme passes"
        cells = [plain(row.row), plain(row.operations), plain(tests), code_cell(row.code)]
        for mark in shown:
            those = [each for its, each in marks[row.row] if its == mark]
            cells.append((Piece("; ".join(those), _MARKS[mark]),))
        rows.append(cells)
    return Table("Rows", ("row", "operations", "used by", "code", *shown), rows)


def _wider(it: MutationReport) -> Iterator[Table]:
    if it.wider is None:
        return
    codes = {row.row: (row.code, row.cost) for row in it.rows}
    rows = [_wider_row(each, *codes[each.row]) for each in it.wider]
    heads = ("row", "operations", "code", "wider", "cost", "wider")
    notes = [wider_in_words(it)]
    yield Table("Instructions that reach further", heads, rows, notes, 2)


def _wider_row(it: MutantAnswer, code: tuple[str, ...], cost: int) -> list[list[Piece]]:
    costs = (cost, cost + it.cost)
    cells = [list(plain(each)) for each in (it.row, it.operations, *costs)]
    return [*cells[:2], *changed_codes(code, it.code), *cells[2:]]


def _mutants(it: MutationReport, places: Mapping[str, str]) -> Iterator[tuple[str, list[Row]]]:
    for row in it.rows:
        name = row_in_words(row.row, row.operations, row.code)
        found = [each for each in it.mutants if each.mutant.row == row.row]
        if found:
            yield name, [_mutant(each, places[each.mutant.name]) for each in found]


def _mutant(it: Finding, place: str) -> Row:
    mutant = it.mutant
    cells = [
        Cell(_CLASSES[it.verdict], it.verdict.value, pointed_at(it.reason), place=place),
        Cell("", it.test, it.file or "") if it.test else None,
        Cell("", f"{mutant.cost:+}" if mutant.cost else "0"),
        Cell("code", "; ".join(mutant.code) or "nothing"),
    ]
    return Row(_step(mutant), mutant.name, cells, it.verdict is Fate.SURVIVES)


def _step(it: MutantAnswer) -> str:
    return "; ".join(f"{step.place} {step.instruction}: {step.words}" for step in it.steps)


def _article(it: Finding, row: MutatedRow, place: str, detail: Detail | None) -> Article:
    mutant = it.mutant
    codes = changed_codes(row.code, mutant.code)
    costs = [plain(each) for each in (row.cost, row.cost + mutant.cost)]
    whose = zip(("the scheme", "the mutant"), codes, costs, strict=True)
    cells = [[plain(who), code, cost] for who, code, cost in whose]
    head = f"Row {row.row}, {row.operations}"
    spared = it.reason if it.verdict in DERIVED else _survives(it, row)
    words = [f"{it.test}: {it.reason}" if it.test else spared]
    words += [f"not decided: {each.test}: {each.reason}" for each in it.unknown]
    shown = Article(
        place,
        it.verdict.value,
        f"row {row.row}, {_step(mutant)}",
        "\n".join(words),
        [it.file] if it.file else [],
        style=_CLASSES[it.verdict],
        tables=[Table(head, ("", "code", "cost"), cells, numbers=1)],
        command=it.command or "",
    )
    return explained(shown, "", None, detail)


def _survives(it: Finding, row: MutatedRow) -> str:
    if not row.tests:
        return "No test that the scheme passes uses the row, so none says anything of it."
    return f"It fails none of {counted(it.decided, 'test')}: redundant, or the tests have a hole."
