"""`outcomes` of many tests: one answer for each, in their order, whatever happens to the others."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Sequence

from msgspec import Struct, field

from rspverify.answers import Internal, OutcomeAnswer
from rspverify.architecture import MACHINES, Architecture
from rspverify.axiomatic import MemoryModel
from rspverify.judge.attempt import Undecided, attempt
from rspverify.judge.incident import Incident
from rspverify.judge.judge import Judge
from rspverify.judge.work import Work, stem
from rspverify.limits import LOST
from rspverify.litmus import Program, warm_up
from rspverify.records import replace
from rspverify.soundness.case import Translator
from rspverify.soundness.outcomes import SoFar, machine_outcomes, outcomes, races
from rspverify.soundness.schedulers import Scheduler
from rspverify.soundness.settings import Settings
from rspverify.source import Given, InputError, Problem, name_of, read_source, require
from rspverify.verdict import Word
from rspverify.wording import alternatives

_AHEAD = 16
"""Tests per worker that wait, or whose answers wait."""


class Listing(Struct, frozen=True):
    """What is asked of each test.

    races: only whether it races. scheme_files: for reports. machine: the one that tests in assembly
    are put to, if one is named. scheduler: whose executions alone count. so_far: what is known of
    the test that this process is at.
    """

    model: MemoryModel
    schemes: tuple[Translator, ...]
    scheme_files: tuple[str, ...]
    settings: Settings
    races: bool = False
    machine: Architecture | None = None
    scheduler: Scheduler | None = None
    so_far: SoFar = field(default_factory=SoFar)

    def answers(self, files: Sequence[Given], judge: Judge) -> Generator[OutcomeAnswer, None, None]:
        """The answer for each test, in this process if there is one worker or one test."""
        workers = min(judge.workers, len(files))
        warm_up()
        if workers <= 1:
            yield from map(self.answer, files)
            return
        each = replace(self, so_far=SoFar())  # another process shows nothing
        work = Work("outcomes", each.answer, lambda given: stem(name_of(given)))
        yield from judge.each(work, files, workers=workers, ahead=_AHEAD, lost=self._lost)

    def answer(self, given: Given) -> OutcomeAnswer:
        """The answer for one test. Nothing that is wrong with it is raised."""
        file = name_of(given)
        found, seconds = self.asked(file, lambda: self._read(given))
        if not isinstance(found, Undecided):
            self.so_far.end()
            return replace(found, seconds=seconds)
        reason = "\n".join(map(str, found.problems)) or found.reason
        if found.word is Word.UNKNOWN and (known := self.so_far.answer(reason)):
            self.so_far.end()
            return replace(known, internal=found.internal, seconds=seconds)
        return self._without(file, found.word, reason, seconds, found.internal)

    def _read(self, given: Given) -> Program:
        return self.settings.read(read_source(given), assembly=True)

    def asked(
        self, file: str, read: Callable[[], Program]
    ) -> tuple[OutcomeAnswer | Undecided, float]:
        """What is said of the program of a test, and how many seconds that took."""
        started = time.perf_counter()
        options = ["--races"] if self.races else []
        if self.scheduler is not None:
            options += ["--scheduler", str(self.scheduler)]

        def decide() -> OutcomeAnswer:
            program = read()
            if program.in_assembly:
                return machine_outcomes(
                    program, self._machine(program), file, self.settings, self.so_far
                )
            self._require_source(program)
            if self.races:
                return races(program, self.model, file, self.settings)
            return outcomes(
                program,
                self.model,
                self.schemes,
                file,
                self.settings,
                self.so_far,
                self.scheduler,
            )

        incident = Incident("outcomes", (file,), self.scheme_files, self.settings, options)
        return attempt(decide, incident), time.perf_counter() - started

    def _machine(self, program: Program) -> Architecture:
        """The machine that a test in assembly is put to. Raises InputError where it must not be."""
        where, language = program.source.name, program.language
        if self.machine is None:
            hint = f"--machine names one: {alternatives(tuple(MACHINES))}"
            message = f"{where}: a test in {language} must be put to a machine, and none is named"
            raise InputError([Problem(None, message, hint)])
        for option, given in (("--scheme", self.schemes), ("--races", self.races)):
            require(not given, f"{where}: a test in {language} must go without {option}")
        return self.machine

    def _require_source(self, program: Program) -> None:
        """Raises InputError where a machine is named and there is no assembly that it could run."""
        if self.machine is not None and not self.schemes:
            name = program.language
            message = f"{program.source.name}: a test in {name} must go without --machine"
            hint = f"machine {self.machine.name} runs tests in PTX, or what a --scheme compiles to"
            raise InputError([Problem(None, message, hint)])

    def _without(
        self, file: str, word: Word, reason: str, seconds: float, met: Internal | None = None
    ) -> OutcomeAnswer:
        """What is said of a test without an answer."""
        model = self.model.name
        return OutcomeAnswer(
            file=file, model=model, word=word, reason=reason, internal=met, seconds=seconds
        )

    def _lost(self, given: Given) -> OutcomeAnswer:
        return self._without(name_of(given), Word.UNKNOWN, LOST, 0.0)
