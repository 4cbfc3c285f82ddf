"""`outcomes` of many tests: one answer for each, in their order, whatever happens to the others."""

from __future__ import annotations

import time
from collections.abc import Generator, Sequence

from msgspec import Struct, field

from rspverify.answers import OutcomeAnswer
from rspverify.architecture.architecture import Architecture
from rspverify.architecture.machines import MACHINES
from rspverify.axiomatic.cat import load_model
from rspverify.axiomatic.catalogue import shipped_models
from rspverify.axiomatic.coverage import foreign_names
from rspverify.axiomatic.model import MemoryModel
from rspverify.judge.judge import Judge
from rspverify.judge.question import Incident, Question, Undecided
from rspverify.litmus.program import Program
from rspverify.records import replace
from rspverify.schedulers import Scheduler
from rspverify.soundness.outcomes import SoFar, machine_outcomes, outcomes, races
from rspverify.soundness.settings import Settings
from rspverify.source import Given, InputError, Problem, name_of, read_source, require
from rspverify.translators import Translator
from rspverify.verdict import Word
from rspverify.wording import alternatives


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
        here = min(judge.workers, len(files)) <= 1
        each = self if here else replace(self, so_far=SoFar())  # another process shows nothing
        yield from judge.run([OutcomesQuestion(each, file) for file in files], here=here)


class OutcomesQuestion(Question[OutcomeAnswer], frozen=True):
    """Which outcomes does the model allow of a test, and which of them do schemes reach?"""

    kind = "outcomes"
    is_limited = True

    listing: Listing
    given: Given

    @property
    def incident(self) -> Incident:
        it = self.listing
        options = ["--races"] if it.races else []
        if it.scheduler is not None:
            options += ["--scheduler", str(it.scheduler)]
        file = name_of(self.given)
        return Incident("outcomes", (file,), it.scheme_files, it.settings, options)

    def decide(self) -> OutcomeAnswer:
        it, started = self.listing, time.perf_counter()
        program = it.settings.read(read_source(self.given), assembly=True)
        limits = it.settings.limits()
        if limits.seconds is not None:  # the model and each scheme have so many
            limits = replace(limits, seconds=limits.seconds * (1 + len(it.schemes)))
        with limits.enforced():
            found = self._found(program)
        it.so_far.end()
        return replace(found, seconds=time.perf_counter() - started)

    def _found(self, program: Program) -> OutcomeAnswer:
        it, file = self.listing, name_of(self.given)
        if program.in_assembly and self._is_of_a_machine(program):
            return machine_outcomes(program, self._machine(program), file, it.settings, it.so_far)
        if program.in_assembly:
            message = f"{file}: a test in {program.language} must go without --scheme"
            require(not it.schemes, message)
        else:
            self._require_source(program)
        if it.races:
            return races(program, it.model, file, it.settings)
        return outcomes(program, it.model, it.schemes, file, it.settings, it.so_far, it.scheduler)

    def lost(self, why: Undecided) -> OutcomeAnswer:
        """What is known of it by then, or why nothing is."""
        so_far, reason = self.listing.so_far, "\n".join(map(str, why.problems)) or why.reason
        if why.word is Word.UNKNOWN and (known := so_far.answer(reason)):
            so_far.end()
            return replace(known, internal=why.internal, seconds=why.seconds)
        return OutcomeAnswer(
            file=name_of(self.given),
            model=self.listing.model.name,
            word=why.word,
            reason=reason,
            internal=why.internal,
            seconds=why.seconds,
        )

    def _is_of_a_machine(self, program: Program) -> bool:
        """Whether a test in assembly is put to a machine, and not to a model of its language."""
        it = self.listing
        return it.machine is not None or bool(foreign_names(it.model, program.language))

    def _machine(self, program: Program) -> Architecture:
        """The machine that a test in assembly is put to. Raises InputError where it must not be."""
        it, where, language = self.listing, program.source.name, program.language
        if it.machine is None:
            hint = f"--machine names one: {alternatives(tuple(MACHINES))}"
            models = shipped_models()
            if fitting := [it for it in models if not foreign_names(load_model(it), language)]:
                hint = f"--model names one: {alternatives(fitting)}"
            message = (
                f"{where}: a test in {language} must be put to a machine, or to a model of"
                f" {language}, not to {it.model.name}"
            )
            raise InputError([Problem(None, message, hint)])
        for option, given in (("--scheme", it.schemes), ("--races", it.races)):
            require(not given, f"{where}: a test in {language} must go without {option}")
        return it.machine

    def _require_source(self, program: Program) -> None:
        """Raises InputError where a machine is named and there is no assembly that it could run."""
        machine = self.listing.machine
        if machine is not None and not self.listing.schemes:
            name = program.language
            message = f"{program.source.name}: a test in {name} must go without --machine"
            hint = f"machine {machine.name} runs tests in PTX, or what a --scheme compiles to"
            raise InputError([Problem(None, message, hint)])
