"""Whatever is said of a program on any machine, held to the search that leaves out nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from machine.engines import LIMITS, Outcomes, Unrolled, events_outcomes, searched
from machine.whole_graph import TooLarge, whole_graph

from rspverify.assembly.program import AssemblyProgram
from rspverify.limits import LimitReached
from rspverify.machine.firings import enough_steps
from rspverify.machine.machine import Machine
from rspverify.machine.state_graph import find_hang
from rspverify.records import replace

MAX_STEPS = 16
"""Where K* is more, the unroll engine is not asked."""


def unrolled(machine: Machine) -> Outcomes:
    """The outcomes at K*. Raises LimitReached where nothing bounds the steps, or they are many."""
    budget = enough_steps(machine)
    if budget.unbounded or budget.total > MAX_STEPS:
        raise LimitReached("no K*, or too many steps")
    return Unrolled(machine).outcomes()


WAYS: dict[str, Callable[[AssemblyProgram], Outcomes]] = {
    "explicit": lambda program: searched(Machine(program)),
    "explicit, unreduced": lambda program: searched(Machine(program), reduced=False),
    "explicit, nothing elided": lambda program: searched(Machine(program, elide=False)),
    "explicit, evicting": lambda program: searched(Machine(program, elide=False, evict=True)),
    "events": lambda program: events_outcomes(Machine(program)),
    "events, nothing elided": lambda program: events_outcomes(Machine(program, elide=False)),
    "unroll": lambda program: unrolled(Machine(program)),
}


def expected_outcomes(program: AssemblyProgram, states: int) -> Outcomes:
    """By the file to the letter. Raises LimitReached."""
    return searched(Machine(program, elide=False, evict=True), states, reduced=False)


def differences(program: AssemblyProgram, states: int = 2_500) -> dict[str, str] | None:
    """By who says otherwise, what it says; None where there are too many states to know.

    Who does not know the machine, or meets a limit, says nothing.
    """
    try:
        expected = expected_outcomes(program, states)
    except LimitReached:
        return None
    found = {}
    for name, way in WAYS.items():
        try:
            outcomes = way(program)
        except LimitReached:
            continue
        if outcomes != expected:
            lacks, adds = sorted(expected - outcomes)[:2], sorted(outcomes - expected)[:2]
            found[name] = f"lacks {lacks}, adds {adds}"
    return found | dict(_progress(program, states))


def _progress(program: AssemblyProgram, states: int) -> Iterator[tuple[str, str]]:
    real = Machine(program, elide=False)
    try:
        stuck = whole_graph(real, states).stuck
    except TooLarge:
        return
    limits = replace(LIMITS, states=4 * states)
    for machine in (Machine(program), real):
        try:
            said = find_hang(machine, limits).schedule is not None
        except LimitReached:
            continue
        if said is not stuck:
            yield f"progress, elide {machine.elide}", f"stuck: {said}"
