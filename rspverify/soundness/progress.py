"""Progress: can a compiled program always go on to complete (docs/semantics.md, Progress)?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from rspverify.limits import LimitReached, Limits
from rspverify.litmus import Program
from rspverify.machine import (
    Deadlock,
    DeadlockEvents,
    DeadlockSearch,
    Machine,
    find_deadlock,
    replay_deadlock,
    with_evictions,
)
from rspverify.scheme import Scheme, compile_program
from rspverify.smt import Solver
from rspverify.soundness.case import machine_of
from rspverify.soundness.settings import Settings
from rspverify.verdict import Progress, ProgressWord

_STATES = 20_000
"""Up to so many states are searched, which takes some seconds at most."""


def progress(program: Program, scheme: Scheme, settings: Settings) -> Progress:
    """Whether from every reachable state of the compiled program some complete one is reachable.

    Where loops were unrolled to a bound this is UNKNOWN, except that a deadlock with no thread
    still in a loop is one for any number of iterations.

    Asked of the machine, whatever the engine of the verdict. The scheme must have rows for the
    program.
    """
    program = program.unrolled or program
    try:
        machine = machine_of(compile_program(program, scheme), settings)
        found = deadlock(machine, settings.limits())
        iterations = max((cut.iterations for cut in program.cuts), default=0)
        bounds = f"{iterations} iterations"
        if found.schedule is None and program.cuts:
            reason = f"no deadlock within {bounds} ({found.how}), but loops may go on"
            return Progress(ProgressWord.UNKNOWN, reason)
        if found.schedule is None:
            reason = f"from every state a complete execution can be reached ({found.how})"
            return Progress(ProgressWord.LIVE, reason)
        lines = [operation.span.line for operation in program.operations]
        end = replay_deadlock(machine, found.schedule, lines)
        if end.cut:
            reason = f"within {bounds} there is a deadlock, but a thread in a loop may undo it"
            return Progress(ProgressWord.UNKNOWN, reason)
        answer = stuck(end, found.shortest)
        if program.cuts:  # Nothing is asked of a program that races (§6.1).
            reason = f"{answer.reason}, unless the source races beyond {bounds}"
            answer = replace(answer, reason=reason)
        return answer
    except LimitReached as limit:
        return Progress(ProgressWord.UNKNOWN, str(limit))


def deadlock(machine: Machine, limits: Limits) -> DeadlockSearch:
    """An execution to a deadlock, if there is any. Raises LimitReached.

    By search, which finds a shortest one; where the states are too many, by the events engine, if
    it can tell a deadlock of this machine.
    """
    if DeadlockEvents.unable(machine) is not None:
        return find_deadlock(machine, limits)
    try:
        return find_deadlock(machine, replace(limits, states=min(limits.states, _STATES)))
    except LimitReached:
        limits.remaining()
    return deadlock_by_events(machine, limits)


def deadlock_by_events(machine: Machine, limits: Limits) -> DeadlockSearch:
    """An execution to a deadlock, if there is any, by the events engine. Raises LimitReached."""
    events = DeadlockEvents(machine, limits)
    solver = Solver(limits, reproducible=True)
    solver.add(*events.constraints)
    model = solver.find()
    if model is None:
        return DeadlockSearch(None, "by the events engine")
    schedule = with_evictions(machine, events.deadlocked(model))
    return DeadlockSearch(schedule, "by the events engine", shortest=False)


def stuck(end: Deadlock, shortest: bool) -> Progress:
    """STUCK, with the execution that shows it."""
    steps = len(end.execution.steps)
    after = (
        "before any step" if not steps else "after 1 step" if steps == 1 else f"after {steps} steps"
    )
    what = "no instruction" if end.threads else "nothing more"
    waits: Sequence[str] = end.threads or end.rest
    reason = f"{what} can happen {after}: {'; '.join(waits)}"
    blocked = (*end.threads, *end.rest)
    return Progress(ProgressWord.STUCK, reason, replace(end.execution, shortest=shortest), blocked)
