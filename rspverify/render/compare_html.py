"""`compare` as a page of HTML: rows and tests that an edit changes, those that got worse first."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from rspverify.answers import Detail, RowsAtFault
from rspverify.engineering.comparison import (
    Change,
    Comparison,
    OutcomeChange,
    OutcomeChanges,
    RowChange,
    TouchedTest,
)
from rspverify.records import replace
from rspverify.render.cells import changed_codes, plain, result_cell
from rspverify.render.compare_text import costs_in_words, in_words, reasons, summary
from rspverify.render.finding_html import explained
from rspverify.render.page import Article, Cell, Matrix, Page, Piece, Row, Table, Total
from rspverify.render.page_html import left_out, page, told
from rspverify.render.words import counted

_ORDER = (Change.WORSE, Change.UNKNOWN, Change.BETTER)
_WORDS = {
    Change.WORSE: "worse",
    Change.UNKNOWN: "not decided",
    Change.BETTER: "better",
    Change.SAME: "same verdict",
}
_OUTCOMES = 100
"""So many outcomes of a test are listed."""
_ALLOWED = {True: Piece("allowed"), False: Piece("forbidden", "UNSOUND"), None: Piece("not known")}


def html(
    it: Comparison,
    details: Mapping[str, Detail],
    faults: Mapping[str, RowsAtFault],
    made: Callable[[Page], str] = page,
) -> str:
    """The page. details, faults: of tests by their files, of the result that is `broken`.

    made: of what is shown.
    """
    found = sorted((each for each in it.tests if each.changed), key=_rank)
    articles = [_article(each, f"f{n}", details, faults) for n, each in enumerate(told(found), 1)]
    places = {each.file: "" for each in found}
    places |= {each.file: shown.place for each, shown in zip(found, articles, strict=False)}
    broken = [each.file for each in found if each.broken]
    shown = sum(file in details for file in broken)
    how = "rspverify explain SCHEME TEST"
    said = (each.plain.strip() for each in summary(replace(it, stopped=None)))
    lines = [", ".join(each.replace(":  ", ": ").split("  ")) for each in said if each]
    return made(
        Page(
            command="compare",
            conclusion=f"{it.old.file} → {it.new.file}",
            warnings=_warnings(it),
            lines=lines,
            totals=[
                Total(_WORDS[each], each.value, it.summary.changes[each])
                for each in (*_ORDER, Change.SAME)
                if it.summary.changes[each]
            ],
            tables=[_rows(it)],
            results="Tests that become other code",
            matrices=list(_matrices(it, places)),
            findings_head="What changed",
            findings=articles,
            left_out=list(left_out(len(found), len(articles), len(broken), shown, how)),
        )
    )


def _rank(it: TouchedTest) -> int:
    return (*_ORDER, Change.SAME).index(it.change)


def _warnings(it: Comparison) -> list[str]:
    left = [f"{each.file}: {each.verdict} {each.reason}" for each in it.left_out]
    if it.stopped:
        done = f"{it.summary.compared:,} of {counted(it.summary.tests, 'test')} compared"
        left.insert(0, f"{it.stopped}: {done}, the rest not")
    return left


def _rows(it: Comparison) -> Table:
    """The rows, those first that differ."""
    rows = sorted(it.rows, key=lambda row: row.same)
    names = [f"{side.name} ({side.file})" for side in (it.old, it.new)]
    same = frozenset(place for place, row in enumerate(rows) if row.same)
    heads = ("operations", f"old: {names[0]}", f"new: {names[1]}", "old cost", "new cost")
    return Table("Rows", heads, [_row(each) for each in rows], [costs_in_words(it)], 2, same)


def _row(it: RowChange) -> list[list[Piece]]:
    sides = [it.old, it.new]
    codes = changed_codes(*(side.code if side else None for side in sides))
    costs = [list(plain(side.bill.cost if side else "")) for side in sides]
    return [list(plain(it.operations)), *codes, *costs]


def _matrices(it: Comparison, places: Mapping[str, str]) -> Iterator[Matrix]:
    groups: dict[str, list[Row]] = {}
    for each in sorted(it.tests, key=lambda test: (_rank(test), not test.changed)):
        name = _WORDS[each.change]
        if each.change is Change.SAME:
            name += ", other outcomes" if each.changed else " and outcomes"
        groups.setdefault(name, []).append(_test(each, places.get(each.file, "")))
    if groups:
        yield Matrix("", "", ("old", "new", "change", "outcomes"), list(groups.items()))


def _test(it: TouchedTest, place: str) -> Row:
    change = Cell(it.change.value, _WORDS[it.change], place=place)
    old, new = (result_cell(each) for each in (it.old, it.new))
    return Row(it.test, it.file, [old, new, change, _outcomes(it.outcomes)], it.changed)


def _outcomes(it: OutcomeChanges | None) -> Cell | None:
    if it is None:
        return None
    if it.unknown:
        return Cell("", "not listed", it.unknown)
    gained, lost = len(it.gained or ()), len(it.lost or ())
    words = [f"+{gained:,}"] * bool(gained) + [f"−{lost:,}"] * bool(lost)
    return Cell("", " ".join(words)) if words else None


def _article(
    it: TouchedTest, place: str, details: Mapping[str, Detail], faults: Mapping[str, RowsAtFault]
) -> Article:
    words = [f"old: {it.old.claim}; new: {it.new.claim}", *reasons(it)]
    broken, tables = it.broken, []
    if it.outcomes and it.outcomes.unknown:
        words.append(f"outcomes not listed: {it.outcomes.unknown}")
    elif it.outcomes and (it.outcomes.gained or it.outcomes.lost):
        tables.append(_changed_outcomes(it.outcomes.gained or (), it.outcomes.lost or ()))
    scheme = broken.scheme_file if broken else ""
    if it.file in details:
        words.append(f"What is shown below is under {scheme}.")
    kind = it.change.value
    text, subject = "\n".join(words), f"{it.test}: {it.old.words} → {it.new.words}"
    shown = Article(place, kind, subject, text, [it.file], tables=tables)
    return explained(shown, scheme, faults.get(it.file), details.get(it.file))


def _changed_outcomes(gained: tuple[OutcomeChange, ...], lost: tuple[OutcomeChange, ...]) -> Table:
    rows = [
        [plain(sign), (Piece(words, "code"),), (_ALLOWED[each.allowed],)]
        for sign, changes in (("gained", gained), ("lost", lost))
        for each, words in zip(changes, in_words(changes), strict=True)
    ]
    cut = f"{_OUTCOMES} of {len(rows):,} are shown; the form json has all of them."
    notes = [cut] if len(rows) > _OUTCOMES else []
    heads = ("", "outcome", "by the model")
    return Table("Outcomes of the compiled test", heads, rows[:_OUTCOMES], notes)
