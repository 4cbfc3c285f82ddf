"""A hunt that decides by formula: sketch after sketch, and all again under a stronger scheme."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from typing import Any

from rspverify.engineering.hunt.decide import row_shape
from rspverify.engineering.hunt.finding import Formulas
from rspverify.engineering.hunt.formula.applies import why_not
from rspverify.engineering.hunt.formula.ask import SketchAnswer, SketchQuestion
from rspverify.engineering.hunt.formula.sketch import Sketch, sketches
from rspverify.engineering.hunt.hunt import Hunt, phase_counts
from rspverify.enumeration.survey import Survey
from rspverify.judge.cache import Question
from rspverify.judge.facts import facts_of_scheme
from rspverify.scheme import Scheme
from rspverify.soundness.settings import Settings
from rspverify.verdict import Word

_TOGETHER = 4
"""From so many operations on sketches take long enough for several processes."""

_GROWTH = 40
"""So many times as long do the sketches of one operation more take: from three operations to four
under Proposed, in three threads (docs/performance.md)."""


class ByFormula(Hunt):
    """A hunt whose programs are decided a sketch at a time.

    What it finds has the fewest operations, and of these the fewest threads. Its programs are not
    listed unless `count` is called, which asks the survey. asking: told of the operations, threads
    and sketches of a phase. expecting: told of a number of operations, before its first phase, and
    in how many seconds its sketches can be expected to be answered; once of each number.
    """

    def __init__(
        self,
        survey: Survey,
        scheme: Scheme,
        settings: Settings,
        *,
        asking: Callable[[int, int, int], None] = lambda events, threads, sketches: None,
        expecting: Callable[[int, float], None] = lambda events, seconds: None,
        **rest: Any,
    ) -> None:
        super().__init__(survey, scheme, settings, **rest)
        self._asking = asking
        self._expecting = expecting
        self._expected: set[int] = set()
        self._answers: dict[Sketch, SketchAnswer] = {}
        self.counted = False

    @property
    def words(self) -> Counter[Word]:
        """Nothing: no program has a verdict of its own."""
        return Counter()

    @property
    def unknown(self) -> tuple[str, ...]:
        """Programs and sketches without a verdict under the last scheme, each with the reason."""
        return tuple(each for it in self._answers.values() for each in it.unknown)

    @property
    def formulas(self) -> Formulas:
        """What came of the sketches under the last scheme."""
        answers = self._answers.values()
        return Formulas(
            len(answers),
            sum(each.sound for each in answers),
            sum(each.racy for each in answers),
            sum(each.allowed for each in answers),
        )

    @property
    def done(self) -> int:
        """How many sketches were asked under the last scheme."""
        return len(self._answers)

    def run(self) -> None:
        """Every sketch, and after a finding every sketch again, as a row that is stronger may take
        away what an earlier answer rested on; unless it is stopped before."""
        while (broken := self._first_broken()) is not None:
            if not self._finding(broken):
                return
        self.complete = True

    def count(self) -> None:
        """List the programs that the sketches have, and those that need not be decided."""
        for phase in self.survey.phases():
            self.phases.append(
                phase_counts(phase, len(phase.to_decide(self.survey.space, larger=False)))
            )
        self.counted = True

    def _first_broken(self) -> bytes | None:
        """A program of the first phase that has one that breaks the last scheme."""
        self._answers = {}
        scheme = self.schemes[-1]
        assert why_not(self.survey, scheme, self.deciding.settings) is None
        for events, threads in self.survey.plan:
            asked = self._largest_first(events, threads)
            if not asked:
                continue
            self._foretell(events)
            self._asking(events, threads, len(asked))
            workers = None if events >= _TOGETHER else 1
            judge = self.survey.judge
            with closing(judge.each(self._work(scheme), asked, workers=workers)) as coming:
                for sketch, answer in zip(asked, coming, strict=True):
                    self._answers[sketch] = answer
                    self.internal += answer.internal
                    self._decided(1)
                    if answer.broken:
                        return bytes.fromhex(answer.broken)
        return None

    def _foretell(self, events: int) -> None:
        """By what the sketches with one operation less took, in whichever run."""
        if events in self._expected:
            return
        self._expected.add(events)
        fewer = (it for at, it in self._answers.items() if sum(at.lengths) == events - 1)
        seconds = sum(each.seconds for each in fewer) * _GROWTH
        self._expecting(events, seconds / self.survey.judge.workers)

    def _largest_first(self, events: int, threads: int) -> list[Sketch]:
        """The sketches of a phase; what takes longest is not to begin last."""
        found = sketches(self.survey.space, events, threads)
        return sorted(found, key=lambda it: (len(it.atomic), sum(it.atomic)), reverse=True)

    def _work(self, scheme: Scheme) -> Callable[[Sketch], SketchAnswer]:
        """What a worker does with a sketch. Kept is only what any time limit would give."""
        survey, settings = self.survey, self.deciding.settings
        incident = self.deciding.incident_of_hunt()
        question = SketchQuestion(survey.space, scheme, survey.model, settings, incident)

        def answer(sketch: Sketch) -> SketchAnswer:
            asked = self._question(sketch, scheme, settings)
            return survey.judge.ask(
                asked, lambda: question.answer(sketch), lambda found: not found.unknown
            )

        return answer

    def _question(
        self, sketch: Sketch, scheme: Scheme, settings: Settings
    ) -> Question[SketchAnswer]:
        """Are the programs of a sketch compiled soundly? Of the scheme only the rows count that the
        operations of the space use."""
        space, code = self.survey.space, facts_of_scheme(scheme).code
        rows = tuple((access.name, *code[str(row_shape(access))]) for access in space.accesses)
        chosen = replace(settings, machine=settings.machine or scheme.machine.name, seconds=None)
        content = (sketch, space.guards, rows, self.survey.facts.digest, chosen)
        return Question("sketch", content, SketchAnswer)
