"""The sides of Thm. 1: executions of a program with their outcomes; here those of a model."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cached_property, partial
from itertools import islice, product
from typing import TYPE_CHECKING

from msgspec import Struct

from rspverify.assembly.program import Seen
from rspverify.axiomatic.awaits import awaited
from rspverify.axiomatic.model import MemoryModel
from rspverify.axiomatic.question import Questions
from rspverify.limits import Limits
from rspverify.litmus.program import Program
from rspverify.mapping.mapped import seen_but
from rspverify.records import replace
from rspverify.smt.term import Term
from rspverify.soundness.refutation import consistent_by_brute_force
from rspverify.soundness.wording import observed
from rspverify.source import InternalError
from rspverify.verdict import Execution, ExecutionGraph, Outcome, Race

if TYPE_CHECKING:  # What only a model judges loads no machine.
    from rspverify.machine.machine import Machine
    from rspverify.machine.rules import Rule

_FEW = 64
"""Up to so many allowed outcomes are listed before the target is asked for any other."""


class Query(Struct, frozen=True):
    """One question to the solver, and its answer.

    name: short, for a file name; asks: in words, what a satisfying assignment would be.
    """

    name: str
    asks: str
    terms: Sequence[Term]
    satisfiable: bool


QueryLog = list[Query]
"""The questions of one check, in order."""
OTHER = "Has the compiled program an execution with an outcome other than those allowed?"
COMPLETE = "Has the compiled program any execution?"


class Candidate(Struct, frozen=True):
    """An execution of a target that may match none of the source.

    machine, schedule: where it is a machine's, which machine, and the steps if the engine tells
    them. axioms: those that it breaks by the rf and mo that it generates itself, empty where only
    the last write to a location is out of place; None where that was not asked. asked: the question
    that it answers, if it is one to a solver.
    """

    outcome: Outcome
    machine: Machine | None = None
    schedule: Sequence[Rule] | None = None
    axioms: tuple[str, ...] | None = None
    asked: Sequence[Term] = ()


class Evidence(Struct, frozen=True):
    """An execution of a target, confirmed by code that shares nothing with how it was found.

    execution: of a machine; graph: of a model. words: the same for a report of an internal error.
    placement: what to add to a claim about it, if it depends on who shares a place of the machine.
    """

    outcome: Outcome
    words: str
    execution: Execution | None = None
    graph: ExecutionGraph | None = None
    placement: str = ""


class Side(ABC):
    """The executions of a program. Every method raises LimitReached.

    within: the bounds that answers given so far depend on; empty if they are exact. log: where its
    questions are written down, if anybody wants them.
    """

    within: Mapping[str, int]
    log: QueryLog | None = None

    def race(self) -> Race | None:
        """A race that makes the program undefined, None if there is none."""
        return None

    @abstractmethod
    def completes(self) -> bool:
        """Whether there is an execution, whatever is left open of the machine."""

    @abstractmethod
    def outcomes(self) -> Iterator[Outcome]:
        """Every outcome, once."""

    @abstractmethod
    def candidates(self, source: ModelSide) -> Iterator[Candidate]:
        """Executions of different outcomes, among them one of each outcome that the source does
        not allow."""

    @abstractmethod
    def explain(self, candidate: Candidate, source: ModelSide) -> Evidence:
        """An execution like this one, whose outcome the source does not allow, confirmed.

        Raises InternalError where it is not.
        """

    def blocked(self) -> tuple[str, ...]:
        """What each thread waits for, where no execution completes."""
        return ()

    def write_down(self, name: str, asks: str, terms: Sequence[Term], answer: bool) -> None:
        """Write down a question, as `Query` has it."""
        if self.log is not None:
            self.log.append(Query(name, asks, list(terms), answer))


class AnyOf(Side):
    """The executions of several programs, any of which may be the one that is executed."""

    def __init__(self, sides: Sequence[Side]) -> None:
        self._sides, self._of = sides, dict[Outcome, Side]()
        self.within = {name: n for it in sides for name, n in it.within.items()}

    def race(self) -> Race | None:
        races = (it.race() for it in self._sides)
        return next((race for race in races if race is not None), None)

    def completes(self) -> bool:
        return all(it.completes() for it in self._sides)

    def outcomes(self) -> Iterator[Outcome]:
        met = set[Outcome]()
        for outcome in (each for it in self._sides for each in it.outcomes()):
            if outcome not in met:
                met.add(outcome)
                yield outcome

    def candidates(self, source: ModelSide) -> Iterator[Candidate]:
        for it in self._sides:
            for candidate in it.candidates(source):
                self._of.setdefault(candidate.outcome, it)
                yield candidate

    def explain(self, candidate: Candidate, source: ModelSide) -> Evidence:
        return self._of[candidate.outcome].explain(candidate, source)


class ModelSide(Side):
    """The consistent executions of a program, for all cases that differ in the target alone.

    race_free: whether it is known that the program has no race, so that this is not asked. seen:
    of a target, what each read of the source has read. known: whether outcomes are
    allowed that were asked for.
    """

    def __init__(
        self,
        program: Program,
        model: MemoryModel,
        limits: Limits | None = None,
        *,
        race_free: bool = False,
        seen: Sequence[Seen] | None = None,
        log: QueryLog | None = None,
    ) -> None:
        self.program = awaited(program, model)
        self.model = model
        self.race_free, self.seen, self.log = race_free, seen, log
        self.within = self.program.within
        self.limits = limits or Limits()
        self.known: dict[Outcome, bool] = {}
        self._all_are_known = False

    def under(
        self, limits: Limits, untold: Collection[int] = (), log: QueryLog | None = None
    ) -> ModelSide:
        """The same under these limits, with outcomes that do not have the untold reads.

        Where time is limited, each case has a clock of its own, unless all that is done is within
        limits anyway.
        """
        if limits.seconds is None or limits.are_enforced:
            limits = self.limits
        if limits is self.limits and not untold and log is None:
            return self
        seen = seen_but(self.program, untold) if untold else self.seen
        free = self.race_free
        return ModelSide(self.program, self.model, limits, race_free=free, seen=seen, log=log)

    @cached_property
    def questions(self) -> Questions:
        """What the model is asked by, made ready when it is first needed."""
        return Questions(self.program, self.model, self.limits, seen=self.seen)

    def race(self) -> Race | None:
        if self.race_free:
            return None
        found = self.questions.race()
        if self.log is not None and (self.model.conditions or self.program.faults):
            asks = f"Has the program a consistent execution with a race under {self.model.name}?"
            self.write_down("race", asks, self.questions.asked_race(), found is not None)
        return found

    def completes(self) -> bool:
        found = self.questions.possible()
        if self.log is not None:
            self.write_down("complete", COMPLETE, self.questions.solver().asserted, found)
        return found

    def outcomes(self) -> Iterator[Outcome]:
        return self.questions.outcomes()

    def allows(self, outcome: Outcome) -> bool:
        """Whether some consistent execution has this outcome."""
        if outcome not in self.known:
            self._know(outcome, not self._all_are_known and self.questions.allows(outcome))
        return self.known[outcome]

    def known_outcomes(self) -> Iterator[Outcome]:
        """Allowed outcomes: all of them if they are few, which saves asking for each."""
        if not self._all_are_known:
            found = list(islice(self.questions.outcomes(), _FEW + 1))
            self._all_are_known = len(found) <= _FEW
            for outcome in found:
                self._know(outcome, True)
        return (outcome for outcome, allowed in self.known.items() if allowed)

    def _know(self, outcome: Outcome, allowed: bool) -> None:
        if self.log is not None and outcome not in self.known:
            asks = f"Is there a consistent execution with {observed(self.program, outcome)}?"
            self.write_down("allowed", asks, self.questions.asked_outcome(outcome), allowed)
        self.known[outcome] = allowed

    def candidates(self, source: ModelSide) -> Iterator[Candidate]:
        yield from map(Candidate, self.questions.outcomes([*source.known_outcomes()]))
        self.write_down("other", OTHER, self.questions.asked, False)

    def explain(self, candidate: Candidate, source: ModelSide) -> Evidence:
        outcome, whole = candidate.outcome, candidate.outcome
        if self.seen is not None:
            found = self.questions.execution(outcome)
            whole = outcome if found is None else found.outcome
        confirmed = self._by_brute_force(whole, outcome)
        if confirmed is None:
            told = {"outcome": str(observed(self.program, whole))}
            raise InternalError("no consistent execution has the outcome of a difference", told)
        return Evidence(outcome, confirmed, graph=self.questions.graph(outcome))

    def forbidding_axioms(self, evidence: Evidence) -> tuple[str, ...]:
        """A smallest set of axioms that forbid the outcome of an execution; empty if no candidate
        has its values.

        Raises InternalError if the outcome is found to be allowed by brute force.
        """
        each = map(self._by_brute_force, self._completed(evidence.outcome))
        matching = next((it for it in each if it is not None), None)
        if matching is not None:
            told = {
                "outcome": str(observed(self.program, evidence.outcome)),
                "schedule": evidence.words,
                "consistent execution": matching,
            }
            message = "the outcome of a counterexample is that of a consistent execution after all"
            raise InternalError(message, told)
        return self.questions.forbidding_axioms(evidence.outcome)

    def _completed(self, outcome: Outcome) -> Iterator[Outcome]:
        """The outcomes that are this one, with what reads that are not told may have read."""
        if self.seen is None:
            yield outcome
            return
        told = {it.operation for it in self.seen}
        reads = (it.index for it in self.program.operations if it.reads)
        untold = [it for it in reads if it not in told]
        values = [(None, *self.questions.candidates.reads[it]) for it in untold]
        for chosen in product(*values):
            pairs = zip(untold, chosen, strict=True)
            more = [(it, value) for it, value in pairs if value is not None]
            yield replace(outcome, reads=tuple(sorted([*outcome.reads, *more])))

    def _by_brute_force(self, outcome: Outcome, told: Outcome | None = None) -> str | None:
        """told: the same outcome as the source tells its reads."""
        terms = partial(self.questions.asked_outcome, told or outcome)
        return consistent_by_brute_force(self.program, self.model, outcome, self.limits, terms)
