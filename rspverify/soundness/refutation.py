"""Whether a model allows an outcome, by brute force: the second opinion on each wrong outcome.

The verdict UNSOUND rests on a target that reaches an outcome and on a model that forbids it. Each
half is confirmed by something that shares no code with how it was found.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rspverify.axiomatic.enumeration import Relations, consistent_execution
from rspverify.axiomatic.event import Event, events_of
from rspverify.axiomatic.model import MemoryModel
from rspverify.limits import LimitReached, Limits
from rspverify.litmus.program import Program
from rspverify.smt.term import Term
from rspverify.verdict import Outcome

_SECONDS = 10.0
"""For so long at most the enumeration may go on before a second solver is asked instead."""


def consistent_by_brute_force(
    program: Program,
    model: MemoryModel,
    outcome: Outcome,
    limits: Limits,
    asked: Callable[[], Sequence[Term]],
) -> str | None:
    """A consistent execution with an outcome, in words; None if there is none.

    By enumeration of rf and mo; where that is too large, a second solver is asked. asked: what
    holds together exactly in a consistent execution with the outcome. Raises LimitReached.
    """
    left = limits.remaining()
    share = Limits(_SECONDS if left is None else min(_SECONDS, left / 2))
    try:
        found = consistent_execution(program, model, outcome, share)
    except LimitReached as limit:
        return _by_second_solver(asked(), limit, limits)
    return None if found is None else _in_words(program, model, found)


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
