"""By formula: one question for all programs of a sketch, and all again under a stronger scheme."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any

from rspverify.engineering.hunt.assumptions import gives_back, smaller_proved_for
from rspverify.engineering.hunt.finding import By, Formulas
from rspverify.engineering.hunt.formula.ask import SketchAnswer, SketchSearch
from rspverify.engineering.hunt.formula.sketch import Sketch, sketches
from rspverify.engineering.hunt.strategy import Hunted, Strategy, programs_of
from rspverify.enumeration.survey import Survey
from rspverify.judge.question import Incident, Question, Undecided
from rspverify.litmus.program import Scope
from rspverify.machine.machine import unbounded, unordered
from rspverify.soundness.settings import L2, Settings
from rspverify.translators import Translator, is_scheme, table_of

_TOGETHER = 4
"""From so many operations on sketches take long enough for several processes."""

_GROWTH = 40
"""So many times as long do the sketches of one operation more take: from three operations to four
under Proposed, in three threads (docs/performance.md)."""

_LONG = 60.0
"""From so many seconds on it is said beforehand how long formulas take."""


def why_not(survey: Survey, scheme: Translator, settings: Settings) -> str | None:
    """Why the programs of a space cannot be decided by formula under a scheme; None if they can.

    The sketches have the programs that must be decided under a scheme that gives back its locks
    (Sort.CORE, proved for opencl-rsp), without plain accesses of atomic locations.
    """
    space = survey.space
    if not is_scheme(scheme):
        if scheme.whole:
            return "a compiler makes what it does of whole programs"
        return "formulas are for schemes on machines"
    table = table_of(scheme)
    machine = table.machine
    if not survey.argued:
        return (
            f"formulas need lemmas that are not proved for what the model {survey.model.name} says"
        )
    if not smaller_proved_for(machine):
        return f"formulas need lemmas that are not proved for the machine {machine.name}"
    if unknown := unbounded(machine):
        return f"formulas are for machines that the engine events knows: {unknown}"
    if unknown := unordered(machine):
        return f"formulas need to know in which order writes reach memory: {unknown}"
    if machine.tells_widest_scope and any(it.scope is Scope.ALL for it in space.accesses):
        return "formulas do not know which locations operations of the widest scope access"
    if space.mixed:
        return "formulas have no plain operations on atomic locations"
    if settings.l2 is not L2.AUTO:
        return "formulas leave L2s out"
    if not gives_back(table):
        return "some row of the scheme does not give back the locks that it takes"
    return None


@dataclass(eq=False)
class ByFormula(Strategy):
    """Asks about a sketch at a time.

    What it finds has the fewest operations, and of these the fewest threads. Its programs are not
    listed unless `count` is called.
    """

    by = By.FORMULA

    _foretold: set[int] = field(init=False, default_factory=set)
    _answers: dict[Sketch, SketchAnswer] = field(init=False, default_factory=dict)

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

    @property
    def counted(self) -> bool:
        """Whether all programs of the space are listed."""
        return len(self.phases) == len(self.survey.plan)

    def broken(self) -> Generator[bytes, None, None]:
        """A program that breaks the scheme as it is then, of the fewest operations, packed.

        After a finding every sketch is asked again, as a row that is stronger may take away what an
        earlier answer rested on.
        """
        while (found := self._first_broken()) is not None:
            yield found
        self.complete = True

    def count(self) -> None:
        """List the programs that the sketches have, and those that need not be decided."""
        for phase in self.survey.phases():
            self.add(phase, len(phase.core))

    def _first_broken(self) -> bytes | None:
        """A program of the first phase that has one that breaks the last scheme."""
        self._answers = {}
        assert why_not(self.survey, self.scheme, self.settings) is None
        for events, threads in self.survey.plan:
            asked = self._largest_first(events, threads)
            if not asked:
                continue
            self._foretell(events)
            self.shown.count(f"formulas for {programs_of(events, threads)}", len(asked))
            questions = [SketchQuestion(self.hunted, each) for each in asked]
            coming = self.survey.judge.run(questions, here=events < _TOGETHER)
            with closing(coming):
                for sketch, answer in zip(asked, coming, strict=True):
                    self._answers[sketch] = answer
                    self.internal += answer.internal
                    self.shown.advance()
                    if answer.broken:
                        return bytes.fromhex(answer.broken)
        return None

    def _foretell(self, events: int) -> None:
        """By what the sketches with one operation less took; once of each number."""
        if events in self._foretold:
            return
        self._foretold.add(events)
        fewer = (it for at, it in self._answers.items() if sum(at.lengths) == events - 1)
        seconds = sum(each.seconds for each in fewer) * _GROWTH / self.survey.judge.workers
        if seconds > _LONG:
            self.shown.expecting(events, seconds)

    def _largest_first(self, events: int, threads: int) -> list[Sketch]:
        """The sketches of a phase; what takes longest is not to begin last."""
        found = sketches(self.survey.space, events, threads, self.scheme.machine)
        return sorted(found, key=lambda it: (len(it.atomic), sum(it.atomic)), reverse=True)


class SketchQuestion(Question[SketchAnswer], frozen=True):
    """Does a program of a sketch break the scheme? Kept is only what any time limit would give."""

    kind = "sketch"
    is_limited = True
    answer = SketchAnswer

    of: Hunted
    sketch: Sketch

    @property
    def name(self) -> str:
        return str(self.sketch)

    @property
    def content(self) -> tuple[Any, ...]:
        space = self.of.survey.space
        every = range(len(space.operations))
        return self.sketch, space.guards, self.of.rows(every), *self.of.content

    @property
    def incident(self) -> Incident:
        it = self.of
        bounds = it.survey.space.bounds.items()
        words = [word for name, n in bounds for word in (f"--{name.replace('-', '')}", str(n))]
        files = (it.file,) if it.file else ()
        return Incident("hunt", (), files, it.settings, ("--by", "formula", *words))

    def decide(self) -> SketchAnswer:
        it, scheme = self.of, table_of(self.of.scheme)
        search = SketchSearch(it.survey.space, scheme, it.survey.model, it.settings)
        return search.answer(self.sketch)

    def lost(self, why: Undecided) -> SketchAnswer:
        unknown = (f"{self.sketch}: {why.reason}",)
        internal = (why.internal,) if why.internal else ()
        return SketchAnswer("", unknown, internal=internal, seconds=why.seconds)

    def worth_keeping(self, answer: SketchAnswer) -> bool:
        return not answer.unknown
