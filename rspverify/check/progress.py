"""Progress as a question: can a compiled program always go on to complete (SEMANTICS §5)?"""

from __future__ import annotations

from collections.abc import Sequence

from rspverify.check.reached import machine_for
from rspverify.check.settings import Settings
from rspverify.limits import LimitReached
from rspverify.litmus import Program
from rspverify.machine import Standstill, find_standstill, replayed
from rspverify.scheme import Scheme, compile_program
from rspverify.verdict import Progress, ProgressWord, Word

WITHOUT_PROGRESS = frozenset({Word.RACY, Word.UNSUPPORTED, Word.ERROR})
"""Verdicts beside which progress has no meaning: the source has none, or nothing was compiled."""


def progress(program: Program, scheme: Scheme, settings: Settings) -> Progress:
    """Whether from every reachable state of the compiled program some complete one is reachable.

    Asked of the machine, not of an engine: a shortest execution to a standstill, or that there is
    none. The scheme must have rows for the program.
    """
    try:
        machine = machine_for(compile_program(program, scheme), settings)
        found = find_standstill(machine, settings.limits())
        if found.schedule is None:
            how = f"{found.states:,} states searched" if found.states else "by the order of locks"
            return Progress(
                ProgressWord.LIVE, f"from every state a complete execution can be reached ({how})"
            )
        lines = [operation.span.line for operation in program.operations]
        return stuck(replayed(machine, found.schedule, lines))
    except LimitReached as limit:
        return Progress(ProgressWord.UNKNOWN, str(limit))
    except Exception as error:
        kind = type(error).__name__
        reason = f"internal error, please report it with the test and the scheme: {kind}: {error}"
        return Progress(ProgressWord.UNKNOWN, reason)


def stuck(standstill: Standstill) -> Progress:
    """STUCK, with the execution that shows it."""
    steps = len(standstill.execution.steps)
    after = (
        "before any step" if not steps else "after 1 step" if steps == 1 else f"after {steps} steps"
    )
    what = "no instruction" if standstill.threads else "nothing more"
    waits: Sequence[str] = standstill.threads or standstill.rest
    reason = f"{after} {what} can happen: {'; '.join(waits)}"
    blocked = (*standstill.threads, *standstill.rest)
    return Progress(ProgressWord.STUCK, reason, standstill.execution, blocked)
