"""What models say of tests: the answers of a suite of models, as far as they must be decided."""

from __future__ import annotations

import time
from collections.abc import Generator, Sequence
from dataclasses import dataclass, replace

from rspverify.axiomatic import MemoryModel
from rspverify.check.bundle import Incident, reported
from rspverify.check.outcomes import outcomes
from rspverify.check.settings import Settings
from rspverify.check.workers import spread
from rspverify.limits import LimitReached
from rspverify.litmus import Program, title_of, warm_up
from rspverify.report import ModelAnswer
from rspverify.source import InputError, Severity, Source, in_one_line
from rspverify.verdict import Word


@dataclass(frozen=True)
class Asked:
    """A test, and the models that it is to be put to, by name."""

    source: Source
    models: tuple[str, ...]


@dataclass(frozen=True)
class Asking:
    """What all answers of a run rest on, read once: models by the names that were given."""

    models: dict[str, MemoryModel]
    settings: Settings

    def decided(
        self, asked: Sequence[Asked], workers: int
    ) -> Generator[list[ModelAnswer], None, None]:
        """The answers for each test, in their order. Raises LimitReached if a worker is lost."""
        warm_up()
        yield from spread(self.answers, asked, min(workers, len(asked)))

    def answers(self, asked: Asked) -> list[ModelAnswer]:
        """One test under each of its models. Nothing that is wrong with it is raised."""
        try:
            program: Program | InputError = self.settings.read(asked.source)
        except InputError as error:
            program = error
        return [self._answer(program, asked.source, name) for name in asked.models]

    def _answer(self, program: Program | InputError, source: Source, name: str) -> ModelAnswer:
        started = time.perf_counter()
        settings = replace(self.settings, model=name)
        within, internal, reason = {}, None, ""
        try:
            if isinstance(program, InputError):
                raise program
            table = outcomes(program, self.models[name], (), source.name, settings)
            within = dict(table.within)
            words = f"{table.final.observation}{' racy' * bool(table.violated)}"
        except InputError as error:
            wrong = error.severity is Severity.ERROR
            words = (Word.ERROR if wrong else Word.UNSUPPORTED).value
            reason = "\n".join(map(str, error.problems)) if wrong else in_one_line(error.problems)
        except LimitReached as limit:
            words, reason = Word.UNKNOWN.value, str(limit)
        except MemoryError:
            words, reason = Word.UNKNOWN.value, "out of memory"
        except Exception as error:
            internal = reported(error, Incident("outcomes", (source.name,), (), settings))
            words, reason = Word.UNKNOWN.value, str(internal)
        title = title_of(source) or source.name
        seconds = time.perf_counter() - started
        return ModelAnswer(title, source.name, name, words, reason, within, seconds, internal)
