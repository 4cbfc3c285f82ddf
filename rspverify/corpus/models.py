"""What models say of a test: the answers of a suite of models, as far as they must be decided."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, partial

from msgspec import Struct

from rspverify.answers import ModelAnswer
from rspverify.axiomatic import MemoryModel
from rspverify.judge.attempt import Undecided, attempt
from rspverify.judge.incident import Incident
from rspverify.litmus import Program, title_of, warm_up
from rspverify.records import replace
from rspverify.soundness.observation import Observed, observed_by
from rspverify.soundness.settings import Settings
from rspverify.source import Source


def _observed(read: Callable[[], Program], model: MemoryModel, settings: Settings) -> Observed:
    return observed_by(read(), model, settings)


class PutToModels(Struct, frozen=True):
    """Puts tests to models, which are given by their names."""

    models: Mapping[str, MemoryModel]
    settings: Settings

    def __post_init__(self) -> None:
        warm_up()

    def answers(self, source: Source, names: Sequence[str]) -> Iterator[ModelAnswer]:
        """One test under some of the models. Nothing that is wrong with it is raised."""
        file, title = source.name, title_of(source) or source.name
        read = cache(lambda: self.settings.read(source))
        for name in names:
            model, settings = self.models[name], replace(self.settings, model=name)
            started = time.perf_counter()
            incident = Incident("outcomes", (file,), (), settings, [])
            found = attempt(partial(_observed, read, model, settings), incident)
            seconds = time.perf_counter() - started
            if isinstance(found, Undecided):
                word, reason, met = found.word, found.reason, found.internal
                yield ModelAnswer(title, file, name, word, reason, {}, seconds, met)
            else:
                answer = f"{found.observation}{' racy' * found.racy}"
                yield ModelAnswer(title, file, name, answer, "", found.within, seconds)
