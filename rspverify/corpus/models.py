"""What models say of a test: the answers of a suite of models, as far as they must be decided."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from rspverify.answers import ModelAnswer, OutcomeAnswer
from rspverify.axiomatic import MemoryModel
from rspverify.judge.attempt import Undecided, attempt
from rspverify.judge.incident import Incident
from rspverify.litmus import Program, title_of, warm_up
from rspverify.soundness.outcomes import outcomes
from rspverify.soundness.settings import Settings
from rspverify.source import InputError, Severity, Source, in_one_line
from rspverify.verdict import Word


@dataclass(frozen=True)
class PutToModels:
    """Puts tests to models, which are given by their names."""

    models: Mapping[str, MemoryModel]
    settings: Settings

    def __post_init__(self) -> None:
        warm_up()

    def answers(self, source: Source, names: Sequence[str]) -> Iterator[ModelAnswer]:
        """One test under some of the models. Nothing that is wrong with it is raised."""
        try:
            program: Program | InputError = self.settings.read(source)
        except InputError as error:
            program = error
        for name in names:
            yield self._answer(program, source, name)

    def _answer(self, program: Program | InputError, source: Source, name: str) -> ModelAnswer:
        started = time.perf_counter()
        settings = replace(self.settings, model=name)

        def decide() -> OutcomeAnswer:
            if isinstance(program, InputError):
                raise program
            return outcomes(program, self.models[name], (), source.name, settings)

        def said(answer: str, reason: str = "", found: OutcomeAnswer | None = None) -> ModelAnswer:
            title, within = title_of(source) or source.name, found.within if found else {}
            seconds = time.perf_counter() - started
            return ModelAnswer(title, source.name, name, answer, reason, within, seconds)

        try:
            found = attempt(decide, Incident("outcomes", (source.name,), (), settings))
        except InputError as error:
            if error.severity is Severity.ERROR:
                return said(Word.ERROR, "\n".join(map(str, error.problems)))
            return said(Word.UNSUPPORTED, in_one_line(error.problems))
        if isinstance(found, Undecided):
            return replace(said(Word.UNKNOWN, found.reason), internal=found.internal)
        assert found.final is not None, "outcomes were asked for"
        return said(f"{found.final.observation}{' racy' * bool(found.violated)}", found=found)
