"""Progress: can a compiled program always go on to complete (docs/semantics.md, Progress)?"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

from rspverify.limits import LimitReached, Limits
from rspverify.litmus.program import Program
from rspverify.machine.machine import Machine
from rspverify.machine.reductions import placed
from rspverify.machine.settling import settles
from rspverify.machine.state_graph import HangSearch, ShownHang, find_hang, replay_hang
from rspverify.records import replace
from rspverify.schedulers import FAIR, Scheduler, schedulers_of
from rspverify.soundness.case import machine_of
from rspverify.soundness.settings import Settings
from rspverify.translators import Translator
from rspverify.verdict import Progress, ProgressWord

_MOST_STATES = 500_000
"""All states are kept, with what leads where: more would take more than a gigabyte."""


def progress(program: Program, scheme: Translator, settings: Settings) -> Progress:
    """Whether the compiled program always comes to its end under the scheduler of the settings.

    Under `fair` that is whether from every reachable state some complete one is reachable. Loops
    that only spin are loops here. Where others were unrolled to a bound this is UNKNOWN, except
    that a hang with no thread still in such a loop is one for any number of iterations.

    Asked of the machine, whatever the engine of the verdict. The scheme must have rows for the
    program.
    """
    (scheduler,) = schedulers_of([settings.scheduler])
    limits = settings.limits()
    try:
        machine = machine_of(scheme.compiled(program), settings)
        answer = _under(scheduler, program, machine, limits)
    except LimitReached as limit:
        return Progress(ProgressWord.UNKNOWN, str(limit))
    if scheduler == FAIR:
        return answer
    try:
        fair = _under(FAIR, program, machine, limits).word
    except LimitReached:
        fair = ProgressWord.UNKNOWN
    return replace(answer, reason=f"{answer.reason}; under fair: {fair}")


def _under(scheduler: Scheduler, program: Program, machine: Machine, limits: Limits) -> Progress:
    iterations = max((cut.iterations for cut in program.cuts), default=0)
    bounds = f"{iterations} iterations"
    groups = len({(thread.device, thread.workgroup) for thread in program.threads})
    stops_at_once = scheduler == FAIR and not program.spins
    how = ""
    for each, bounded in product(placed(machine), scheduler.each_bound(groups)):
        found = hang(each, limits, bounded)
        how = found.how
        if found.hang is None:
            continue
        lines = [operation.span.line for operation in program.operations]
        end = replay_hang(each, found.hang, lines)
        answer = _stuck(end, None if stops_at_once else bounded)
        if program.cuts:  # Nothing is asked of a program that races (§6.1).
            reason = f"{answer.reason}, unless the source races beyond {bounds}"
            answer = replace(answer, reason=reason)
        return answer
    if stops_at_once:
        live = "from every state a complete execution can be reached"
        within, asked = f"no deadlock within {bounds}", None
    else:
        live = f"under {scheduler} every run comes to its end"
        within, asked = f"within {bounds} every run comes to its end", str(scheduler)
    if program.cuts:
        reason = f"{within} ({how}), but loops may go on"
        return Progress(ProgressWord.UNKNOWN, reason, scheduler=asked)
    return Progress(ProgressWord.LIVE, f"{live} ({how})", scheduler=asked)


def hang(machine: Machine, limits: Limits, scheduler: Scheduler = FAIR) -> HangSearch:
    """A hang that a scheduler allows, if there is any. Raises LimitReached."""
    if scheduler == FAIR and not machine.program.spins and settles(machine):
        return HangSearch(None, "what was begun completes, and nothing waits for anything else")
    return find_hang(machine, replace(limits, states=min(limits.states, _MOST_STATES)), scheduler)


def _stuck(end: ShownHang, scheduler: Scheduler | None) -> Progress:
    """STUCK, with an execution after which the program never ends.

    scheduler: that stops some threads, or lets them spin; None if no instruction can happen.
    """
    steps = len(end.execution.steps)
    after = "before any step" if not steps else f"after {steps} step{'s' if steps > 1 else ''}"
    if scheduler is None:
        what = "no instruction" if end.threads else "nothing more"
        waits: Sequence[str] = end.threads or end.rest
        reason = f"{what} can happen {after}: {'; '.join(waits)}"
        blocked = (*end.threads, *end.rest)
        return Progress(ProgressWord.STUCK, reason, end.execution, blocked)
    words = (*end.threads, *end.stopped)
    reason = f"under {scheduler} it never ends {after}: {'; '.join(words)}"
    return Progress(ProgressWord.STUCK, reason, end.execution, words, str(scheduler))
