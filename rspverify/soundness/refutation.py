"""A counterexample that stands: replayed on the machine, and its outcome refuted by brute force.

The verdict UNSOUND rests on the machine that reaches an outcome and on the model that forbids it.
Each half is confirmed by something that shares no code with how it was found.
"""

from __future__ import annotations

from collections.abc import Sequence

from rspverify.axiomatic import MemoryModel, consistent_execution
from rspverify.axiomatic.enumeration import Relations
from rspverify.axiomatic.event import Event, events_of
from rspverify.limits import LimitReached, Limits
from rspverify.litmus import Program
from rspverify.machine import Machine
from rspverify.smt import Term
from rspverify.soundness.case import Case
from rspverify.soundness.counterexample import (
    Counterexample,
    schedule_in_words,
    shortest_counterexample,
)
from rspverify.soundness.internal import InternalError
from rspverify.soundness.source import SourceExecutions
from rspverify.soundness.target import Suspect
from rspverify.soundness.wording import observed
from rspverify.verdict import Outcome

_SECONDS = 10.0
"""For so long at most the enumeration may go on before a second solver is asked instead."""


def refuted_counterexample(
    case: Case, source: SourceExecutions, machine: Machine, suspect: Suspect
) -> Counterexample:
    """A shortest counterexample, which the machine follows and no consistent execution matches.

    suspect: an execution whose outcome is not allowed; its schedule, where there is one, is good
    enough if the settings ask for no shortest one. Raises InternalError where one of the two is not
    so, and LimitReached.
    """

    def wrong(outcome: Outcome) -> bool:
        return not source.allows(outcome)

    program, limits, any_length = case.program, case.limits, not case.settings.shortest
    try:
        found = shortest_counterexample(
            machine, wrong, limits, suspect.schedule, any_length=any_length
        )
    except InternalError as error:
        told = {"outcome that the engine reports": str(observed(program, suspect.outcome))}
        raise InternalError(str(error), told | error.evidence) from error
    matching = _matching(case, source, found.outcome)
    if matching is not None:
        evidence = {
            "outcome": str(observed(program, found.outcome)),
            "schedule": schedule_in_words(found.schedule),
            "consistent execution": matching,
        }
        message = "the outcome of a counterexample is that of a consistent execution after all"
        raise InternalError(message, evidence)
    return found


def _matching(case: Case, source: SourceExecutions, outcome: Outcome) -> str | None:
    """A consistent execution with an outcome, in words; None if there is none."""
    left = case.limits.remaining()
    share = Limits(_SECONDS if left is None else min(_SECONDS, left / 2))
    try:
        found = consistent_execution(case.program, case.model, outcome, share)
    except LimitReached as limit:
        return _by_second_solver(source.questions.asked_outcome(outcome), limit, case.limits)
    return None if found is None else _in_words(case.program, case.model, found)


def _by_second_solver(terms: Sequence[Term], limit: LimitReached, limits: Limits) -> str | None:
    """The answer of the first solver that can tell; Z3 through pySMT where there is no other."""
    from rspverify.smt.portfolio import other_solvers, satisfiable

    for solver in (*other_solvers(), "z3"):
        answer = satisfiable(terms, solver, limits)
        if answer is True:
            return f"there is one, says {solver}"
        if answer is False:
            return None
    raise LimitReached(
        f"an outcome that seems wrong was refuted neither by enumeration ({limit}) "
        "nor by a second solver"
    )


def _in_words(program: Program, model: MemoryModel, found: Relations) -> str:
    names = [_name(event) for event in events_of(program, model)]
    lines = [
        f"{name}: {names[a]} -> {names[b]}"
        for name, pairs in found.items()
        for a, b in sorted(pairs)
    ]
    return "\n".join(lines) or "no rf and no mo"


def _name(event: Event) -> str:
    it = event.operation
    if it is None and event.thread is not None:
        return f"the start of {event.thread.name}"
    if it is None:
        return f"the initial write of {event.at.name}"
    return f"P{it.thread} line {it.span.line} ({it})"
