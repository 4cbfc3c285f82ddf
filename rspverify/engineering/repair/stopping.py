"""From a candidate that stops for ever, all codes that let the same execution happen and stop.

What stops is not monotone: an instruction more may be what keeps a program from getting stuck. But
an execution to a deadlock only knows the instructions that were dispatched in it, and those that
are waited for. Codes that begin like that stop in the same state, whatever follows.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from rspverify.judge.inputs import LoadedTest
from rspverify.limits import LimitReached
from rspverify.litmus.program import Kind
from rspverify.machine.replay import Replayer
from rspverify.machine.rules import InstructionRule
from rspverify.scheme.scheme import Scheme
from rspverify.soundness.case import machine_of
from rspverify.soundness.progress import hang
from rspverify.soundness.settings import Settings

Beginnings = Mapping[int, int | None]
"""By the number of a row how many instructions its code must begin with; None: all, and no more."""


def beginnings(test: LoadedTest, scheme: Scheme, settings: Settings) -> Beginnings | None:
    """Beginnings of the scheme's codes with which the test stops; rows that are left out may have
    any code. None if no execution to a deadlock is found.
    """
    if test.program.spins:
        return None  # What never ends there is no deadlock of one iteration.
    compiled = scheme.compiled(test.program)
    machine = machine_of(compiled, settings)
    try:
        schedule = hang(machine, settings.limits()).schedule
    except LimitReached:
        return None
    if schedule is None:
        return None
    replayer = Replayer(machine)
    end = replayer.settled(replayer.states(schedule)[-1])
    happened = {it.instruction.index for it in schedule if isinstance(it, InstructionRule)}
    waited = {
        rule.instruction.index
        for rule in replayer.explicit.next_rules(end)
        if not replayer.explicit.marked(end, rule)
    }
    known = Counter(it.operation for it in compiled.instructions if it.index in happened | waited)
    whole = Counter(it.operation for it in compiled.instructions)
    found: dict[int, int | None] = {}
    for operation in test.program.operations:
        length, rows = known[operation.index], scheme.rows_of(operation)
        for row in rows if length else ():
            before = found.get(row.number, 0)
            complete = before is None or length == whole[operation.index]
            several = operation.kind is Kind.BARRIER  # Its code is that of two fences.
            found[row.number] = None if complete or several else max(length, before or 0)
    return found
