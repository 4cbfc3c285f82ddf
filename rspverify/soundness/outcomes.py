"""What a model allows of a program, and what schemes make of it on the machine."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from rspverify.answers import UNDEFINED, OutcomeAnswer, OutcomeRow
from rspverify.axiomatic import MemoryModel, Questions, ignored_features, require_covered
from rspverify.limits import LimitReached
from rspverify.litmus import Program
from rspverify.scheme import Scheme, compile_program
from rspverify.soundness.case import machine_of
from rspverify.soundness.final import FinalCount
from rspverify.soundness.settings import Settings
from rspverify.soundness.target import target_of
from rspverify.soundness.wording import observed
from rspverify.source import InputError
from rspverify.verdict import Outcome

MAX_EXECUTIONS = 10_000
"""Beyond so many consistent executions they are not counted to the end."""


def outcomes(
    program: Program, model: MemoryModel, schemes: Sequence[Scheme], test: str, settings: Settings
) -> OutcomeAnswer:
    """All outcomes. Raises InputError where the model is silent, and LimitReached."""
    require_covered(program, model)
    source = Questions(program, model, settings.limits())
    count = FinalCount(program)
    allowed = _allowed(source, count)
    reach = [_reach(program, scheme, settings) for scheme in schemes]
    everything = sorted(allowed.union(*(found for found, _ in reach if found)))
    condition = program.condition
    violated = source.violated()
    names = _told_apart([scheme.name for scheme in schemes])
    rows = tuple(
        OutcomeRow(
            observed(program, outcome),
            outcome in allowed,
            count.holds(outcome) if condition else None,
            {
                name: None if found is None else outcome in found
                for name, (found, _) in zip(names, reach, strict=True)
            },
        )
        for outcome in everything
    )
    racy = _whether_racy(program, model, test, source)
    return replace(
        racy,
        schemes=names,
        condition=condition.span.text if condition else None,
        final=count.result(allowed),
        outcomes=rows,
        violated=violated,
        flags=_flags(model, violated),
        notes=(*racy.notes, *(note for _, note in reach if note)),
    )


def races(program: Program, model: MemoryModel, test: str, settings: Settings) -> OutcomeAnswer:
    """Whether a consistent execution races. Raises as `outcomes`."""
    require_covered(program, model)
    return _whether_racy(program, model, test, Questions(program, model, settings.limits()))


def _whether_racy(
    program: Program, model: MemoryModel, test: str, source: Questions
) -> OutcomeAnswer:
    race = source.race()
    return OutcomeAnswer(
        test=program.title,
        file=test,
        model=model.name,
        answered=True,
        within=program.within,
        racy=race is not None,
        race=race,
        notes=ignored_features(program, model),
    )


def _told_apart(names: Sequence[str]) -> tuple[str, ...]:
    """The names of schemes, with a number where one has the name of one before it."""
    return tuple(
        f"{name} ({names[: place + 1].count(name)})" if name in names[:place] else name
        for place, name in enumerate(names)
    )


def _allowed(source: Questions, count: FinalCount) -> set[Outcome]:
    """All outcomes; unless they are many, the executions are listed once and counted too."""
    found: set[Outcome] = set()
    for number, outcome in enumerate(source.endings()):
        if number == MAX_EXECUTIONS:
            count.stop()
            return set(source.outcomes())
        count.add(outcome)
        found.add(outcome)
    return found


def _flags(model: MemoryModel, violated: Sequence[str]) -> tuple[str, ...]:
    """What herd calls the conditions that are violated."""
    broken = [each for each in model.conditions if each.name in violated]
    flags = [each.name for each in broken if each.flag]
    return (*([UNDEFINED] if len(flags) < len(broken) else []), *flags)


def _reach(
    program: Program, scheme: Scheme, settings: Settings
) -> tuple[set[Outcome] | None, str | None]:
    """The outcomes under a scheme, None if they cannot be told; and what must be said of them."""
    limits = settings.limits()
    try:
        machine = machine_of(compile_program(program, scheme), settings)
        target = target_of(machine, settings, limits)
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
