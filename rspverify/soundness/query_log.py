"""The questions that a verdict rests on, kept for a second solver and for anyone who re-checks.

`LoggedSource` and `LoggedMachine` are the two sides of the theorem, and write down what each was
asked; the theorem does not know them.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from urllib.parse import quote

from msgspec import Struct

from rspverify import __version__
from rspverify.limits import LimitReached, Limits
from rspverify.machine.machine import Machine
from rspverify.mapping.mapped import Mapped
from rspverify.smt.portfolio import satisfiable
from rspverify.smt.smtlib import script
from rspverify.smt.term import Term
from rspverify.soundness.internal import InternalError
from rspverify.soundness.machine_side import MachineExecutions, MachineSide
from rspverify.soundness.settings import Settings
from rspverify.soundness.sides import Candidate, ModelSide
from rspverify.soundness.wording import observed
from rspverify.source import InputError, Problem
from rspverify.verdict import Outcome, Race


class Query(Struct, frozen=True):
    """One question to the solver, and its answer.

    name: short, for a file name; asks: in words, what a satisfying assignment would be.
    """

    name: str
    asks: str
    terms: Sequence[Term]
    satisfiable: bool


QueryLog = list[Query]
"""The questions of one check, in order."""


class LoggedSource(ModelSide):
    """The source program's side, each question of it written down once."""

    def __init__(self, source: ModelSide, log: QueryLog) -> None:
        free, seen = source.race_free, source.seen
        super().__init__(source.program, source.model, source.limits, race_free=free, seen=seen)
        self._log = log

    def race(self) -> Race | None:
        found = super().race()
        if not self.race_free:
            asks = "Has the source program a consistent execution with a race?"
            asked = self.questions.asked_race()
            self._log.append(Query("race", asks, list(asked), found is not None))
        return found

    def allows(self, outcome: Outcome) -> bool:
        known, allowed = outcome in self.known, super().allows(outcome)
        if not known:
            self._write_down(outcome, allowed)
        return allowed

    def known_outcomes(self) -> Iterator[Outcome]:
        before = {*self.known}
        for outcome in super().known_outcomes():
            if outcome not in before:
                self._write_down(outcome, True)
            yield outcome

    def _write_down(self, outcome: Outcome, allowed: bool) -> None:
        asks = f"Is there a consistent execution with {observed(self.program, outcome)}?"
        asked = self.questions.asked_outcome(outcome)
        self._log.append(Query("allowed", asks, list(asked), allowed))


_OTHER = "Has the compiled program an execution with an outcome other than those allowed?"
_BREAKING = (
    "Has the compiled program an execution whose own rf and mo break the model (of those that "
    "differ in the order of exchangeable threads, one)?"
)
_BREAKING_AGAIN = (
    "Has the compiled program an execution whose own rf and mo break the model, with an outcome "
    "other than those already asked about?"
)


class LoggedTarget(ModelSide):
    """A target whose executions are those of a model, each question of it written down."""

    def __init__(self, made: Mapped, limits: Limits, log: QueryLog) -> None:
        super().__init__(made.program, made.model, limits, seen=made.seen)
        self._log = log

    def candidates(self, source: ModelSide) -> Iterator[Candidate]:
        yield from super().candidates(source)
        self._log.append(Query("other", _OTHER, list(self.questions.asked), False))

    def completes(self) -> bool:
        found = super().completes()
        asks = "Has the compiled program any execution?"
        self._log.append(Query("complete", asks, list(self.questions.solver().asserted), found))
        return found


class LoggedMachine(MachineSide):
    """The machine's side, each question of it written down."""

    def __init__(self, machine: Machine, settings: Settings, limits: Limits, log: QueryLog) -> None:
        super().__init__(machine, settings, limits)
        self._log = log

    def complete(self, executions: MachineExecutions) -> bool:
        found = super().complete(executions)
        asks = "Has the compiled program any execution?"
        self._log.append(Query("complete", asks, list(executions.asked), found))
        return found

    def among(self, executions: MachineExecutions, source: ModelSide) -> Iterator[Candidate]:
        breaking = executions.judges_rf_and_mo(source.model)
        name, asks = ("breaks", _BREAKING) if breaking else ("other", _OTHER)
        for candidate in super().among(executions, source):
            if breaking:
                self._log.append(Query(name, asks, list(candidate.asked), True))
                asks = _BREAKING_AGAIN
            yield candidate
        self._log.append(Query(name, asks, list(executions.asked), False))


class Contradiction(InternalError):
    """Two solvers give opposite answers to one question: one of them, or we, must be wrong."""


def not_confirmed(log: QueryLog, solver: str, limits: Limits) -> str | None:
    """Why a second solver does not confirm every «no» of a log, in words; None if it does.

    A «yes» comes with an assignment and needs no confirmation. Raises Contradiction if the second
    solver says the opposite.
    """
    doubts = []
    try:
        for query in log:
            if query.satisfiable:
                continue
            answer = satisfiable(query.terms, solver, limits)
            if answer is True:
                raise Contradiction(f"{solver} contradicts z3 on the question «{query.asks}»")
            if answer is not False:
                doubts.append(f"«{query.asks}»: {answer}")
    except LimitReached as limit:
        doubts = [str(limit)]
    return f"not confirmed by {solver}: {'; '.join(doubts)}" if doubts else None


def write_queries(log: QueryLog, settings: Settings, test: str, scheme: str, word: str) -> None:
    """One SMT-LIB 2 file per question, in the folder of the settings, if they name one.

    There each test has its place as it has here, with folders of the same names. word: of the
    verdict. Raises InputError if that cannot be written.
    """
    if settings.smt_dir is None:
        return
    inner, last = os.path.split(os.path.splitdrive(os.path.normpath(test))[1])
    steps = ["%2E%2E" if step == os.pardir else step for step in inner.split(os.sep) if step]
    if os.path.isabs(inner):
        steps.insert(0, "%2F")
    place = Path(settings.smt_dir, *steps)
    name = f"{last}@{quote(scheme, safe='()+,=')}"
    try:
        place.mkdir(parents=True, exist_ok=True)
        for old in place.iterdir():
            if re.fullmatch(rf"{re.escape(name)}\.\d+-\w+\.smt2", old.name):
                old.unlink()
        for number, query in enumerate(log, 1):
            head = [
                f"rspverify {__version__}: question {number} of {len(log)} behind {word}",
                f"test {test}, scheme {scheme}, model {settings.model}",
                f"engine {settings.engine}, {settings.reading} reading",
                f"Asks: {query.asks}",
                "sat means yes, and the assignment is such an execution; unsat means no.",
                f"z3 answered {'sat' if query.satisfiable else 'unsat'}.",
            ]
            text = script(query.terms, head, query.satisfiable)
            target = place / f"{name}.{number:02}-{query.name}.smt2"
            target.write_text(text, encoding="utf-8")
    except OSError as error:
        problem = Problem(None, f"{settings.smt_dir}: its files must be writable, not: {error}")
        raise InputError([problem]) from None
