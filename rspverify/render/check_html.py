"""`check` as a page of HTML that stands alone: a matrix, and what each finding rests on.

Whatever comes from files is escaped by the templates, and what nobody sees in it is spelled.
"""

from __future__ import annotations

import posixpath
from base64 import b64encode
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from markupsafe import Markup

from rspverify.answers import ModelAnswer, Result, SuiteReport
from rspverify.render.expectations import conclusion, progress_in_words, unfinished
from rspverify.render.finding_html import Article, article
from rspverify.render.findings import Finding, findings, visible
from rspverify.render.tally import PROGRESS, tally
from rspverify.render.words import counted
from rspverify.verdict import ProgressWord, Word

if TYPE_CHECKING:
    from jinja2 import Environment

MOST_CELLS = 60_000
"""So many cells, names of tests included, are in the matrices of a page: a browser opens them
within seconds."""
MOST_FINDINGS = 1_000
"""So many findings are told one by one."""
_LONGEST = 300
"""Characters of a reason that a cell shows when it is pointed at."""


@dataclass(frozen=True)
class Cell:
    """A result in a matrix. kind: its words as classes. place: of its finding, if it is told."""

    kind: str
    words: str
    why: str
    expected: str
    place: str


@dataclass(frozen=True)
class Row:
    """A test in a matrix; None where it has no result."""

    title: str
    file: str
    cells: Sequence[Cell | None]


@dataclass(frozen=True)
class Matrix:
    """Tests by folder, and what they are put to. cut: what is left out, in words."""

    folder: str
    about: str
    heads: Sequence[str]
    folders: Sequence[tuple[str, Sequence[Row]]]
    cut: str


def html(reports: Sequence[SuiteReport]) -> str:
    """The page."""
    found = [(report, each) for report in reports for each in findings(report)]
    found.sort(key=lambda it: it[0].details.get(_key(it[1])) is None)
    told = list(islice(found, MOST_FINDINGS))
    articles = [article(report, it, f"f{n}") for n, (report, it) in enumerate(told, 1)]
    places = {id(it.result): shown.place for (_, it), shown in zip(told, articles, strict=True)}
    style, script = _text_of("page.css"), _text_of("page.js")
    page = _environment().get_template("page.html")
    kinds, counts = tally([each for it in reports for each in it.results])
    return page.render(
        conclusion=conclusion(reports),
        unfinished=list(filter(None, map(unfinished, reports))),
        totals=[(kind, sum(it[kind] for it in counts.values())) for kind in kinds],
        matrices=list(_matrices(reports, places, {id(it.result) for _, it in found})),
        findings=articles,
        left_out=list(_left_out(found, articles)),
        style=Markup(style),
        style_hash=_digest(style),
        script=Markup(script),
        script_hash=_digest(script),
    )


def _key(it: Finding) -> tuple[str, str]:
    return (it.result.file, it.result.scheme_file) if isinstance(it.result, Result) else ("", "")


def _left_out(
    found: Sequence[tuple[SuiteReport, Finding]], articles: Sequence[Article]
) -> Iterator[str]:
    """What of the findings the page does not have, in words."""
    if len(found) > len(articles):
        yield (
            f"{len(articles):,} of {counted(len(found), 'finding')} are told here; the matrix above"
            " and the other forms have the rest."
        )
    broken = [it for it in found if it[1].kind in (Word.UNSOUND, ProgressWord.STUCK)]
    shown = sum(_key(it) in report.details for report, it in broken)
    if shown < len(broken):
        yield (
            f"{shown:,} of {len(broken):,} findings that are UNSOUND or STUCK are shown step by "
            "step; rspverify explain SCHEME TEST shows any of them."
        )


# ---- matrices ------------------------------------------------------------------------------------


def _matrices(
    reports: Sequence[SuiteReport], places: Mapping[int, str], found: set[int]
) -> Iterator[Matrix]:
    left = MOST_CELLS
    for report in reports:
        heads = dict.fromkeys(map(_column, report.results))
        numbers = {key: number for number, key in enumerate(heads)}
        tests: dict[str, list[Result | ModelAnswer | None]] = {}
        for each in report.results:
            cells = tests.setdefault(each.file, [None] * len(heads))
            cells[numbers[_column(each)]] = each
        shown, room = tests, left // (1 + len(heads))
        if len(tests) > room:
            first = sorted(tests, key=lambda it: not any(id(each) in found for each in tests[it]))
            kept = set(first[:room])
            shown = {file: cells for file, cells in tests.items() if file in kept}
        left -= len(shown) * (1 + len(heads))
        expected = {
            id(it.result): it.expected or "nothing"
            for it in (report.held.differences if report.held else ())
        }
        folders: dict[str, list[Row]] = {}
        for file, results in shown.items():
            row = [_cell(each, places, expected) if each else None for each in results]
            title = next((it.test for it in results if it), "") or posixpath.basename(file)
            folders.setdefault(posixpath.dirname(file) or ".", []).append(Row(title, file, row))
        cut = (
            f"{len(shown):,} of {counted(len(tests), 'test')} are shown, those with a finding "
            "first; the form json has all of them."
        )
        yield Matrix(
            report.folder,
            report.about,
            [name for name, _ in heads],
            list(folders.items()),
            cut if len(shown) < len(tests) else "",
        )


def _column(it: Result | ModelAnswer) -> tuple[str, str]:
    return it.column, it.scheme_file if isinstance(it, Result) else ""


def _cell(it: Result | ModelAnswer, places: Mapping[int, str], expected: Mapping[int, str]) -> Cell:
    kind, why = it.words, it.reason
    if isinstance(it, Result):
        unknown = it.progress is ProgressWord.UNKNOWN
        kind = f"{it.verdict} {PROGRESS.strip()}-UNKNOWN" if unknown else it.words
        why = "" if it.verdict is Word.SOUND and not it.within else it.reason
        why = "\n".join(filter(None, (why, progress_in_words(it))))
    if len(why) > _LONGEST:
        why = f"{why[:_LONGEST]}…"
    return Cell(kind, it.words, why, expected.get(id(it), ""), places.get(id(it), ""))


# ---- templates -----------------------------------------------------------------------------------


@cache
def _environment() -> Environment:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    return Environment(
        loader=FileSystemLoader(_FOLDER),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_spelled,
        trim_blocks=True,
        lstrip_blocks=True,
    )


_FOLDER = Path(__file__).with_name("html")


def _spelled(value: object) -> object:
    """What is put into the page: a text of ours as it is, any other with nothing hidden in it."""
    return visible(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def _text_of(name: str) -> str:
    return (_FOLDER / name).read_text(encoding="utf-8")


def _digest(text: str) -> str:
    """As a Content-Security-Policy names what may run."""
    return f"sha256-{b64encode(sha256(text.encode()).digest()).decode()}"
