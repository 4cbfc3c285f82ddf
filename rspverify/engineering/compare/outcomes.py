"""The outcomes that a compiled program gains and loses when its scheme is edited."""

from __future__ import annotations

from itertools import islice

from rspverify.axiomatic.model import MemoryModel
from rspverify.axiomatic.question import Questions
from rspverify.engineering.comparison import OutcomeChange, OutcomeChanges
from rspverify.limits import LimitReached
from rspverify.litmus.program import Program
from rspverify.scheme.scheme import Scheme
from rspverify.soundness.case import decided, machine_of
from rspverify.soundness.machine_side import MachineSide
from rspverify.soundness.settings import Settings
from rspverify.soundness.wording import observed
from rspverify.verdict import Outcome


def changed_outcomes(
    program: Program, old: Scheme, new: Scheme, model: MemoryModel, settings: Settings, limit: int
) -> OutcomeChanges:
    """What the machine reaches under one of the schemes alone, and whether the model allows it.

    Both must have rows for the program. Beyond `limit` outcomes under either nothing is known.
    Raises LimitReached.
    """
    program = decided(program, model, (old, new), settings)
    before = _reached(program, old, settings, limit)
    after = _reached(program, new, settings, limit) if len(before) <= limit else before
    if max(len(before), len(after)) > limit:
        return OutcomeChanges(unknown=f"more than {limit:,} outcomes")
    source = Questions(program, model, settings.limits())
    gained, lost = (
        tuple(_change(program, source, each) for each in sorted(some))
        for some in (after - before, before - after)
    )
    return OutcomeChanges(gained, lost, len(before), len(after))


def _reached(program: Program, scheme: Scheme, settings: Settings, limit: int) -> set[Outcome]:
    """The outcomes of the compiled program; where there are more, one more than the limit."""
    machine = machine_of(scheme.compiled(program), settings)
    return set(islice(MachineSide(machine, settings, settings.limits()).outcomes(), limit + 1))


def _change(program: Program, source: Questions, outcome: Outcome) -> OutcomeChange:
    try:
        allowed: bool | None = source.allows(outcome)
    except LimitReached:
        allowed = None
    return OutcomeChange(observed(program, outcome), allowed)
