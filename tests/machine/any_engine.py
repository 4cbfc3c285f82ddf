"""Whatever is said of a program on any machine, held to the search that leaves out nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from machine.engines import LIMITS, Outcomes, Unrolled, events_outcomes, searched
from machine.whole_graph import TooLarge, WholeGraph, whole_graph
from pytest import MonkeyPatch

from rspverify.assembly.program import AssemblyProgram
from rspverify.limits import LimitReached, Limits
from rspverify.machine.explicit import ExplicitMachine
from rspverify.machine.firings import enough_steps
from rspverify.machine.lock_order import LockOrder
from rspverify.machine.machine import Machine
from rspverify.machine.state_graph import HangSearch, find_hang, replay_hang
from rspverify.records import replace

MAX_STEPS = 16
"""Where K* is more, the unroll engine is not asked."""


def unrolled(machine: Machine, *, alone: bool = True) -> Outcomes:
    """The outcomes at K*. Raises LimitReached where nothing bounds the steps, or they are many."""
    budget = enough_steps(machine)
    if budget.unbounded or budget.total > MAX_STEPS:
        raise LimitReached("no K*, or too many steps")
    return Unrolled(machine, alone=alone).outcomes()


def dequeuing(machine: Machine) -> Outcomes:
    """The outcomes by a search in which dequeues are steps. Raises LimitReached."""
    limits = replace(LIMITS, states=20_000)
    return ExplicitMachine(machine, dequeue_alone=False).search(limits).outcomes


WAYS: dict[str, Callable[[AssemblyProgram], Outcomes]] = {
    "explicit": lambda program: searched(Machine(program)),
    "explicit, unreduced": lambda program: searched(Machine(program), reduced=False),
    "explicit, nothing elided": lambda program: searched(Machine(program, elide=False)),
    "explicit, dequeues as steps": lambda program: dequeuing(Machine(program)),
    "explicit, evicting": lambda program: searched(Machine(program, elide=False, evict=True)),
    "events": lambda program: events_outcomes(Machine(program)),
    "events, nothing elided": lambda program: events_outcomes(Machine(program, elide=False)),
    "unroll": lambda program: unrolled(Machine(program)),
    "unroll, dequeues as steps": lambda program: unrolled(Machine(program), alone=False),
    "unroll, nothing elided": lambda program: unrolled(Machine(program, elide=False)),
}


def differences(program: AssemblyProgram, states: int = 2_500) -> dict[str, str] | None:
    """By who says otherwise, what it says; None where there are too many states to know.

    Who does not know the machine, or meets a limit, says nothing.
    """
    try:
        graph = whole_graph(Machine(program, elide=False), states)
    except (LimitReached, TooLarge):
        return None
    expected, found = graph.outcomes, {}
    for name, way in WAYS.items():
        try:
            outcomes = way(program)
        except LimitReached:
            continue
        if outcomes != expected:
            lacks, adds = sorted(expected - outcomes)[:2], sorted(outcomes - expected)[:2]
            found[name] = f"lacks {lacks}, adds {adds}"
    return found | dict(_progress(program, graph, states))


def hang_without_order(machine: Machine, limits: Limits) -> HangSearch:
    """A hang, where nothing is known of the order of locks."""
    with MonkeyPatch.context() as patch:
        patch.setattr(LockOrder, "holds", False)
        return find_hang(machine, limits)


def _progress(
    program: AssemblyProgram, graph: WholeGraph, states: int
) -> Iterator[tuple[str, str]]:
    limits = replace(LIMITS, states=4 * states)
    lines = [1] * (1 + max((it.operation for it in program.instructions), default=0))
    for machine in (Machine(program), Machine(program, elide=False)):
        try:
            hang = find_hang(machine, limits).hang
            searched_for = hang_without_order(machine, limits).hang
        except LimitReached:
            continue
        if searched_for != hang:
            yield "the order of locks", f"{searched_for} by search, and not {hang}"
        if (hang is not None) is not graph.stuck:
            yield f"progress, elide {machine.elide}", f"stuck: {hang is not None}"
        elif hang is not None:
            end = replay_hang(machine, hang, lines)
            assert end.threads or end.rest
            steps = len(hang.schedule)
            if not machine.elided and steps != graph.shortest:
                yield "shortest", f"{steps} and not {graph.shortest} steps to a deadlock"
