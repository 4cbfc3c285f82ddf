"""Answers to the questions of the page, event by event, in a process that may be ended any time."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, assert_never

from rspverify.answers import Result
from rspverify.api.asked import Asked
from rspverify.api.inputs import settled
from rspverify.api.judges import Judge
from rspverify.axiomatic.cat import load_model
from rspverify.axiomatic.catalogue import shipped_models
from rspverify.axiomatic.model import MemoryModel
from rspverify.commands.check import check
from rspverify.commands.compare import compare
from rspverify.commands.hunt import hunt
from rspverify.commands.mutate import mutate
from rspverify.commands.prove import prove
from rspverify.drawing.details import Broken, detail_question
from rspverify.judge.faults import fault_of
from rspverify.judge.inputs import LoadedTest, NamedModel, NamedScheme, read_test
from rspverify.judge.verdicts import Verdicts
from rspverify.records import replace
from rspverify.render.evidence import answer
from rspverify.render.forms.html import write_article, write_part
from rspverify.render.prove import in_a_line
from rspverify.render.words import result_cell
from rspverify.scheme.writer import row_fields
from rspverify.server.question import Event, Kind, Question, problem_view, span_view
from rspverify.shipped import SHIPPED, schemes_named, tests_below
from rspverify.soundness.settings import Settings
from rspverify.source import Problems, Source
from rspverify.translators import Translator, has_rows, read_translator, rows_in
from rspverify.verdict import WITHOUT_PROGRESS, WRONG, ProgressWord, Word
from rspverify.wording import visible

SCHEME, TEST, BEFORE = "scheme.yaml", "test.litmus", "before.yaml"
MODEL, MACHINE = "own.cat", "own.machine"
"""What the texts of a question are called where they are no file that ships."""
_KEPT = 32
"""So many texts of each kind are kept read."""
_SECONDS = 3.0
"""Seconds that the outcomes of a SOUND test may take beside its verdict."""


class Answering:
    """Answers one question after the other, as someone edits a scheme and a test.

    Models that ship, and schemes, are read once as long as they stay the same; verdicts are kept by
    the judge. folder: of its own, where the files of a question are written, as their names lead
    there. seconds: of one verdict.
    """

    def __init__(self, judge: Judge, folder: Path, seconds: float) -> None:
        self._judge, self._folder, self._seconds = judge, folder, seconds
        self._scheme = lru_cache(maxsize=_KEPT)(_scheme)
        self._test = lru_cache(maxsize=_KEPT)(read_test)

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
        judge, folder = self._judge, asked.corpus
        match asked.kind:
            case Kind.VERDICT | Kind.ANSWER:
                explained = asked.kind is Kind.ANSWER
                test = Source(TEST, asked.test)
                yield from self._verdict(scheme, test, settings, explained=explained)
            case Kind.CORPUS:
                yield from _corpus(scheme, folder, settings, judge)
            case Kind.MUTATE:
                yield from _mutated(scheme, folder, settings, judge)
            case Kind.COMPARE:
                before = Source(_name(asked.before, BEFORE), asked.before)
                given = compare(before, scheme, tests_below(folder), settings, judge=judge)
                yield from _counted(given, "test")
                report = given.report()
                yield "report", {"html": write_part(given.document(report, ["details"]))}
            case Kind.PROVE:
                yield _proved(scheme, settings, judge)
            case Kind.HUNT:
                yield from _hunted(scheme, (asked.operations, asked.threads), settings, judge)
            case _:
                assert_never(asked.kind)
        yield "end", {}

    # ---- one test under one scheme ---------------------------------------------------------------

    def _verdict(
        self, source: Source, text: Source, settings: Settings, *, explained: bool
    ) -> Iterator[Event]:
        """What is wrong with the texts; the verdict, and then the same with progress, where that
        has a meaning; and what it rests on."""
        scheme = test = model = None
        problems = Problems()
        with problems:
            settled(settings)
        if problems:
            settings = replace(settings, machine=None)
        with problems:
            scheme = self._named(source, settings.machine)
        with problems:
            assembly = scheme is not None and scheme.language is not None
            test = self._test(text, settings, assembly=assembly)
        with problems:
            model = load_model(settings.model)
        yield (
            "read",
            {
                "problems": [problem_view(each) for each in problems],
                "table": table_view(scheme.translator) if scheme else None,
                "title": test.program.title if test else None,
            },
        )
        if problems or scheme is None or test is None or model is None:
            return
        verdicts = Verdicts(self._judge, NamedModel.by(model), settings)
        question = verdicts.question(test, scheme)
        found = verdicts.answer(test, scheme)
        result = question.result(found)
        yield "verdict", result_view(result, going_on=result.verdict not in WITHOUT_PROGRESS)
        if (progress := verdicts.progress(test, scheme, result.verdict)) is not None:
            result = question.result(found, progress)
            yield "verdict", result_view(result)
        if explained:
            yield self._answer(scheme, test, model, settings, result)

    def _answer(
        self,
        scheme: NamedScheme,
        test: LoadedTest,
        model: MemoryModel,
        settings: Settings,
        result: Result,
    ) -> Event:
        """What a result rests on."""
        sound, unsound = result.verdict is Word.SOUND, result.verdict in WRONG
        stuck = result.progress is ProgressWord.STUCK and not unsound
        settings = replace(settings, progress=stuck)
        if sound and settings.seconds is not None:
            settings = replace(settings, seconds=min(_SECONDS, settings.seconds))
        verdicts = Verdicts(self._judge, NamedModel.by(model), settings)
        word, outcome = result.verdict, result.outcome
        broken = Broken(test.source, scheme, word, stuck, outcome=outcome, reached=sound)
        detail = self._judge.ask(detail_question(broken, verdicts, test))
        fault = self._judge.ask(fault_of(test, scheme, verdicts)) if unsound else None
        rows = [row.number for row in fault.rows] if fault else []
        html = write_article(answer(result, detail, fault), "answer")
        return "answer", {"html": html, "rows": rows}

    def _named(self, source: Source, machine: str | None) -> NamedScheme:
        text = f"{source.text}{machine}"
        own = ".machine" in text or ".cat" in text  # their files may change
        return _scheme(source, machine) if own else self._scheme(source, machine)


def _scheme(source: Source, machine: str | None) -> NamedScheme:
    return NamedScheme.by(read_translator(source, machine), source.name)


def _name(text: str, otherwise: str) -> str:
    """What a scheme is called: by its path, if it ships."""
    return _names_that_ship().get(text, otherwise)


@cache
def _names_that_ship() -> dict[str, str]:
    return {(SHIPPED / path).read_text(encoding="utf-8"): path for path in schemes_named()}


def warm_up() -> None:
    """Load all that a first question needs."""
    from rspverify.litmus.syntax import warm_up

    warm_up()
    for name in shipped_models():
        load_model(name)


def result_view(it: Result, *, going_on: bool = False) -> dict[str, Any]:
    """A verdict in a line. going_on: whether progress is still to be told.

    claim: as a visitor is to read it: that a test is LIVE, too, is what is hoped for.
    """
    live = it.progress is ProgressWord.LIVE
    return {
        "verdict": it.verdict,
        "progress": it.progress,
        "claim": (replace(it, progress=None) if live else it).claim,
        "test": visible(it.test),
        "reason": visible(it.reason),
        "progress_reason": visible(it.progress_reason or ""),
        "seconds": it.seconds,
        "going_on": going_on,
    }


def table_view(it: Translator) -> dict[str, Any]:
    """A scheme or a table: each row in the words of its YAML, and where it stands.

    columns: the keys of its rows that are shown; runs_on: the machine or target.
    """
    columns = ["op", "scope", "order", "remote", "code"]
    if it.language is not None:
        columns = ["from", "code"]
    elif it.machine is None:
        columns.remove("remote")
    rows = [
        {"fields": row_fields(row), "words": str(row), "place": span_view(row.span)}
        for row in (rows_in(it).rows if has_rows(it) else ())
    ]
    return {"name": it.name, "runs_on": it.runs_on, "columns": columns, "rows": rows}


# ---- what takes longer than a verdict, told as it goes ------------------------------------------


def _corpus(scheme: Source, folder: str, settings: Settings, judge: Judge) -> Iterator[Event]:
    """The verdict on every test of a folder, each as soon as it is there."""
    asked = check(scheme, folder, replace(settings, progress=True), judge=judge)
    yield "tests", {"total": asked.total}
    for number, each in enumerate(asked, 1):
        assert isinstance(each, Result)
        cell = result_cell(each)
        row = {"file": each.file, "kind": cell.kind, "words": cell.words, "why": cell.why}
        yield "cell", row | {"cached": each.cached, "done": number}


def _mutated(scheme: Source, folder: str, settings: Settings, judge: Judge) -> Iterator[Event]:
    """Every mutant of the scheme, and the smallest test of a folder that shows it."""
    asked = mutate(scheme, tests_below(folder), settings, judge=judge)
    yield from _counted(asked, "mutant")
    report = asked.report()
    mutants = {
        it.mutant.name: {"row": it.mutant.row, "code": list(it.mutant.code), "file": it.file}
        for it in report.mutants
    }
    yield "report", {"html": write_part(asked.document(report))}
    yield "mutants", mutants


def _hunted(
    scheme: Source, bounds: tuple[int, int], settings: Settings, judge: Judge
) -> Iterator[Event]:
    """The smallest programs that break the scheme, each as soon as it is found."""
    operations, threads = bounds
    asked = hunt(scheme, settings, events=operations, threads=threads, judge=judge)
    yield "total", {"total": None, "of": "finding", "before": 0}
    for number, found in enumerate(asked, 1):
        yield "report", {"html": write_part(asked.document(asked.so_far()))}
        yield "finding", {"program": found.program, "text": found.text, "number": number}
    yield "report", {"html": write_part(asked.document(asked.report(), ["details"]))}


def _proved(scheme: Source, settings: Settings, judge: Judge) -> Event:
    """What is known of all programs: in a line of words with their kinds, and in full."""
    asked = prove([scheme], settings, judge=judge)
    report = asked.report()
    (proof,) = report.proofs
    html = write_part(asked.document(report, ["details"]))
    return "proof", {"line": list(in_a_line(proof).pieces), "html": html}


def _counted(asked: Asked[Any, Any], of: str) -> Iterator[Event]:
    yield "total", {"total": asked.total, "of": of, "before": asked.before}
    for number, _ in enumerate(asked, 1):
        yield "done", {"done": number}
