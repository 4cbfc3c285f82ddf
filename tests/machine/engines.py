"""Each way to find the outcomes of a program, and random programs to find them for."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator

from programs import (
    ONE_DEVICE,
    SMALL,
    SMALL_TWO_DEVICES,
    TINY_TWO_DEVICES,
    TWO_DEVICES,
    Size,
    random_assembly,
)

from rspverify.assembly.program import AssemblyProgram
from rspverify.limits import Limits
from rspverify.machine.events import Events
from rspverify.machine.explicit import ExplicitMachine
from rspverify.machine.firings import enough_steps
from rspverify.machine.machine import Machine
from rspverify.machine.rules import Rule
from rspverify.machine.unroll import Unrolling
from rspverify.records import replace
from rspverify.smt.solver import Solver
from rspverify.smt.term import all_of
from rspverify.verdict import Outcome

LIMITS = Limits()

MEDIUM = replace(ONE_DEVICE, total=4, extra=6)
MEDIUM_TWO_DEVICES = replace(TWO_DEVICES, threads=3, total=4, extra=4)

SHAPES = {
    "small": SMALL,
    "medium": MEDIUM,
    "tiny, two devices": TINY_TWO_DEVICES,
    "small, two devices": SMALL_TWO_DEVICES,
    "medium, two devices": MEDIUM_TWO_DEVICES,
}

Outcomes = frozenset[Outcome]


def random_programs(
    name: str, which: int | Iterable[int], salt: str = ""
) -> Iterator[AssemblyProgram]:
    """So many programs of a shape, or those with some numbers, which are the same in each run;
    every fifth is for `rsp-st-waits`."""
    shape: Size = SHAPES[name]
    for number in range(which) if isinstance(which, int) else which:
        rng = random.Random(f"{name}, {salt}{number}")
        yield random_assembly(rng, shape, "rsp-st-waits" if number % 5 == 4 else "rsp")


def machine_of(program: AssemblyProgram) -> Machine:
    """The machine as it is checked by default: L2 elided on one device."""
    return Machine(program, elide=len({each.device for each in program.threads}) == 1)


def searched(machine: Machine, states: int = 20_000, *, reduced: bool = True) -> Outcomes:
    """The outcomes by exhaustive search. Raises LimitReached."""
    return ExplicitMachine(machine, reduced=reduced).search(replace(LIMITS, states=states)).outcomes


def events_outcomes(machine: Machine) -> Outcomes:
    """The outcomes by the events engine; none may come twice."""
    events, solver = Events(machine, LIMITS), Solver(LIMITS)
    solver.add(*events.constraints, *events.order.constraints())
    found: set[Outcome] = set()
    while (model := solver.find()) is not None:
        outcome = events.outcome(model)
        assert outcome not in found
        found.add(outcome)
        solver.add(~all_of(events.assumptions(outcome)))
    return frozenset(found)


class Unrolled:
    """An unrolling with its solver; more steps or fewer than are enough by `extra`."""

    def __init__(
        self,
        machine: Machine,
        *,
        alone: bool = True,
        extra: int = 0,
        steps: int | None = None,
    ) -> None:
        if steps is None:
            budget = enough_steps(machine)
            steps = budget.total - (budget.dequeues if alone else 0) + extra
        self.unrolling = Unrolling(machine, steps, LIMITS, dequeue_alone=alone)
        self._solver = Solver(LIMITS)
        self._solver.add(*self.unrolling.constraints)

    def runs(self) -> Iterator[tuple[Outcome, list[Rule]]]:
        """Each outcome once, with the schedule of one execution that has it."""
        while (model := self._solver.find()) is not None:
            outcome = self.unrolling.outcome(model)
            yield outcome, self.unrolling.schedule(model)
            self._solver.add(~all_of(self.unrolling.assumptions(outcome)))

    def schedules(self) -> Iterator[tuple[Outcome, list[Rule]]]:
        """Each schedule once, with its outcome: also where several have the same."""
        while (model := self._solver.find()) is not None:
            yield self.unrolling.outcome(model), self.unrolling.schedule(model)
            fired = [
                term for fires in self.unrolling.fires for _, term in fires.values() if model[term]
            ]
            idle = [term for term in self.unrolling.idle if model[term]]
            self._solver.add(~all_of([*fired, *idle]))

    def outcomes(self) -> Outcomes:
        """All outcomes; none may come twice."""
        found = [outcome for outcome, _ in self.runs()]
        assert len(found) == len(set(found)), found
        return frozenset(found)


def has(reads: dict[int, int], **memory: int) -> Callable[[Outcome], bool]:
    """Whether these reads gave these values and memory ended with those."""
    wanted = reads.items(), memory.items()
    return lambda outcome: all(
        set(some) <= set(all_)
        for some, all_ in zip(wanted, (outcome.reads, outcome.memory), strict=True)
    )
