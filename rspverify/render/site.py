"""A site of static pages: all results as matrices, a page for each that is told, a gallery.

Pages share two files, name each other by relative addresses and contact nothing, so that they may
lie in a folder or on any server. The same results make the same files, byte for byte.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from msgspec import Struct

from rspverify import __version__
from rspverify.answers import Detail, ModelAnswer, Result, SuiteReport
from rspverify.render import document as doc
from rspverify.render.check import article, matrix, totals
from rspverify.render.document import Block, Document, line
from rspverify.render.draw_svg import page as svg
from rspverify.render.findings import Finding, Spot
from rspverify.render.forms.html import site_files, write
from rspverify.render.words import counted, progress_in_words, unfinished, visible
from rspverify.verdict import ProgressWord, Word

CASES = "cases"
"""The folder of their pages."""
_PLAIN = re.compile(r"[^A-Za-z0-9+@_.-]+")
_LONGEST = 100
_RESERVED = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\.|$)", re.IGNORECASE)


class Case(Struct, frozen=True):
    """A result that has a page. name: of its files."""

    report: SuiteReport
    result: Result
    detail: Detail
    name: str

    @property
    def kind(self) -> str:
        """The word of which it is an example."""
        return kind_of(self.result)

    @property
    def title(self) -> str:
        """The test, and the scheme."""
        return f"{self.result.test} under {self.result.scheme}"

    @property
    def address(self) -> str:
        """Of its page, from the first one."""
        return f"{CASES}/{self.name}.html"


def kind_of(it: Result) -> str:
    """UNSOUND and STUCK are told by an execution, SOUND by what is reached; others have no page."""
    if it.verdict is Word.UNSOUND:
        return Word.UNSOUND
    return ProgressWord.STUCK if it.progress is ProgressWord.STUCK else it.verdict


def told(it: Result | ModelAnswer) -> bool:
    """Whether a result may have a page."""
    return isinstance(it, Result) and kind_of(it) in (*BROKEN, Word.SOUND)


BROKEN = (Word.UNSOUND, ProgressWord.STUCK)
"""The words that an execution shows."""


def site(reports: Sequence[SuiteReport]) -> Iterator[tuple[str, str]]:
    """The name and the text of each file; the details of reports say which results have a page."""
    cases = list(_cases(reports))
    yield from site_files().items()
    yield "index.html", write(_index(reports, cases), root="")
    yield "gallery.html", write(_gallery(cases), root="")
    under: dict[tuple[str, str], list[Case]] = {}
    for each in cases:
        under.setdefault((each.report.folder, each.result.file), []).append(each)
    broken = [it for it in cases if it.kind in BROKEN]
    next_to = {id(it): other for it, other in pairwise(broken)}
    for it in cases:
        others = [each for each in under[it.report.folder, it.result.file] if each is not it]
        yield it.address, write(_case(it, others, next_to.get(id(it))), root="../")
        if it.detail.picture:
            yield f"{CASES}/{it.name}.svg", visible(svg([it.detail.picture]))


def _cases(reports: Sequence[SuiteReport]) -> Iterator[Case]:
    taken: set[str] = set()
    for report in reports:
        for it in report.results:
            detail = report.details.get(_key(it)) if isinstance(it, Result) else None
            if isinstance(it, Result) and detail is not None:
                yield Case(report, it, detail, _named(f"{it.test}--{it.scheme}", taken))


def _key(it: Result | ModelAnswer) -> tuple[str, str]:
    return (it.file, it.scheme_file) if isinstance(it, Result) else ("", "")


def _named(wanted: str, taken: set[str]) -> str:
    """A name that every system takes for a file; taken: those of others, in lower case."""
    plain = _PLAIN.sub("-", wanted).strip(".-")[:_LONGEST] or "case"
    plain = f"case-{plain}" if _RESERVED.match(plain) else plain
    name, number = plain, 1
    while name.lower() in taken:
        number += 1
        name = f"{plain}-{number}"
    taken.add(name.lower())
    return name


# ---- pages ---------------------------------------------------------------------------------------


_ABOUT = (
    "Each test is put to each scheme: does the compiled program end only as the language allows? "
    "A word that is underlined leads to what shows it."
)


def _index(reports: Sequence[SuiteReport], cases: Sequence[Case]) -> Document:
    addresses = {id(it.result): it.address for it in cases}
    results = [each for it in reports for each in it.results]
    tests = len({each.file for each in results})
    broken = sum(it.kind in BROKEN for it in cases)
    conclusion = f"{counted(tests, 'test')}, {counted(len(results), 'result')}"
    may = sum(map(told, results))
    warnings = [*filter(None, map(unfinished, reports))]
    if len(cases) < may:
        warnings.append(
            f"{len(cases):,} of {counted(may, 'result')} have a page, those with a counterexample "
            "first; rspverify explain SCHEME TEST shows any of them."
        )
    blocks: list[Block] = [
        doc.Warnings([*map(line, warnings)]),
        doc.Summary([line(_ABOUT), line(f"rspverify {__version__}")]),
        doc.Totals(totals(reports)),
        *(matrix(it, {}, addresses) for it in reports),
    ]
    links = [(f"Gallery of {counted(broken, 'counterexample')}", "gallery.html")]
    return Document("report", conclusion, blocks, links)


def _gallery(cases: Sequence[Case]) -> Document:
    """What breaks, by what it breaks: the axioms, and what gets stuck."""
    groups: dict[str, list[doc.Card]] = {}
    for it in cases:
        if it.kind in BROKEN:
            groups.setdefault(_broken(it), []).append(_card(it))
    order = sorted(groups, key=lambda head: (head == _STUCK, -len(groups[head]), head))
    number = sum(map(len, groups.values()))
    title = f"{counted(number, 'counterexample')}, by what they break"
    galleries = [doc.Gallery(head, groups[head]) for head in order]
    return Document("report", title, galleries, [("All results", "index.html")])


_STUCK = "Gets stuck"


def _broken(it: Case) -> str:
    if it.kind == ProgressWord.STUCK:
        return _STUCK
    return f"Breaks {', '.join(it.result.axioms)}" if it.result.axioms else "No candidate at all"


def _card(it: Case) -> doc.Card:
    drawn = f"{CASES}/{it.name}.svg" if it.detail.picture else ""
    explanation = it.detail.explanation
    execution = explanation.verdict.execution if explanation else None
    if it.kind == ProgressWord.STUCK and explanation and explanation.progress:
        execution = explanation.progress.execution
    text = str(it.result.outcome) if it.result.outcome else it.result.progress_reason or ""
    if execution is not None:
        text = f"{counted(len(execution.steps), 'step')}: {text}"
    return doc.Card(it.kind, it.title, text, it.address, drawn)


def _case(it: Case, others: Sequence[Case], following: Case | None) -> Document:
    links = [("All results", "../index.html"), ("Gallery", "../gallery.html")]
    links += [(f"under {each.result.scheme}: {each.kind}", f"{each.name}.html") for each in others]
    if following is not None:
        links.append((f"next: {following.title}", f"{following.name}.html"))
    result = it.result
    text = "\n".join(filter(None, (result.reason, progress_in_words(result))))
    found = Finding(it.kind, it.title, "", text, (Spot(result.file),), result=result)
    shown = doc.Articles([article(it.report, found, "f1")], "")
    return Document("report", f"{it.title}, model {result.model}", [shown], links)
