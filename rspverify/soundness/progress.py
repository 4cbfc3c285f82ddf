"""Progress: can a compiled program always go on to complete (docs/semantics.md, Progress)?"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

from rspverify.limits import LimitReached, Limits
from rspverify.litmus import Program
from rspverify.machine import (
    Deadlock,
    DeadlockEvents,
    DeadlockSearch,
    Machine,
    ShownHang,
    find_deadlock,
    find_hang,
    replay_deadlock,
    replay_hang,
    with_evictions,
)
from rspverify.machine.settling import settles
from rspverify.machine.sharing import placed
from rspverify.records import replace
from rspverify.smt import Solver
from rspverify.soundness.case import Translator, compiled, machine_of
from rspverify.soundness.schedulers import Kind, Scheduler, schedulers_of
from rspverify.soundness.scheduling import Scheduling, schedulings
from rspverify.soundness.settings import Settings
from rspverify.verdict import Execution, Progress, ProgressWord

_STATES = 20_000
"""Up to so many states are searched, which takes some seconds at most."""


_MOST_STATES = 500_000
"""Where all states are kept, with what leads where, more would take more than a gigabyte."""


def progress(program: Program, scheme: Translator, settings: Settings) -> Progress:
    """Whether the compiled program always comes to its end under the scheduler of the settings.

    Under `fair` that is whether from every reachable state some complete one is reachable. Loops
    that only spin are loops here. Where others were unrolled to a bound this is UNKNOWN, except
    that a deadlock with no thread still in such a loop is one for any number of iterations.

    Asked of the machine, whatever the engine of the verdict. The scheme must have rows for the
    program.
    """
    (scheduler,) = schedulers_of([settings.scheduler])
    try:
        if program.spins or scheduler.kind is not Kind.FAIR:
            return _scheduled(program, scheme, scheduler, settings)
        limits = settings.limits()
        for machine in placed(machine_of(compiled(program, scheme), settings)):
            found = deadlock(machine, limits)
            if found.schedule is not None:
                break
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
        answer = stopped(end, found.shortest)
        if program.cuts:  # Nothing is asked of a program that races (§6.1).
            reason = f"{answer.reason}, unless the source races beyond {bounds}"
            answer = replace(answer, reason=reason)
        return answer
    except LimitReached as limit:
        return Progress(ProgressWord.UNKNOWN, str(limit))


def _scheduled(
    program: Program, scheme: Translator, scheduler: Scheduler, settings: Settings
) -> Progress:
    """Whether it always comes to its end, by all states, with its spins as loops.

    And whether it does if no group is stopped.
    """
    machine = machine_of(compiled(program, scheme), settings)
    limits = settings.limits()
    limits = replace(limits, states=min(limits.states, _MOST_STATES))
    answer = _under(scheduler, program, machine, limits)
    if scheduler.kind is Kind.FAIR:
        return answer
    try:
        fair = _under(Scheduler(Kind.FAIR), program, machine, limits).word
    except LimitReached:
        fair = ProgressWord.UNKNOWN
    return replace(answer, reason=f"{answer.reason}; under fair: {fair}")


def _under(scheduler: Scheduler, program: Program, machine: Machine, limits: Limits) -> Progress:
    lines = [operation.span.line for operation in program.operations]
    bounds = f"{max((cut.iterations for cut in program.cuts), default=0)} iterations"
    how = ""
    for each, scheduling in product(placed(machine), schedulings(scheduler, _groups(program))):
        found = find_hang(each, scheduling, limits)
        how = found.how
        if found.hang is None:
            continue
        end = replay_hang(each, found.hang, scheduling, lines)
        answer = _hanging(end, scheduling)
        if program.cuts:
            reason = f"{answer.reason}, unless the source races beyond {bounds}"
            answer = replace(answer, reason=reason)
        return answer
    if program.cuts:
        reason = f"within {bounds} every run comes to its end ({how}), but loops may go on"
        return Progress(ProgressWord.UNKNOWN, reason, scheduler=str(scheduler))
    reason = f"under {scheduler} every run comes to its end ({how})"
    return Progress(ProgressWord.LIVE, reason, scheduler=str(scheduler))


def _groups(program: Program) -> int:
    return len({(thread.device, thread.workgroup) for thread in program.threads})


def deadlock(machine: Machine, limits: Limits) -> DeadlockSearch:
    """An execution to a deadlock, if there is any. Raises LimitReached.

    By search, which finds a shortest one; where the states are too many, by the events engine, if
    it can tell a deadlock of this machine.
    """
    if settles(machine):
        return DeadlockSearch(None, "what was begun completes, and nothing waits for anything else")
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


def stopped(end: Deadlock, shortest: bool) -> Progress:
    """STUCK, with an execution after which no instruction can happen."""
    what = "no instruction" if end.threads else "nothing more"
    waits: Sequence[str] = end.threads or end.rest
    reason = f"{what} can happen {_after(end.execution)}: {'; '.join(waits)}"
    blocked = (*end.threads, *end.rest)
    return Progress(ProgressWord.STUCK, reason, replace(end.execution, shortest=shortest), blocked)


def _hanging(end: ShownHang, scheduling: Scheduling) -> Progress:
    """STUCK, with an execution after which the program never ends."""
    words = (*end.threads, *end.stopped)
    reason = f"under {scheduling} it never ends {_after(end.execution)}: {'; '.join(words)}"
    execution = replace(end.execution, shortest=False)
    return Progress(ProgressWord.STUCK, reason, execution, words, str(scheduling))


def _after(execution: Execution) -> str:
    steps = len(execution.steps)
    return "before any step" if not steps else f"after {steps} step{'s' if steps > 1 else ''}"
