"""What machines say of a test in assembly: the answers of a suite of machines."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache

from msgspec import Struct

from rspverify.answers import ModelAnswer, OutcomeAnswer
from rspverify.architecture import Architecture
from rspverify.judge.attempt import Undecided, attempt
from rspverify.judge.incident import Incident
from rspverify.litmus import Program, title_of
from rspverify.records import replace
from rspverify.soundness.outcomes import machine_outcomes
from rspverify.soundness.settings import Settings
from rspverify.source import Source


class PutToMachines(Struct, frozen=True):
    """Puts tests to machines, which are given by their names."""

    machines: Mapping[str, Architecture]
    settings: Settings

    def answers(self, source: Source, names: Sequence[str]) -> Iterator[ModelAnswer]:
        """One test on some of the machines. Nothing that is wrong with it is raised."""
        file, title = source.name, title_of(source) or source.name
        read = cache(lambda: self.settings.read(source, assembly=True))
        for name in names:
            started = time.perf_counter()
            found = self._asked(name, file, read)
            seconds = time.perf_counter() - started
            if isinstance(found, Undecided):
                word, reason, met = found.word, found.reason, found.internal
                yield ModelAnswer(title, file, name, word, reason, {}, seconds, met)
                continue
            assert found.final is not None, "outcomes were asked for"
            answer = found.final.observation if found.outcomes else "VACUOUS"
            yield ModelAnswer(title, file, name, answer, "", found.within, seconds)

    def _asked(
        self, name: str, file: str, read: Callable[[], Program]
    ) -> OutcomeAnswer | Undecided:
        settings = replace(self.settings, machine=name)
        incident = Incident("outcomes", (file,), (), settings)
        machine = self.machines[name]
        return attempt(lambda: machine_outcomes(read(), machine, file, settings), incident)
