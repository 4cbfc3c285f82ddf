"""The machine's side of Thm. 1: the executions of a compiled program, by each engine."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import assert_never

from rspverify.axiomatic.executions import GeneratedExecutions
from rspverify.axiomatic.model import MemoryModel
from rspverify.axiomatic.symmetry import exchangeable, repeated
from rspverify.limits import LimitReached, Limits
from rspverify.litmus.program import Program
from rspverify.machine.event import Event
from rspverify.machine.events import Events
from rspverify.machine.explicit import ExplicitMachine
from rspverify.machine.firings import enough_steps
from rspverify.machine.machine import Machine
from rspverify.machine.observation import Observation
from rspverify.machine.reductions import placed
from rspverify.machine.unroll import Unrolling
from rspverify.machine.witness import GeneratedWitness
from rspverify.records import replace
from rspverify.smt.solver import Solver
from rspverify.smt.term import Term, all_of
from rspverify.soundness.counterexample import (
    schedule_in_words,
    shortest_counterexample,
    where_it_stops,
)
from rspverify.soundness.settings import Engine, Settings
from rspverify.soundness.sides import (
    COMPLETE,
    OTHER,
    Candidate,
    Evidence,
    ModelSide,
    QueryLog,
    Side,
)
from rspverify.soundness.wording import observed
from rspverify.source import InternalError
from rspverify.verdict import Outcome

_BREAKING = (
    "Has the compiled program an execution whose own rf and mo break the model (of those that "
    "differ in the order of exchangeable threads, one)?"
)
_BREAKING_AGAIN = (
    "Has the compiled program an execution whose own rf and mo break the model, with an outcome "
    "other than those already asked about?"
)


class MachineSide(Side):
    """The executions of a compiled program on a machine, whoever shares which place of it.

    by_outcome: whether some executions were not judged by their own rf and mo, but by their outcome
    alone; unmatched: the first candidate. Both are of the candidates that were asked for last.
    """

    by_outcome = False
    unmatched: Candidate | None = None

    def __init__(
        self,
        machine: Machine,
        settings: Settings,
        limits: Limits,
        log: QueryLog | None = None,
    ) -> None:
        self.within = {}
        self._settings, self._limits, self.log = settings, limits, log
        self._placed = placed(machine)
        self._complete: dict[int, bool] = {}

    def completes(self) -> bool:
        for place, machine in enumerate(self._placed):
            if place not in self._complete:
                self._asked(place, machine)
            if not self._complete[place]:
                return False
        return True

    def outcomes(self) -> Iterator[Outcome]:
        met: list[Outcome] = []
        for machine in self._placed:
            executions = self.executions(machine, reproducible=True)
            self.within = {**self.within, **executions.within}
            for outcome in met:
                executions.exclude(outcome)
            for outcome in executions.outcomes():
                met.append(outcome)
                yield outcome

    def candidates(self, source: ModelSide) -> Iterator[Candidate]:
        """Up to the first placement of threads with which nothing completes."""
        self.by_outcome, self.unmatched = False, None
        repeats = repeated(source.program, [it.program for it in self._placed])
        self._complete |= dict.fromkeys(repeats, True)
        for place, machine in enumerate(self._placed):
            if place in repeats:
                continue
            executions = self._asked(place, machine)
            if not self._complete[place]:
                return
            breaking = executions.judges_rf_and_mo(source.model)
            self.by_outcome |= not breaking
            name, asks = ("breaks", _BREAKING) if breaking else ("other", OTHER)
            for each in executions.candidates(source):
                if breaking:
                    self.write_down(name, asks, each.asked, True)
                    asks = _BREAKING_AGAIN
                candidate = replace(each, machine=machine)
                self.unmatched = self.unmatched or candidate
                yield candidate
            self.write_down(name, asks, executions.asked, False)

    def explain(self, candidate: Candidate, source: ModelSide) -> Evidence:
        """A shortest execution with a wrong outcome, replayed on the machine."""

        def wrong(outcome: Outcome) -> bool:
            return not source.allows(outcome)

        machine, schedule = candidate.machine, candidate.schedule
        assert machine is not None, "a candidate of a model"
        if schedule is not None and machine.program.completes_later:
            again = self.executions(machine, reproducible=True).candidates(source)
            candidate = next(it for it in again if wrong(it.outcome))
        try:
            found = shortest_counterexample(
                machine,
                wrong,
                self._limits,
                candidate.schedule,
                any_length=not self._settings.shortest,
            )
        except InternalError as error:
            told = {
                "outcome that the engine reports": str(observed(source.program, candidate.outcome))
            }
            raise InternalError(str(error), told | error.evidence) from error
        lines = [operation.span.line for operation in source.program.operations]
        words, where = schedule_in_words(found.schedule), placement_in_words(machine)
        return Evidence(found.outcome, words, found.shown(lines), placement=where)

    def blocked(self) -> tuple[str, ...]:
        stuck = (it for place, it in enumerate(self._placed) if not self._complete.get(place, True))
        return next((where_it_stops(it, self._limits) for it in stuck), ())

    def _asked(self, place: int, machine: Machine) -> MachineExecutions:
        """The executions with one placement, asked whether they complete."""
        executions = self.executions(machine)
        self.within = {**self.within, **executions.within}
        self._complete[place] = executions.completes()
        self.write_down("complete", COMPLETE, executions.asked, self._complete[place])
        return executions

    def executions(self, machine: Machine, *, reproducible: bool = False) -> MachineExecutions:
        """The executions with one placement by the engine of the settings.

        reproducible: whether one of those that it finds may be shown, so that which it is must
        depend on the machine alone. Otherwise a solver that others share may find them, which takes
        Z3 5 ms less.
        """
        engine = engine_of(machine, self._settings)
        match engine:
            case Engine.EXPLICIT:
                return ExplicitExecutions(machine, self._limits)
            case Engine.UNROLL:
                return UnrolledExecutions(machine, self._settings.steps, self._limits)
            case Engine.EVENTS:
                return EventsExecutions(machine, self._limits, reproducible=reproducible)
            case _:
                assert_never(engine)


class MachineExecutions(ABC):
    """The executions of a machine with one placement of its threads. Methods raise LimitReached.

    within: every bound that the answers depend on; empty if they are exact. Excluding an outcome
    leaves it out of all answers still to come.
    """

    within: Mapping[str, int]

    @property
    def asked(self) -> Sequence[Term]:
        """What the solver was asked last; nothing where there is none."""
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

    def candidates(self, source: ModelSide) -> Iterator[Candidate]:
        """Executions of different outcomes, among them one of each outcome that is not allowed."""
        for outcome in source.known_outcomes():
            self.exclude(outcome)
        return map(Candidate, self.outcomes())

    def judges_rf_and_mo(self, model: MemoryModel) -> bool:
        """Whether an execution is a candidate only if its own rf and mo break the model."""
        return False


class ExplicitExecutions(MachineExecutions):
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


class _SolvedExecutions(MachineExecutions):
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


class UnrolledExecutions(_SolvedExecutions):
    """Over K* steps, or fewer if the user bounds them."""

    def __init__(self, machine: Machine, steps: int | None, limits: Limits) -> None:
        budget = enough_steps(machine)
        within = machine.program.within
        if steps is None and budget.unbounded is not None:
            why = f"{budget.unbounded} can repeat for ever"
            raise LimitReached(f"no number of steps is known to be enough, as {why}; give --steps")
        if steps is not None and (steps < budget.total or budget.unbounded is not None):
            within = {"steps": steps, **within}
            unrolling = Unrolling(machine, steps, limits, dequeue_alone=False)
        else:
            unrolling = Unrolling(machine, budget.total - budget.dequeues, limits)
        super().__init__(unrolling, within, unrolling.constraints, limits)


class EventsExecutions(_SolvedExecutions):
    """Over all executions at once; exact.

    An execution is a candidate if its own rf and mo break the model; all others are consistent as
    they are. Of candidates that differ in the order of exchangeable threads, one is found. A model
    that lets an execution choose more than rf and mo (`with … from`) is asked about outcomes, and
    so is one where the machine does not say in which order writes reach memory, or its reads are
    not one by one those of the source.
    """

    def __init__(self, machine: Machine, limits: Limits, *, reproducible: bool = False) -> None:
        self._limits = limits
        self._events = Events(machine, limits)
        formula = [*self._events.constraints, *self._events.order.constraints(limits)]
        # Where accesses complete later, what is found here may be what is shown in the end.
        own = reproducible and machine.program.completes_later
        super().__init__(self._events, machine.program.within, formula, limits, reproducible=own)

    def candidates(self, source: ModelSide) -> Iterator[Candidate]:
        """Per outcome of executions whose own rf and mo break the model, one of these."""
        if not self.judges_rf_and_mo(source.model):
            yield from super().candidates(source)
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
            yield Candidate(outcome, None, events.schedule(found), broken, asked)

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


def engine_of(machine: Machine, settings: Settings) -> Engine:
    """The engine that decides: every state where events does not know the machine's steps, unless
    events was asked for by name.
    """
    unknown = machine.in_cases.unknown is not None and settings.allow_fallback
    if settings.engine is Engine.EVENTS and unknown:
        return Engine.EXPLICIT
    return settings.engine


def placement_in_words(machine: Machine) -> str:
    """What follows a claim that holds for one placement of threads: who shares a place.

    Of places that lie in each other the innermost is told.
    """
    if not machine.program.placement or len(machine.program.threads) < 2:
        return ""
    together: list[str] = []
    told: list[set[str]] = []
    for kind, numbers in machine.program.placement:
        for number in dict.fromkeys(numbers):
            its = [
                str(thread)
                for thread, own in zip(machine.program.threads, numbers, strict=True)
                if own == number
            ]
            if len(its) > 1 and not any(set(its) <= before for before in told):
                told.append(set(its))
                together.append(f"{' and '.join(its)} on one {kind}")
    return f", with {', '.join(together)}" if together else ", with no two threads on one place"
