"""Answers to the questions of the page, event by event, in a process that may be ended any time."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import assert_never

from rspverify.api.judges import Judge
from rspverify.api.sittings import Read, Sitting
from rspverify.render.answer_html import answer
from rspverify.render.page_html import article
from rspverify.server.events import Event
from rspverify.server.question import Kind, Question
from rspverify.server.runs import compared, corpus, hunted, mutated
from rspverify.server.told import told_problem, told_result, told_table
from rspverify.shipped import SHIPPED, schemes_named
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
        self._sitting = Sitting(judge)

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
        read = self._sitting.read(scheme, test, settings)
        yield "read", _told(read)
        if read.problems:
            yield "end", {}
            return
        result = None
        for result in self._sitting.results(read, settings):
            waits = result.progress is None and result.verdict not in WITHOUT_PROGRESS
            yield "verdict", told_result(result, going_on=waits)
        assert result is not None
        if not explained:
            yield "end", {}
            return
        found = self._sitting.found(read, result, settings)
        shown = answer(found.result, found.detail, found.fault)
        rows = [row.number for row in found.fault.rows] if found.fault else []
        yield "answer", {"html": article(shown), "rows": rows}
        yield "end", {}


def _told(read: Read) -> dict[str, object]:
    return {
        "problems": [told_problem(each) for each in read.problems],
        "table": told_table(read.scheme.scheme) if read.scheme else None,
        "title": read.test.program.title if read.test else None,
    }


def _name(text: str, otherwise: str) -> str:
    """What a scheme is called: by its path, if it ships."""
    return _shipped().get(text, otherwise)


@lru_cache(maxsize=1)
def _shipped() -> dict[str, str]:
    return {(SHIPPED / path).read_text(encoding="utf-8"): path for path in schemes_named()}
