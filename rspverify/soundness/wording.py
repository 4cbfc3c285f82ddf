"""Outcomes and races in the words of their program."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress

from rspverify.answers import Observed, ReadValue
from rspverify.litmus.program import Program
from rspverify.value import evaluate
from rspverify.verdict import Event, Outcome, Race


def registers(program: Program, outcome: Outcome) -> dict[tuple[int, str], int]:
    """The final value of every register that an outcome tells, by thread and name."""
    values, found = dict(outcome.reads), dict[tuple[int, str], int]()
    for thread in program.threads:
        for name, expression in thread.registers.items():
            with suppress(KeyError):  # It has what a compiler may have left out.
                found[thread.index, name] = evaluate(expression, values)
    return found


def observed(program: Program, outcome: Outcome) -> Observed:
    """An outcome with the registers that it gives, and the lines of its reads."""
    operations = program.operations
    reads = tuple(
        ReadValue(
            operations[index].thread,
            operations[index].span.line,
            operations[index].span.column,
            operations[index].location or "",
            value,
        )
        for index, value in outcome.reads
    )
    named = {f"{t}:{name}": value for (t, name), value in registers(program, outcome).items()}
    return Observed(reads, named, dict(outcome.memory))


def event_in_words(event: Event) -> str:
    """An access and its place: `P1 line 12 R[DV,N](y, 1)`."""
    return (
        event.access
        if event.thread is None
        else f"P{event.thread} line {event.line} {event.access}"
    )


def race_in_words(race: Race) -> str:
    """The two accesses that race, or what else is undefined."""
    if race.divergence:
        return f"barrier divergence: {race.divergence}"
    if race.second is None:
        return event_in_words(race.first)
    return f"{event_in_words(race.first)} races with {event_in_words(race.second)}"


def bounds_in_words(within: Mapping[str, int]) -> str:
    """What precedes a claim that holds within bounds."""
    return "".join(f"within {bound} {name}, " for name, bound in within.items())


def breaks(axioms: tuple[str, ...]) -> str:
    """What follows an outcome that these axioms forbid together."""
    if not axioms:
        return ": no candidate execution has these values"
    return f" breaks {' or '.join(axioms)}"
