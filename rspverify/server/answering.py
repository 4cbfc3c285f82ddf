"""Answers to the questions of the page, event by event, in a process that may be ended any time."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any, assert_never

from rspverify.answers import Result
from rspverify.api.asked import Asked
from rspverify.api.judges import Judge
from rspverify.commands.check import check
from rspverify.commands.compare import compare
from rspverify.commands.hunt import hunt
from rspverify.commands.mutate import mutate
from rspverify.records import replace
from rspverify.render.evidence import answer
from rspverify.render.forms.html import write_article, write_part
from rspverify.render.results import result_cell
from rspverify.server.edit_session import EditSession, Read
from rspverify.server.question import Kind, Question
from rspverify.server.views import Event, problem_view, result_view, scheme_view
from rspverify.shipped import SHIPPED, schemes_named, tests_below
from rspverify.soundness.settings import Settings
from rspverify.source import Source
from rspverify.verdict import WITHOUT_PROGRESS

SCHEME, TEST, BEFORE = "scheme.yaml", "test.litmus", "before.yaml"
MODEL, MACHINE = "own.cat", "own.machine"
"""What the texts of a question are called where they are no file that ships."""


class Answering:
    """Answers one question after the other.

    folder: of its own, where the files of a question are written, as their names lead there.
    seconds: of one verdict.
    """

    def __init__(self, judge: Judge, folder: Path, seconds: float) -> None:
        self._judge, self._folder, self._seconds = judge, folder, seconds
        self._session = EditSession(judge)

    def warm_up(self) -> None:
        """Answer a question, so that all that a first one needs is there."""
        scheme, test = "schemes/proposed.yaml", "litmus/rsp/paper/Fig4.litmus"
        texts = [(SHIPPED / each).read_text(encoding="utf-8") for each in (scheme, test)]
        for _ in self.events(Question(kind=Kind.ANSWER, scheme=texts[0], test=texts[1])):
            pass

    def events(self, asked: Question) -> Iterator[Event]:
        """What there is to say, each part as soon as it is known."""
        for name, text in ((MODEL, asked.own_model), (MACHINE, asked.own_machine)):
            (self._folder / name).write_text(text, encoding="utf-8")
        settings = Settings(
            model=MODEL if asked.own_model else asked.model,
            machine=(MACHINE if asked.own_machine else asked.machine) or None,
            seconds=self._seconds,
            unroll=asked.unroll,
        )
        scheme = Source(_name(asked.scheme, SCHEME), asked.scheme)
        match asked.kind:
            case Kind.VERDICT | Kind.ANSWER:
                test = Source(TEST, asked.test)
                explained = asked.kind is Kind.ANSWER
                yield from self._verdict(scheme, test, settings, explained=explained)
            case Kind.CORPUS:
                yield from corpus(scheme, asked.corpus, settings, self._judge)
            case Kind.MUTATE:
                yield from mutated(scheme, asked.corpus, settings, self._judge)
            case Kind.COMPARE:
                before = Source(_name(asked.before, BEFORE), asked.before)
                yield from compared(before, scheme, asked.corpus, settings, self._judge)
            case Kind.HUNT:
                bounds = asked.operations, asked.threads
                yield from hunted(scheme, bounds, settings, self._judge)
            case _:
                assert_never(asked.kind)

    def _verdict(
        self, scheme: Source, test: Source, settings: Settings, *, explained: bool
    ) -> Iterator[Event]:
        read = self._session.read(scheme, test, settings)
        yield "read", _told(read)
        if read.problems:
            yield "end", {}
            return
        result = None
        for result in self._session.results(read, settings):
            waits = result.progress is None and result.verdict not in WITHOUT_PROGRESS
            yield "verdict", result_view(result, going_on=waits)
        assert result is not None
        if not explained:
            yield "end", {}
            return
        found = self._session.found(read, result, settings)
        shown = answer(found.result, found.detail, found.fault)
        rows = [row.number for row in found.fault.rows] if found.fault else []
        yield "answer", {"html": write_article(shown, "answer"), "rows": rows}
        yield "end", {}


def _told(read: Read) -> dict[str, object]:
    return {
        "problems": [problem_view(each) for each in read.problems],
        "table": scheme_view(read.scheme.scheme) if read.scheme else None,
        "title": read.test.program.title if read.test else None,
    }


def _name(text: str, otherwise: str) -> str:
    """What a scheme is called: by its path, if it ships."""
    return _shipped().get(text, otherwise)


@lru_cache(maxsize=1)
def _shipped() -> dict[str, str]:
    return {(SHIPPED / path).read_text(encoding="utf-8"): path for path in schemes_named()}


# ---- what takes longer than a verdict, told as it goes ------------------------------------------


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
    yield "report", {"html": write_part(asked.document(report))}
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
    yield "report", {"html": write_part(asked.document(report, detailed=True))}
    yield "end", {}


def hunted(
    scheme: Source, bounds: tuple[int, int], settings: Settings, judge: Judge
) -> Iterator[Event]:
    """The smallest programs that break the scheme, each as soon as it is found."""
    operations, threads = bounds
    asked = hunt(scheme, settings, events=operations, threads=threads, judge=judge)
    yield "total", {"total": None, "of": "finding", "before": 0}
    for number, found in enumerate(asked, 1):
        html = write_part(asked.document(asked.so_far()))
        yield "report", {"html": html}
        yield "finding", {"program": found.program, "text": found.text, "number": number}
    yield "report", {"html": write_part(asked.document(asked.report(), detailed=True))}
    yield "end", {}


def _counted(asked: Asked[Any, Any]) -> Iterator[Event]:
    for number, _ in enumerate(asked, 1):
        yield "done", {"done": number}
