"""A run of a machine on a test in assembly that ends as it is wanted."""

from __future__ import annotations

from typing import assert_never

from rspverify.answers import MachineRun, Quantifier
from rspverify.architecture.architecture import Architecture
from rspverify.limits import LimitReached
from rspverify.litmus.formula import Formula, Junction, Negation, satisfies
from rspverify.litmus.program import Program
from rspverify.records import replace
from rspverify.scheme.assemble import assemble
from rspverify.soundness.case import machine_of
from rspverify.soundness.counterexample import shortest_counterexample, where_it_stops
from rspverify.soundness.final import claims, written
from rspverify.soundness.machine_side import MachineSide
from rspverify.soundness.settings import Settings
from rspverify.soundness.wording import observed, registers
from rspverify.verdict import Outcome

_ANY = Junction(True, ())


def run_of(
    program: Program, machine: Architecture, settings: Settings, ending: str | None = None
) -> MachineRun:
    """A shortest run that ends as it is wanted, or that there is none.

    ending: final values as users write them, `1:r0=1 x=2`. Without it the formula of the final
    condition is wanted; what breaks it where that says `forall`. Raises InputError, and
    LimitReached where a limit is met before it is known, or before the run is found.
    """
    formula = _wanted(program) if ending is None else claims(program, ending)

    def wanted(outcome: Outcome) -> bool:
        return satisfies(formula, registers(program, outcome), dict(outcome.memory))

    limits = settings.limits()
    runs = machine_of(assemble(program, machine), settings)
    target = MachineSide(runs, settings, limits)
    completes, reached = False, None
    for outcome in target.outcomes():
        completes = True
        if wanted(outcome):
            reached = outcome
            break
    words = "" if formula == _ANY else written(formula)
    found = MachineRun(
        program.title,
        program.source.name,
        machine.name,
        words,
        None,
        None,
        completes,
        within=target.within,
        machine_file=machine.path or None,
    )
    if reached is None:
        blocked = () if completes else where_it_stops(runs, limits)
        return replace(found, blocked=blocked)
    try:
        shown = shortest_counterexample(runs, wanted, limits)
    except LimitReached as limit:
        message = f"{observed(program, reached)} is reached, but no run that ends so is found"
        raise LimitReached(f"{message}: {limit}") from None
    execution = shown.shown([each.span.line for each in program.operations])
    return replace(found, outcome=observed(program, shown.outcome), execution=execution, within={})


def _wanted(program: Program) -> Formula:
    condition = program.condition
    if condition is None:
        return _ANY
    match Quantifier(condition.quantifier):
        case Quantifier.EXISTS | Quantifier.NOT_EXISTS:
            return condition.formula
        case Quantifier.FORALL:
            return Negation(condition.formula)
        case _ as never:
            assert_never(never)
