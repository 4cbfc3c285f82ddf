"""What takes longer than a verdict: a corpus, mutants, a comparison, a hunt; told as it goes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rspverify.answers import Result
from rspverify.api.asked import Asked, Stop
from rspverify.api.checks import check
from rspverify.api.comparisons import compare
from rspverify.api.hunts import hunt
from rspverify.api.judges import Judge
from rspverify.api.mutations import mutate
from rspverify.records import replace
from rspverify.render.cells import result_cell
from rspverify.render.page_html import parts
from rspverify.server.events import Event
from rspverify.shipped import tests_below
from rspverify.soundness.settings import Settings
from rspverify.source import Source


def corpus(scheme: Source, folder: str, settings: Settings, judge: Judge) -> Iterator[Event]:
    """The verdict on every test of a folder, each as soon as it is there."""
    asked = check(scheme, folder, replace(settings, progress=True), judge=judge)
    yield "tests", {"total": asked.total}
    for number, each in enumerate(asked, 1):
        assert isinstance(each, Result)
        cell = result_cell(each)
        row = {"file": each.file, "kind": cell.kind, "words": cell.words, "why": cell.why}
        yield "cell", row | {"cached": each.cached, "done": number}
    yield "end", {}


def mutated(scheme: Source, folder: str, settings: Settings, judge: Judge) -> Iterator[Event]:
    """Every mutant of the scheme, and the smallest test of a folder that shows it."""
    asked = mutate(scheme, tests_below(folder), settings, judge=judge)
    yield "total", {"total": asked.mutants, "of": "mutant", "before": asked.tests}
    asked.prepare()
    yield from _counted(asked)
    report = asked.report()
    mutants = {
        each.mutant.name: {
            "row": each.mutant.row,
            "code": list(each.mutant.code),
            "file": each.file,
        }
        for each in report.mutants
    }
    yield "report", {"html": asked.page(report, Stop(limit="shown on request"), parts)}
    yield "mutants", mutants
    yield "end", {}


def compared(
    before: Source, after: Source, folder: str, settings: Settings, judge: Judge
) -> Iterator[Event]:
    """What an edit changes, of the tests of a folder those that become other code."""
    asked = compare(before, after, tests_below(folder), settings, judge=judge)
    yield "total", {"total": len(asked.tests), "of": "test", "before": 0}
    yield from _counted(asked)
    report = asked.report()
    yield "report", {"html": asked.page(report, Stop(), parts)}
    yield "end", {}


def hunted(
    scheme: Source, bounds: tuple[int, int], settings: Settings, judge: Judge
) -> Iterator[Event]:
    """The smallest programs that break the scheme, each as soon as it is found."""
    operations, threads = bounds
    asked = hunt(scheme, settings, events=operations, threads=threads, judge=judge)
    yield "total", {"total": None, "of": "finding", "before": 0}
    for number, found in enumerate(asked, 1):
        html = asked.page(asked.so_far(), Stop(limit="more may come"), parts)
        yield "report", {"html": html}
        yield "finding", {"program": found.program, "text": found.text, "number": number}
    yield "report", {"html": asked.page(asked.report(), Stop(), parts)}
    yield "end", {}


def _counted(asked: Asked[Any, Any]) -> Iterator[Event]:
    for number, _ in enumerate(asked, 1):
        yield "done", {"done": number}
