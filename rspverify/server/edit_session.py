"""An edit session: one test under one scheme again and again, as someone edits both."""

from __future__ import annotations

from collections.abc import Callable, Generator
from functools import cache, lru_cache, partial
from typing import Any, TypeVar

from msgspec import Struct

from rspverify.answers import Detail, Explanation, Result, RowsAtFault
from rspverify.api.inputs import settled
from rspverify.axiomatic.cat import load_model
from rspverify.axiomatic.library import shipped_models
from rspverify.axiomatic.model import MemoryModel
from rspverify.drawing.details import Broken, detail_here
from rspverify.judge.answers import result_of
from rspverify.judge.faults import fault_of
from rspverify.judge.inputs import LoadedTest, NamedScheme, read_test
from rspverify.judge.judge import Judge
from rspverify.judge.verdicts import Verdicts
from rspverify.limits import LimitReached
from rspverify.records import replace
from rspverify.soundness.settings import Settings
from rspverify.source import InputError, Problem, Source
from rspverify.translators import read_translator, table_of
from rspverify.verdict import ProgressWord, Word

T = TypeVar("T")
_KEPT = 32
"""So many texts of each kind are kept read."""
_SECONDS = 3.0
"""Seconds that the outcomes of a SOUND test may take beside its verdict."""


class Read(Struct, frozen=True):
    """What came of reading the texts: what could be read, and all that is wrong with them."""

    scheme: NamedScheme | None
    test: LoadedTest | None
    model: MemoryModel | None
    problems: tuple[Problem, ...]


class Found(Struct, frozen=True):
    """What an answer shows. detail: all that it rests on. fault: of one that is UNSOUND."""

    result: Result
    detail: Detail
    fault: RowsAtFault | None = None

    @property
    def explanation(self) -> Explanation | None:
        """The verdict with its execution; None where it could not be explained."""
        return self.detail.explanation


class EditSession:
    """Reads what is given, and says what it knows as soon as it knows it.

    Models that ship, and schemes, are read once as long as they stay the same; verdicts are kept by
    the judge.
    """

    def __init__(self, judge: Judge) -> None:
        self._judge = judge
        self._scheme = lru_cache(maxsize=_KEPT)(_scheme)
        self._test = lru_cache(maxsize=_KEPT)(read_test)
        self._verdicts = lru_cache(maxsize=_KEPT)(partial(Verdicts, judge))

    def warm_up(self) -> None:
        """Load all that a first question needs."""
        from rspverify.litmus.syntax import warm_up

        warm_up()
        for name in shipped_models():
            _shipped(name)

    def read(self, scheme: Source, test: Source, settings: Settings) -> Read:
        """Whatever can be read of the texts, and every mistake in any of them."""
        problems: list[Problem] = []

        def tried(read: Callable[..., T], *given: Any) -> T | None:
            try:
                return read(*given)
            except InputError as error:
                problems.extend(error.problems)
                return None

        settings = tried(settled, settings) or replace(settings, machine=None)
        shipped = settings.model in shipped_models()
        named = tried(self._named, scheme, settings)
        loaded = tried(self._test, test, settings, self._judge)
        model = tried(_shipped if shipped else load_model, settings.model)
        return Read(named, loaded, model, tuple(problems))

    def results(self, it: Read, settings: Settings) -> Generator[Result, None, None]:
        """The verdict; and then the same with progress, where that has a meaning."""
        scheme, test, model = _whole(it)
        verdicts = self._verdicts(model, settings)
        answer = verdicts.answer(test, scheme)
        told = partial(
            result_of,
            settings=settings,
            file=test.file,
            title=test.program.title,
            scheme_file=scheme.file,
            scheme=scheme.facts.name,
            model=model.name,
        )
        yield told(answer, None)
        progress = verdicts.progress(test, scheme, answer.verdict.word)
        if progress is not None:
            yield told(answer, progress)

    def found(self, it: Read, result: Result, settings: Settings) -> Found:
        """What a result rests on."""
        scheme, test, model = _whole(it)
        stuck = result.progress is ProgressWord.STUCK and result.verdict is not Word.UNSOUND
        sound = result.verdict is Word.SOUND
        settings = replace(settings, progress=stuck)
        if sound and settings.seconds is not None:
            settings = replace(settings, seconds=min(_SECONDS, settings.seconds))
        verdicts = self._verdicts(model, settings)
        asked = Broken(
            test.source, scheme, result.verdict, stuck, outcome=result.outcome, reached=sound
        )
        detail = detail_here(asked, verdicts, test)
        fault = self._judge.ask(fault_of(test, scheme, verdicts)) if _wrong(result) else None
        return Found(result, detail, fault)

    def _named(self, source: Source, settings: Settings) -> NamedScheme:
        if ".machine" in f"{source.text}{settings.machine}":  # their files may change
            return _scheme(source, settings.machine)
        return self._scheme(source, settings.machine)


@cache
def _shipped(name: str) -> MemoryModel:
    return load_model(name)


def _scheme(source: Source, machine: str | None) -> NamedScheme:
    return NamedScheme.of(table_of(read_translator(source, machine)), source.name)


def _wrong(result: Result) -> bool:
    return result.verdict is Word.UNSOUND


def _whole(it: Read) -> tuple[NamedScheme, LoadedTest, MemoryModel]:
    if it.scheme is None or it.test is None or it.model is None:
        raise LimitReached("what is wrong must be mended first")
    return it.scheme, it.test, it.model
