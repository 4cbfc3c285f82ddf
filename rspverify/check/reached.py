"""The outcomes that a compiled program reaches on the machine, by any of the engines."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from rspverify.assembly import AssemblyProgram
from rspverify.axiomatic import GeneratedExecutions, MemoryModel
from rspverify.check.settings import L2, Engine, Settings
from rspverify.check.symmetry import exchangeable
from rspverify.limits import Limits
from rspverify.litmus import Program
from rspverify.machine import (
    Event,
    Events,
    ExplicitMachine,
    Exploration,
    GeneratedWitness,
    Machine,
    Observation,
    Rule,
    Unrolling,
    enough_steps,
)
from rspverify.smt import Solver, Term, all_of
from rspverify.verdict import Outcome


def machine_for(program: AssemblyProgram, settings: Settings) -> Machine:
    """The machine that runs a program; L2s are elided where that is exact and not declined.

    L2s of several devices are what the scheme's machine says, and there is nothing to decline.
    """
    if len({thread.device for thread in program.threads}) > 1:
        return Machine(program, elide_l2=program.machine.coherent_l2)
    return Machine(program, elide_l2=settings.l2 is L2.AUTO)


class Reached(Protocol):
    """The executions of one compiled program, as outcomes."""

    @property
    def within(self) -> Mapping[str, int]:
        """Every bound that the answers below depend on; empty if they are exact."""

    def outcomes(self) -> Iterator[Outcome]:
        """Each outcome that is reached and was not excluded, once."""

    def exclude(self, outcome: Outcome) -> None:
        """Leave an outcome out of those still to come."""

    @property
    def asked(self) -> Sequence[Term]:
        """What the solver was asked last; nothing where there is no solver."""


@dataclass
class ReachedExplicitly:
    """By exhaustive search."""

    search: Exploration
    within: Mapping[str, int] = field(default_factory=dict)
    asked: Sequence[Term] = ()
    _excluded: set[Outcome] = field(default_factory=set)

    def outcomes(self) -> Iterator[Outcome]:
        """Each outcome that is reached and was not excluded, once."""
        for outcome in sorted(self.search.outcomes):
            if outcome not in self._excluded:
                self._excluded.add(outcome)
                yield outcome

    def exclude(self, outcome: Outcome) -> None:
        """Leave an outcome out of those still to come."""
        self._excluded.add(outcome)


class ReachedBySolver:
    """By the solver, over a formula of executions. `asked` is all that was asserted of them."""

    def __init__(
        self,
        executions: Observation,
        within: Mapping[str, int],
        formula: Iterable[Term],
        limits: Limits,
    ) -> None:
        self.within = within
        self._executions = executions
        self._solver = Solver(limits)
        self._solver.add(*formula)

    @property
    def asked(self) -> Sequence[Term]:
        """What the solver was asked last."""
        return self._solver.asserted

    def outcomes(self) -> Iterator[Outcome]:
        """Each outcome that is reached and was not excluded, once."""
        while (model := self._solver.find()) is not None:
            outcome = self._executions.outcome(model)
            self.exclude(outcome)
            yield outcome

    def exclude(self, outcome: Outcome) -> None:
        """Leave an outcome out of those still to come."""
        self._solver.add(~all_of(self._executions.assumptions(outcome)))


class ReachedByUnrolling(ReachedBySolver):
    """Over the unrolling at K*, or at fewer steps if the user bounds them."""

    def __init__(self, machine: Machine, steps: int | None, limits: Limits) -> None:
        budget = enough_steps(machine)
        if steps is not None and steps < budget.total:
            within: Mapping[str, int] = {"steps": steps, **machine.program.within}
            unrolling = Unrolling(machine, steps, limits, dequeue_alone=False)
        else:
            within = machine.program.within
            unrolling = Unrolling(machine, budget.total - budget.dequeues, limits)
        super().__init__(unrolling, within, unrolling.constraints, limits)


@dataclass(frozen=True)
class Suspicion:
    """A machine execution that breaks axioms by the rf and mo that it generates itself.

    axioms: which; empty where only the last write to a location is out of place.
    asked: the question that it answers.
    """

    outcome: Outcome
    schedule: Sequence[Rule]
    axioms: tuple[str, ...]
    asked: Sequence[Term]


class ReachedByEvents(ReachedBySolver):
    """Over all executions at once; exact."""

    def __init__(self, machine: Machine, limits: Limits) -> None:
        self._limits = limits
        self._events = Events(machine, limits)
        formula = [*self._events.constraints, *self._events.order.constraints(limits)]
        super().__init__(self._events, machine.program.within, formula, limits)

    def completes(self) -> bool:
        """Whether there is a complete execution at all."""
        return self._solver.find() is not None

    def suspicions(self, program: Program, model: MemoryModel) -> Iterator[Suspicion]:
        """Per outcome of executions whose own rf and mo break the model, one of these.

        All other executions are consistent as they are. Afterwards only such executions are left,
        and of those that differ in the order of exchangeable threads just one.
        """
        events = self._events
        pairs = events.order.pairs
        own = GeneratedWitness(events)
        judged = GeneratedExecutions(
            program, model, self._limits, events.reads, own.rf, own.mo, own.last
        )
        self._solver.add(judged.broken | own.overtaken, *own.constraints, *self._sorted(program))
        if events.order.pairs > pairs:
            self._solver.add(*events.order.constraints(self._limits))
        while (found := self._solver.find()) is not None:
            outcome = events.outcome(found)
            asked = list(self._solver.asserted)
            broken = tuple(name for name, term in judged.axioms.items() if not found[term])
            self.exclude(outcome)
            yield Suspicion(outcome, events.schedule(found), broken, asked)

    def _sorted(self, program: Program) -> Iterator[Term]:
        """That exchangeable threads make their first access in the order of their numbers."""
        accesses: dict[int, Event] = {}
        for each in self._events.possible.instructions:
            instruction = each.instruction
            if instruction.mnemonic.reads or instruction.mnemonic.writes:
                accesses[instruction.operation] = each
        for first, second in exchangeable(program):
            yield self._events.order.before(accesses[first], accesses[second])


def reached(machine: Machine, settings: Settings, limits: Limits) -> Reached:
    """The outcomes of a machine by the engine of the settings. Raises LimitReached."""
    if settings.engine is Engine.EXPLICIT:
        return ReachedExplicitly(ExplicitMachine(machine).search(limits), machine.program.within)
    if settings.engine is Engine.EVENTS:
        return ReachedByEvents(machine, limits)
    return ReachedByUnrolling(machine, settings.steps, limits)
