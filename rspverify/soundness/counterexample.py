"""A shortest machine execution with a wrong outcome, replayed before anyone sees it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec import Struct

from rspverify.limits import LimitReached, Limits
from rspverify.machine.explicit import ExplicitMachine
from rspverify.machine.firings import enough_steps
from rspverify.machine.machine import Machine
from rspverify.machine.replay import Replayer, ReplayError
from rspverify.machine.rules import Rule
from rspverify.machine.unroll import Unrolling
from rspverify.machine.wording import Waits
from rspverify.records import replace
from rspverify.smt.solver import Solver
from rspverify.smt.term import all_of
from rspverify.source import InternalError
from rspverify.verdict import Execution, Outcome

_STATES = 150_000
"""Up to so many states the explicit machine looks for the shortest execution itself, where the
solver can do it too."""
_STATES_LATER = 15_000
"""The same where accesses complete later, and many steps may follow each state."""
_LONG = 40
"""An execution of more steps that is known is shown as it is: to look for a shorter one takes
minutes."""


class Counterexample(Struct, frozen=True):
    """A complete execution of the machine, and its outcome as replayed.

    shortest: whether no execution with a wrong outcome has fewer steps; otherwise only no step
    of this one can be left out.
    """

    replayer: Replayer
    schedule: Sequence[Rule]
    outcome: Outcome
    shortest: bool

    def shown(self, lines: Sequence[int]) -> Execution:
        """The execution step by step; `lines[i]` is the source line of operation i."""
        shown = self.replayer.execution(self.schedule, lines)
        return replace(shown, shortest=self.shortest)


def shortest_counterexample(
    machine: Machine,
    wrong: Callable[[Outcome], bool],
    limits: Limits,
    known: Sequence[Rule] | None = None,
    *,
    any_length: bool = False,
) -> Counterexample:
    """A complete execution with a wrong outcome, or one that is wanted, of which there must be one,
    as short as any.

    Found by breadth-first search, so that it depends on the program alone; where the states are
    too many, by the solver, one step fewer at a time, if some number of steps is enough. known:
    the schedule of such an execution, which is good enough if no limit leaves the time for a
    shorter one, if it is long, or if `any_length` is.
    Raises InternalError where there is none or the machine cannot follow it, and LimitReached.
    """
    replayer = Replayer(machine)
    start = None if known is None else _trimmed(replayer, known, wrong)
    if start is not None and (any_length or len(start) > _LONG):
        return _replayed(replayer, start, wrong, shortest=False)
    by_search_alone = start is None and enough_steps(machine).unbounded is not None
    shortest = True
    try:
        search = ExplicitMachine(machine, dequeue_alone=False)
        few = _STATES_LATER if machine.program.completes_later else _STATES
        most = limits.states if by_search_alone else min(limits.states, few)
        schedule = search.shortest(wrong, replace(limits, states=most))
    except LimitReached:
        if by_search_alone:
            raise
        schedule, shortest = _by_solver(machine, replayer, wrong, limits, start)
    if schedule is None:
        raise InternalError("an engine reports an outcome that no other engine reaches")
    return _replayed(replayer, schedule, wrong, shortest)


def _replayed(
    replayer: Replayer, schedule: Sequence[Rule], wanted: Callable[[Outcome], bool], shortest: bool
) -> Counterexample:
    """Raises InternalError where the machine cannot follow it to a wanted outcome."""
    outcome = replayer.outcome(schedule)
    if outcome is None or not wanted(outcome):
        raise _not_replayed(schedule, outcome)
    return Counterexample(replayer, schedule, outcome, shortest)


def _by_solver(
    machine: Machine,
    replayer: Replayer,
    wrong: Callable[[Outcome], bool],
    limits: Limits,
    start: list[Rule] | None,
) -> tuple[list[Rule] | None, bool]:
    if start is None:
        budget = enough_steps(machine)
        steps = budget.total - budget.dequeues
        found = _schedule(machine, steps, wrong, limits, dequeue_alone=True)
        if found is None:
            return None, False
        start = _trimmed(replayer, found, wrong)
    shortest = start
    try:
        while True:
            fewer = len(shortest) - 1
            found = _schedule(machine, fewer, wrong, limits, dequeue_alone=False)
            if found is None:
                return shortest, True
            shortest = _trimmed(replayer, found, wrong)
    except LimitReached:
        return shortest, False


def _trimmed(
    replayer: Replayer, found: Sequence[Rule], wrong: Callable[[Outcome], bool]
) -> list[Rule]:
    """A schedule of the formula as one of the machine: just the dequeues, and steps, it needs.

    The formula drops fifo elements that no marker can stand behind, so that a dequeue nobody waits
    for may come out of turn in it.
    """
    without = [rule for rule in found if not rule.dequeues]
    try:
        full = replayer.with_dequeues(without)
    except ReplayError as error:
        raise _not_replayed(found, None) from error
    outcome = replayer.outcome(full)
    if outcome is None or not wrong(outcome):
        raise _not_replayed(full, outcome)
    return replayer.without_idle_steps(full, wrong)


def _schedule(
    machine: Machine,
    steps: int,
    wrong: Callable[[Outcome], bool],
    limits: Limits,
    *,
    dequeue_alone: bool,
) -> list[Rule] | None:
    """An execution of at most so many steps with a wrong outcome, or None if there is none."""
    unrolling = Unrolling(machine, steps, limits, dequeue_alone=dequeue_alone)
    solver = Solver(limits, reproducible=True)
    solver.add(*unrolling.constraints)
    while (model := solver.find()) is not None:
        outcome = unrolling.outcome(model)
        if wrong(outcome):
            return unrolling.schedule(model)
        solver.add(~all_of(unrolling.assumptions(outcome)))
    return None


def schedule_in_words(schedule: Sequence[Rule]) -> str:
    """A schedule, a line for each step."""
    return "\n".join(f"{place}  {rule}" for place, rule in enumerate(schedule, 1))


def _not_replayed(schedule: Sequence[Rule], outcome: Outcome | None) -> InternalError:
    ends = "it cannot be followed to the end"
    if outcome is not None:
        reads = [f"operation {index} reads {value}" for index, value in outcome.reads]
        ends = "; ".join(["it ends", *reads, *(f"{x}={value}" for x, value in outcome.memory)])
    evidence = {"schedule": schedule_in_words(schedule), "replayed": ends}
    return InternalError("a counterexample does not replay on the machine", evidence)


def where_it_stops(machine: Machine, limits: Limits) -> tuple[str, ...]:
    """For a program that never completes: what each thread waits for where it comes farthest."""
    explicit = ExplicitMachine(machine)
    try:
        deepest = explicit.search(limits).deepest
    except LimitReached:
        return ()
    return tuple(Waits(explicit, deepest).of_threads())
