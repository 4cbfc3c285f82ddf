"""A site of static pages: all results as matrices, a page for each that is told, a gallery.

Pages share two files, name each other by relative addresses and contact nothing, so that they may
lie in a folder or on any server. The same results make the same files, byte for byte.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import chain, count, pairwise

from msgspec import Struct

from rspverify import __version__
from rspverify.answers import Detail, ModelAnswer, Result, SuiteReport
from rspverify.render import document as doc
from rspverify.render.check import article, key_of, matrix, totals
from rspverify.render.document import Block, Document, line
from rspverify.render.drawn import svg
from rspverify.render.findings import Finding, Spot
from rspverify.render.forms.html import site_files, write
from rspverify.render.words import counted, progress_in_words, unfinished
from rspverify.verdict import WRONG, ProgressWord, Word

CASES = "cases"
"""The folder of their pages."""
_PLAIN = re.compile(r"[^A-Za-z0-9+@_.-]+")
_LONGEST = 100
_RESERVED = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\.|$)", re.IGNORECASE)


BROKEN = (*WRONG, ProgressWord.STUCK)
"""The words that an execution shows."""


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

    @property
    def picture(self) -> str:
        """The address of its picture, if it has one."""
        return f"{CASES}/{self.name}.svg" if self.detail.picture else ""


def kind_of(it: Result) -> str:
    """What is wrong, and STUCK, are told by an execution, SOUND by what is reached."""
    if it.verdict not in WRONG and it.progress is ProgressWord.STUCK:
        return ProgressWord.STUCK
    return it.verdict


def told(it: Result | ModelAnswer) -> bool:
    """Whether a result may have a page."""
    return isinstance(it, Result) and kind_of(it) in (*BROKEN, Word.SOUND)


def site(reports: Sequence[SuiteReport]) -> Iterator[tuple[str, str]]:
    """The name and the text of each file; the details of reports say which results have a page."""
    cases: list[Case] = []
    under: dict[tuple[str, str], list[Case]] = {}
    taken: set[str] = set()
    for report in reports:
        for it in report.results:
            detail = report.details.get(key_of(it))
            if isinstance(it, Result) and detail is not None:
                cases.append(Case(report, it, detail, _named(f"{it.test}--{it.scheme}", taken)))
                under.setdefault((report.folder, it.file), []).append(cases[-1])
    broken = [each for each in cases if each.kind in BROKEN]
    next_to = {id(each): other for each, other in pairwise(broken)}
    yield from site_files().items()
    yield "index.html", write(_index(reports, cases), root="")
    yield "gallery.html", write(_gallery(broken), root="")
    for case in cases:
        links = [("All results", "../index.html"), ("Gallery", "../gallery.html")]
        for other in under[case.report.folder, case.result.file]:
            if other is not case:
                words = f"under {other.result.scheme}: {other.kind}"
                links.append((words, f"{other.name}.html"))
        if following := next_to.get(id(case)):
            links.append((f"next: {following.title}", f"{following.name}.html"))
        yield case.address, write(_page(case, links), root="../")
        if case.detail.picture:
            yield case.picture, svg([case.detail.picture])


def _named(wanted: str, taken: set[str]) -> str:
    """A name that every system takes for a file; taken: those of others, in lower case."""
    plain = _PLAIN.sub("-", wanted).strip(".-")[:_LONGEST] or "case"
    plain = f"case-{plain}" if _RESERVED.match(plain) else plain
    numbered = (f"{plain}-{number}" for number in count(2))
    name = next(each for each in chain([plain], numbered) if each.lower() not in taken)
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


_STUCK = "Gets stuck"


def _gallery(broken: Sequence[Case]) -> Document:
    """What breaks, by what it breaks: the axioms, and what gets stuck."""
    groups: dict[str, list[doc.Card]] = {}
    for it in broken:
        axioms = ", ".join(it.result.axioms)
        head = f"Breaks {axioms}" if axioms else "No candidate at all"
        explanation = it.detail.explanation
        execution = explanation.verdict.execution if explanation else None
        if it.kind == ProgressWord.STUCK:
            head = _STUCK
            if explanation and explanation.progress:
                execution = explanation.progress.execution
        text = str(it.result.outcome) if it.result.outcome else it.result.progress_reason or ""
        if execution is not None:
            text = f"{counted(len(execution.steps), 'step')}: {text}"
        card = doc.Card(it.kind, it.title, text, it.address, it.picture)
        groups.setdefault(head, []).append(card)
    order = sorted(groups, key=lambda head: (head == _STUCK, -len(groups[head]), head))
    title = f"{counted(len(broken), 'counterexample')}, by what they break"
    galleries = [doc.Gallery(head, groups[head]) for head in order]
    return Document("report", title, galleries, [("All results", "index.html")])


def _page(it: Case, links: Sequence[tuple[str, str]]) -> Document:
    result = it.result
    text = "\n".join(filter(None, (result.reason, progress_in_words(result))))
    found = Finding(it.kind, it.title, "", text, (Spot(result.file),), result=result)
    shown = doc.Articles([article(it.report, found, "f1")], "")
    return Document("report", f"{it.title}, model {result.model}", [shown], links)
