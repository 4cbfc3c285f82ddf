"""What a model allows of a program, and what schemes make of it on the machine."""

from __future__ import annotations

from collections.abc import Sequence

from rspverify.axiomatic import MemoryModel, Questions, require_understood
from rspverify.check.reached import machine_for, reached
from rspverify.check.settings import Settings
from rspverify.check.wording import observed, registers
from rspverify.limits import LimitReached
from rspverify.litmus import Atom, Formula, Junction, Negation, Program, satisfies
from rspverify.report import OutcomeRow, OutcomeTable
from rspverify.scheme import Scheme, compile_program
from rspverify.source import InputError
from rspverify.verdict import Outcome

MAX_EXECUTIONS = 10_000
"""Beyond so many consistent executions they are not counted to the end."""


def outcomes(
    program: Program, model: MemoryModel, schemes: Sequence[Scheme], test: str, settings: Settings
) -> OutcomeTable:
    """The table of all outcomes. Raises InputError where the model is silent, and LimitReached."""
    require_understood(program, model)
    limits = settings.limits()
    source = Questions(program, model, limits)
    allowed = set(source.outcomes())
    reach = [_reach(program, scheme, settings) for scheme in schemes]
    everything = sorted(allowed.union(*(found for found, _ in reach if found)))
    condition = program.condition
    counts = _count(program, source) if condition else None
    rows = tuple(
        OutcomeRow(
            observed(program, outcome),
            outcome in allowed,
            _satisfies(program, outcome) if condition else None,
            tuple(None if found is None else outcome in found for found, _ in reach),
        )
        for outcome in everything
    )
    positive, negative, states, counted = counts or (None, None, None, True)
    return OutcomeTable(
        program.title,
        test,
        model.name,
        tuple(scheme.name for scheme in schemes),
        rows,
        source.race(),
        condition.span.text if condition else None,
        _observation([row.satisfies for row in rows if row.allowed]) if condition else None,
        positive,
        negative,
        states,
        counted,
        tuple(note for _, note in reach if note),
    )


def _reach(
    program: Program, scheme: Scheme, settings: Settings
) -> tuple[set[Outcome] | None, str | None]:
    """The outcomes under a scheme, None if they cannot be told; and what must be said of them."""
    limits = settings.limits()
    try:
        machine = machine_for(compile_program(program, scheme), settings)
        target = reached(machine, settings, limits)
        found = set(target.outcomes())
    except InputError as error:
        words = "; ".join(problem.message for problem in error.problems)
        return None, f"{scheme.name}: UNSUPPORTED: {words}"
    except LimitReached as limit:
        return None, f"{scheme.name}: UNKNOWN: {limit}"
    if target.within:
        bounds = ", ".join(f"{bound} {name}" for name, bound in target.within.items())
        return found, f"{scheme.name}: only executions within {bounds}"
    return found, None if found else f"{scheme.name}: VACUOUS: no execution completes"


def _count(program: Program, source: Questions) -> tuple[int, int, int, bool]:
    """Executions that satisfy the condition, that do not, states; whether all were counted."""
    assert program.condition is not None
    atoms = sorted(set(_atoms(program.condition.formula)), key=str)
    counts = {True: 0, False: 0}
    states: set[tuple[int, ...]] = set()
    for number, execution in enumerate(source.executions()):
        if number == MAX_EXECUTIONS:
            return counts[True], counts[False], len(states), False
        outcome = execution.outcome
        counts[_satisfies(program, outcome)] += 1
        named, memory = registers(program, outcome), dict(outcome.memory)
        states.add(
            tuple(memory[name] if thread is None else named[thread, name] for thread, name in atoms)
        )
    return counts[True], counts[False], len(states), True


def _atoms(formula: Formula) -> list[tuple[int | None, str]]:
    match formula:
        case Atom(thread, name, _):
            return [(thread, name)]
        case Negation(argument):
            return _atoms(argument)
        case Junction(_, arguments):
            return [atom for each in arguments for atom in _atoms(each)]


def _satisfies(program: Program, outcome: Outcome) -> bool:
    assert program.condition is not None
    named = registers(program, outcome)
    return satisfies(program.condition.formula, named, dict(outcome.memory))


def _observation(satisfied: Sequence[bool | None]) -> str:
    """herd's word for a condition, over all allowed outcomes: Always, Sometimes or Never."""
    if not any(satisfied):
        return "Never"
    return "Always" if all(satisfied) else "Sometimes"
