"""A counterexample that stands: replayed on the machine, and its outcome refuted by brute force.

The verdict UNSOUND rests on the machine that reaches an outcome and on the model that forbids it.
Each half is confirmed by something that shares no code with how it was found.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rspverify.axiomatic import MemoryModel, Questions, Witness, consistent_execution
from rspverify.axiomatic.event import Event, events_of
from rspverify.check.counterexample import (
    Counterexample,
    schedule_in_words,
    shortest_counterexample,
)
from rspverify.check.internal import InternalError
from rspverify.check.wording import observed
from rspverify.limits import LimitReached, Limits
from rspverify.litmus import Program
from rspverify.machine import Machine, Rule
from rspverify.smt import Term
from rspverify.verdict import Outcome

_SECONDS = 10.0
"""For so long at most the enumeration may go on before a second solver is asked instead."""


def refuted_counterexample(
    program: Program,
    source: Questions,
    model: MemoryModel,
    machine: Machine,
    wrong: Callable[[Outcome], bool],
    limits: Limits,
    reported: Outcome,
    known: Sequence[Rule] | None = None,
    *,
    any_length: bool = False,
) -> Counterexample:
    """A shortest counterexample, which the machine follows and no consistent execution matches.

    any_length: the execution of `known` is good enough, short or not.
    reported: the wrong outcome that an engine reports; known: the schedule by which, if it tells.
    Raises InternalError where one of the two is not so, and LimitReached.
    """
    try:
        found = shortest_counterexample(machine, wrong, limits, known, any_length=any_length)
    except InternalError as error:
        told = {"outcome that the engine reports": str(observed(program, reported))}
        raise InternalError(str(error), told | error.evidence) from error
    matching = _matching(program, model, source, found.outcome, limits)
    if matching is not None:
        evidence = {
            "outcome": str(observed(program, found.outcome)),
            "schedule": schedule_in_words(found.schedule),
            "consistent execution": matching,
        }
        message = "the outcome of a counterexample is that of a consistent execution after all"
        raise InternalError(message, evidence)
    return found


def _matching(
    program: Program, model: MemoryModel, source: Questions, outcome: Outcome, limits: Limits
) -> str | None:
    """A consistent execution with an outcome, in words; None if there is none."""
    left = limits.remaining()
    share = Limits(_SECONDS if left is None else min(_SECONDS, left / 2))
    try:
        witness = consistent_execution(program, model, outcome, share)
    except LimitReached as limit:
        return _by_second_solver(source.asked_outcome(outcome), limit, limits)
    return None if witness is None else _in_words(program, model, witness)


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


def _in_words(program: Program, model: MemoryModel, witness: Witness) -> str:
    names = [_name(event) for event in events_of(program, model)]
    lines = [
        f"{name}: {names[a]} -> {names[b]}"
        for name, pairs in witness.relations.items()
        for a, b in sorted(pairs)
    ]
    return "\n".join(lines) or "no rf and no mo"


def _name(event: Event) -> str:
    it = event.operation
    if it is None:
        return f"the initial write of {event.at.name}"
    return f"P{it.thread} line {it.span.line} ({it})"
