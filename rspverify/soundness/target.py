"""The machine's side of the theorem: the executions of a compiled program, by each engine."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import assert_never

from msgspec import Struct

from rspverify.axiomatic import GeneratedExecutions, MemoryModel
from rspverify.limits import LimitReached, Limits
from rspverify.litmus import Program
from rspverify.machine import (
    Event,
    Events,
    ExplicitMachine,
    GeneratedWitness,
    Machine,
    Observation,
    Rule,
    Unrolling,
    enough_steps,
)
from rspverify.machine.sharing import placed
from rspverify.smt import Solver, Term, all_of
from rspverify.soundness.settings import Engine, Settings
from rspverify.soundness.source import SourceExecutions
from rspverify.soundness.symmetry import exchangeable
from rspverify.verdict import Outcome


class Suspect(Struct, frozen=True):
    """An execution of the machine that may match none of the source.

    schedule: its steps, where the engine tells. axioms: those that it breaks by the rf and mo that
    it generates itself, empty where only the last write to a location is out of place; None where
    that was not asked. asked: the question that it answers, if it is one to a solver.
    """

    outcome: Outcome
    schedule: Sequence[Rule] | None = None
    axioms: tuple[str, ...] | None = None
    asked: Sequence[Term] = ()


class Target(ABC):
    """The executions of one compiled program. Every method raises LimitReached.

    within: every bound that the answers depend on; empty if they are exact. asked: what the solver
    was asked last, nothing where there is none. Excluding an outcome leaves it out of all answers
    still to come.
    """

    within: Mapping[str, int]

    @property
    def asked(self) -> Sequence[Term]:
        """What the solver was asked last."""
        return ()

    @abstractmethod
    def completes(self) -> bool:
        """Whether there is any complete execution."""

    @abstractmethod
    def outcomes(self) -> Iterator[Outcome]:
        """Each outcome that was not excluded, once; it is then excluded."""

    @abstractmethod
    def exclude(self, outcome: Outcome) -> None:
        """Leave an outcome out of those still to come."""

    def suspects(self, source: SourceExecutions) -> Iterator[Suspect]:
        """Executions of different outcomes, among them one of each outcome that is not allowed."""
        for outcome in source.known_outcomes():
            self.exclude(outcome)
        for outcome in self.outcomes():
            yield Suspect(outcome)

    def judges_rf_and_mo(self, model: MemoryModel) -> bool:
        """Whether an execution is a suspect only if its own rf and mo break the model."""
        return False


class ExplicitTarget(Target):
    """By exhaustive search."""

    def __init__(self, machine: Machine, limits: Limits) -> None:
        self.within = machine.program.within
        self._left = set(ExplicitMachine(machine).search(limits).outcomes)

    def completes(self) -> bool:
        return bool(self._left)

    def outcomes(self) -> Iterator[Outcome]:
        for outcome in sorted(self._left):
            self.exclude(outcome)
            yield outcome

    def exclude(self, outcome: Outcome) -> None:
        self._left.discard(outcome)


class _SolverTarget(Target):
    """By the solver, over a formula of executions.

    reproducible: whether which of them it finds must not depend on what was asked before.
    """

    def __init__(
        self,
        executions: Observation,
        within: Mapping[str, int],
        formula: Iterable[Term],
        limits: Limits,
        *,
        reproducible: bool = False,
    ) -> None:
        self.within = within
        self._executions = executions
        self._solver = Solver(limits, reproducible=reproducible)
        self._solver.add(*formula)

    @property
    def asked(self) -> Sequence[Term]:
        return self._solver.asserted

    def completes(self) -> bool:
        return self._solver.find() is not None

    def outcomes(self) -> Iterator[Outcome]:
        while (model := self._solver.find()) is not None:
            outcome = self._executions.outcome(model)
            self.exclude(outcome)
            yield outcome

    def exclude(self, outcome: Outcome) -> None:
        self._solver.add(~all_of(self._executions.assumptions(outcome)))


class UnrolledTarget(_SolverTarget):
    """Over K* steps, or fewer if the user bounds them."""

    def __init__(self, machine: Machine, steps: int | None, limits: Limits) -> None:
        budget = enough_steps(machine)
        within = machine.program.within
        if steps is None and budget.unbounded is not None:
            why = f"nothing bounds how often {budget.unbounded} may matter"
            raise LimitReached(f"no number of steps is known to be enough, as {why}; give --steps")
        if steps is not None and (steps < budget.total or budget.unbounded is not None):
            within = {"steps": steps, **within}
            unrolling = Unrolling(machine, steps, limits, dequeue_alone=False)
        else:
            unrolling = Unrolling(machine, budget.total - budget.dequeues, limits)
        super().__init__(unrolling, within, unrolling.constraints, limits)


class EventsTarget(_SolverTarget):
    """Over all executions at once; exact.

    An execution is a suspect if its own rf and mo break the model; all others are consistent as
    they are. Of suspects that differ in the order of exchangeable threads, one is found. A model
    that lets an execution choose more than rf and mo (`with … from`) is asked about outcomes, and
    so is one where the machine does not say in which order writes reach memory, or its reads are
    not one by one those of the source.
    """

    def __init__(self, machine: Machine, limits: Limits, *, shown: bool = True) -> None:
        self._limits = limits
        self._events = Events(machine, limits)
        formula = [*self._events.constraints, *self._events.order.constraints(limits)]
        # Where accesses complete later, what is found here may be what is shown in the end.
        within, own = machine.program.within, shown and machine.program.completes_later
        super().__init__(self._events, within, formula, limits, reproducible=own)

    def suspects(self, source: SourceExecutions) -> Iterator[Suspect]:
        """Per outcome of executions whose own rf and mo break the model, one of these."""
        if not self.judges_rf_and_mo(source.model):
            yield from super().suspects(source)
            return
        events = self._events
        pairs = events.order.pairs
        own = GeneratedWitness(events)
        judged = GeneratedExecutions(
            source.program, source.model, self._limits, events.reads, own.rf, own.mo, own.last
        )
        self._solver.add(judged.broken | own.overtaken, *own.constraints)
        self._solver.add(*self._in_one_order(source.program))
        if events.order.pairs > pairs:
            self._solver.add(*events.order.constraints(self._limits))
        while (found := self._solver.find()) is not None:
            outcome = events.outcome(found)
            asked = list(self._solver.asserted)
            broken = tuple(name for name, term in judged.axioms.items() if not found[term])
            self.exclude(outcome)
            yield Suspect(outcome, events.schedule(found), broken, asked)

    def judges_rf_and_mo(self, model: MemoryModel) -> bool:
        machine = self._events.machine
        known = machine.in_cases.routes.unknown is None and machine.program.seen is None
        return known and not model.chooses

    def _in_one_order(self, program: Program) -> Iterator[Term]:
        """That exchangeable threads make their first access in the order of their numbers."""
        accesses: dict[int, Event] = {}
        for each in self._events.possible.instructions:
            instruction = each.instruction
            if instruction.mnemonic.reads or instruction.mnemonic.writes:
                accesses[instruction.operation] = each
        for first, second in exchangeable(program, self._events.machine.program):
            yield self._events.order.before(accesses[first], accesses[second])


class EveryPlacement(Target):
    """The executions of a machine whoever shares which place of it."""

    def __init__(self, targets: Sequence[Target]) -> None:
        self._targets = targets
        self.within = {name: many for each in targets for name, many in each.within.items()}

    def completes(self) -> bool:
        return all(each.completes() for each in self._targets)

    def outcomes(self) -> Iterator[Outcome]:
        for place, each in enumerate(self._targets, 1):
            for outcome in each.outcomes():
                for later in self._targets[place:]:
                    later.exclude(outcome)
                yield outcome

    def exclude(self, outcome: Outcome) -> None:
        for each in self._targets:
            each.exclude(outcome)


def target_of(
    machine: Machine, settings: Settings, limits: Limits, *, shown: bool = True
) -> Target:
    """The executions of a machine by the engine of the settings. Raises LimitReached.

    shown: whether one of those that it finds may be shown, so that which it is must depend on the
    machine alone. Otherwise a solver that others share may find them, which takes Z3 5 ms less.
    """
    if len(ways := placed(machine)) > 1:
        return EveryPlacement([target_of(each, settings, limits, shown=shown) for each in ways])
    (machine,) = ways
    engine = engine_of(machine, settings)
    match engine:
        case Engine.EXPLICIT:
            return ExplicitTarget(machine, limits)
        case Engine.UNROLL:
            return UnrolledTarget(machine, settings.steps, limits)
        case Engine.EVENTS:
            return EventsTarget(machine, limits, shown=shown)
        case _:
            assert_never(engine)


def engine_of(machine: Machine, settings: Settings) -> Engine:
    """The engine that decides: every state where events does not know the machine's steps, unless
    events was asked for by name.
    """
    unknown = machine.in_cases.unknown is not None and not settings.insist
    if settings.engine is Engine.EVENTS and unknown:
        return Engine.EXPLICIT
    return settings.engine
