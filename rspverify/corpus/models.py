"""What models say of a test: the answers of a suite of models, as far as they must be decided."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache

from rspverify.answers import ModelAnswer
from rspverify.axiomatic import MemoryModel
from rspverify.judge.attempt import Undecided
from rspverify.judge.listing import Listing
from rspverify.litmus import title_of, warm_up
from rspverify.soundness.settings import Settings
from rspverify.source import Source


@dataclass(frozen=True)
class PutToModels:
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
            listing = Listing(self.models[name], (), (), replace(self.settings, model=name))
            found, seconds = listing.asked(file, read)
            if isinstance(found, Undecided):
                word, reason, met = found.word, found.reason, found.internal
                yield ModelAnswer(title, file, name, word, reason, {}, seconds, met)
                continue
            assert found.final is not None, "outcomes were asked for"
            answer = f"{found.final.observation}{' racy' * bool(found.violated)}"
            yield ModelAnswer(title, file, name, answer, "", found.within, seconds)
