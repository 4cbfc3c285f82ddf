"""Questions to a memory model about one program: what it allows, whether it races, and why not."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import combinations
from typing import assert_never

from msgspec import Struct

from rspverify.assembly.program import Seen, outcome_seen
from rspverify.axiomatic.candidates import Candidates
from rspverify.axiomatic.divergence import DIVERGENCE, divergence
from rspverify.axiomatic.enumeration import ConsistentExecutions
from rspverify.axiomatic.execution import Execution, Pair, executions
from rspverify.axiomatic.model import MemoryModel
from rspverify.axiomatic.partial import PartialExecutions
from rspverify.axiomatic.plan import WrongTool
from rspverify.axiomatic.read_values import values_of
from rspverify.limits import Limits
from rspverify.litmus.formula import Atom, Formula, Junction, Negation, Place
from rspverify.litmus.program import Fault, Program
from rspverify.litmus.spins import going_on
from rspverify.smt.choice import Choice as Values
from rspverify.smt.choice import choose, constant, equal, truth
from rspverify.smt.solver import Solver
from rspverify.smt.term import FALSE, TRUE, Term, all_of, any_of
from rspverify.verdict import Event, ExecutionGraph, Outcome, Race

_SYNCHRONISATION = ("sw", "gsw", "lsw", "hb", "ghb", "lhb")
"""What models call synchronises-with and happens-before; readers are shown them where they are."""


class RacyExecution(Struct, frozen=True):
    """A consistent execution that makes its program undefined, and the condition that it breaks.

    places: of the two accesses that race; empty where it has a fault of the program instead.
    """

    execution: Execution
    condition: str
    places: tuple[int, ...]
    fault: Fault | None = None


class Questions:
    """A program under a model. Every method raises LimitReached where it cannot answer.

    whole: whether its candidate executions are all that are meant; otherwise a race may be of an
    iteration of a spin that goes on, and in a program with loops of an execution that never ends
    (docs/semantics.md, Loops). partial: the candidates, where they are those in which threads may
    end anywhere; required: what must hold of them besides. seen: what each read of an outcome has
    read, where it is not one of the program's: so outcomes of a program may be those of another,
    from which it was made.
    """

    def __init__(
        self,
        program: Program,
        model: MemoryModel,
        limits: Limits,
        *,
        whole: bool = False,
        partial: PartialExecutions | None = None,
        required: Sequence[Term] = (),
        seen: Sequence[Seen] | None = None,
    ) -> None:
        self._program = program
        self._whole = whole
        self._model = model
        self._limits = limits
        self._partial = partial
        self._required = [*(partial.constraints if partial else ()), *required]
        self._seen = seen
        self.asked: Sequence[Term] = ()
        self._choices: tuple[Mapping[int, Values[int]], Sequence[Term]] = {}, ()
        if partial is None:
            self._choices = values_of(program, model, limits)

    @cached_property
    def candidates(self) -> Candidates:
        """Its candidate executions, consistent or not; a search does without their terms."""
        if self._partial is not None:
            return self._partial.candidates
        return Candidates(self._program, self._model, self._limits, *self._choices)

    @cached_property
    def _consistent(self) -> Solver:
        return self.solver()

    @cached_property
    def _happens(self) -> Mapping[int, Term]:
        if self._seen is None:
            return self.candidates.happens
        return {it.operation: truth(it.guard, self.candidates.reads) for it in self._seen}

    @cached_property
    def _reads(self) -> Mapping[int, Values[int]]:
        if self._seen is None:
            return self.candidates.reads
        return {it.operation: choose(it.value, self.candidates.reads) for it in self._seen}

    def race(self) -> Race | None:
        """A race of some consistent execution, or None if there is none."""
        return self._race

    @cached_property
    def _race(self) -> Race | None:
        found = self.racy_execution()
        if found is None:
            return None
        execution, edges = found.execution, self._edges(found.execution)
        shown = execution.shown
        if found.fault is not None:
            first = _place_of(found.fault, execution)
            parts = found.fault.name == DIVERGENCE
            words = f"P{first.thread} line {first.line} {first.access}" if parts else ""
            return Race(first, None, shown, edges, found.condition, words)
        first, second = (shown[place] for place in found.places)
        parted = divergence(execution, found.places)
        words = "" if parted is None else parted.words
        return Race(first, second, shown, edges, found.condition, words)

    def _edges(self, execution: Execution) -> dict[str, tuple[Pair, ...]]:
        candidates = execution.candidates
        relations = {"rf": candidates.rf, "mo": candidates.coherence}
        drawn = [name for name in _SYNCHRONISATION if self._model.defines(name)]
        relations |= {name: candidates.relation(name) for name in drawn}
        return {name: execution.pairs(relation) for name, relation in relations.items()}

    def racy_execution(self) -> RacyExecution | None:
        """A consistent execution with a fault of the program, or else with a race."""
        if self._racing is None:
            return None
        candidates, solver = self._racing.candidates, self._racing.solver(reproducible=True)
        for fault, term in self._racing._faults:
            found = solver.find([term, self._racing._given])
            if found is not None:
                return RacyExecution(Execution(candidates, found), fault.name, (), fault)
        for name, pairs in candidates.racing.items():
            for (a, b), term in sorted(pairs.items()):
                found = solver.find([term, self._racing._given])
                if found is not None:
                    execution = Execution(candidates, found)
                    first, second = sorted((execution.place(a), execution.place(b)))
                    parted = divergence(execution, (first, second))
                    pair = (first, second) if parted is None else parted.pair
                    return RacyExecution(execution, name, pair)
        raise AssertionError("a faulty execution without a racing pair")

    def violated(self) -> tuple[str, ...]:
        """The conditions that some consistent execution violates, by name."""
        if self._racing is None:
            return ()
        ways = list(self._ways())
        names = [*self.candidates.conditions, *(it.name for way in ways for it, _ in way._faults)]
        different = dict.fromkeys(names)
        return tuple(name for name in different if any(way._violates(name) for way in ways))

    def _violates(self, name: str) -> bool:
        broken = [term for fault, term in self._faults if fault.name == name]
        if name in self.candidates.conditions:
            broken.append(~self.candidates.conditions[name])
        return self._consistent.find([any_of(broken), self._given]) is not None

    def asked_race(self) -> list[Term]:
        """What holds together exactly in a consistent execution with a race."""
        racing = self._racing or self
        return [*racing._consistent.asserted, racing._faulty()]

    @cached_property
    def _racing(self) -> Questions | None:
        """The first of these that has a race: this program, with an iteration of a spin that goes
        on, and up to any point of an execution."""
        if not (self._model.conditions or self._program.faults):
            return None
        for each in self._ways():
            if each._consistent.find([each._faulty()]) is not None:
                return each
        return None

    def _ways(self) -> Iterator[Questions]:
        yield self
        yield from self._going_on
        yield from self._unfinished

    @cached_property
    def _unfinished(self) -> Sequence[Questions]:
        """The program with threads that may end anywhere, where loops may keep them going."""
        if self._whole or self._partial or not self._program.loops:
            return ()
        partial = PartialExecutions(self._program, self._model, self._limits)
        return [Questions(self._program, self._model, self._limits, whole=True, partial=partial)]

    @cached_property
    def _going_on(self) -> Sequence[Questions]:
        """The program with one iteration that goes on, for each spin that might race in it."""
        if self._whole:
            return ()
        return [
            Questions(program, self._model, self._limits, whole=True)
            for spin in self._program.spins
            if spin.faults or self._might_race(range(spin.first, spin.end))
            for program in going_on(self._program, spin)
        ]

    def _might_race(self, operations: range) -> bool:
        """Whether an access of these might race by where it stands and what it is, with any rf."""
        events = self.candidates.events
        mine = {it.index for it in events if it.operation and it.operation.index in operations}
        racing = [
            term
            for pairs in self.candidates.racing.values()
            for pair, term in pairs.items()
            if not mine.isdisjoint(pair)
        ]
        return bool(racing) and self._shapes.find([any_of(racing)]) is not None

    @cached_property
    def _shapes(self) -> Solver:
        """Asked what may be as far as the program tells, whatever is read."""
        return Solver(self._limits)

    def asked_outcome(self, outcome: Outcome) -> list[Term]:
        """What holds together exactly in a consistent execution with this outcome."""
        wanted = self._assumptions(outcome)
        return [*self._consistent.asserted, *([FALSE] if wanted is None else wanted)]

    def _faulty(self) -> Term:
        faults = [term for _, term in self._faults]
        broken = any_of([*faults, *(~term for term in self.candidates.conditions.values())])
        return broken & self._given

    @cached_property
    def _given(self) -> Term:
        """That the final state is one of those in which a test in assembly may break rules."""
        given = self._program.given if self._program.in_assembly else None
        return TRUE if given is None else self.satisfying(given)

    @cached_property
    def _faults(self) -> list[tuple[Fault, Term]]:
        if self._partial is not None:
            return list(self._partial.faults())
        reads = self.candidates.reads
        return [(fault, truth(fault.guard, reads)) for fault in self._program.faults]

    def satisfying(self, formula: Formula) -> Term:
        """That the final state satisfies a formula."""
        match formula:
            case Atom(value=value) as atom:
                one, *others = map(self._values, atom.places)
                given = constant(value) if isinstance(value, int) else others[0]
                return equal(one, given)
            case Negation(argument):
                return ~self.satisfying(argument)
            case Junction(conjunctive, arguments):
                return (all_of if conjunctive else any_of)(map(self.satisfying, arguments))
            case _:
                assert_never(formula)

    def _values(self, place: Place) -> Values[int]:
        """What a register or a location may have in the end."""
        thread, name = place
        if thread is None:
            return self.candidates.final[name]
        return choose(self._program.threads[thread].registers[name], self.candidates.reads)

    def possible(self, *terms: Term) -> bool:
        """Whether these hold together in some consistent execution."""
        return self._consistent.find(terms) is not None

    def allows(self, outcome: Outcome) -> bool:
        """Whether some consistent execution has this outcome."""
        wanted = self._assumptions(outcome)
        return wanted is not None and self._consistent.find(wanted) is not None

    def outcomes(self, known: Collection[Outcome] = ()) -> Iterator[Outcome]:
        """Every outcome of a consistent execution that is not known, each once; after the last of
        them, `asked` is what holds together exactly in an execution with another."""
        solver = self.solver()

        def exclude(outcome: Outcome) -> None:
            wanted = self._assumptions(outcome)
            if wanted is not None:
                solver.add(~all_of(wanted))

        for outcome in known:
            exclude(outcome)
        number = len(known)
        while (found := solver.find()) is not None:
            number += 1
            self._limits.require_outcomes(number)
            outcome = self._outcome(Execution(self.candidates, found))
            yield outcome
            exclude(outcome)
        self.asked = solver.asserted

    def _outcome(self, execution: Execution) -> Outcome:
        """The outcome of an execution, by the operations that tell it."""
        whole = execution.outcome
        return whole if self._seen is None else outcome_seen(self._seen, whole)

    def execution(self, outcome: Outcome) -> Execution | None:
        """A consistent execution with this outcome; None if there is none."""
        wanted = self._assumptions(outcome)
        found = None if wanted is None else self.solver(reproducible=True).find(wanted)
        return None if found is None else Execution(self.candidates, found)

    def graph(self, outcome: Outcome) -> ExecutionGraph | None:
        """The same, as it is drawn."""
        found = self.execution(outcome)
        return None if found is None else ExecutionGraph(found.shown, self._edges(found))

    def endings(self) -> Iterator[Outcome]:
        """The outcome of every consistent execution with every final memory that it may leave.

        That is one memory for each execution, but where plain writes race.
        """
        plain = [location.name for location in self._program.locations if not location.atomic]
        memory = [term for name in plain for term in self.candidates.final[name].values()]
        for it in executions(self.candidates, self.solver(), memory):
            yield it.outcome

    def searched_endings(self) -> Iterator[Outcome]:
        """The same by a search without the solver. Raises WrongTool where that is not the way."""
        if self._partial is not None or self._required:
            raise WrongTool("threads may end anywhere")
        reads, _ = self._choices
        yield from ConsistentExecutions(self._program, self._model).endings(reads, self._limits)

    def forbidding_axioms(self, outcome: Outcome) -> tuple[str, ...]:
        """A smallest set of axioms that no candidate with this outcome satisfies together.

        Empty if there is no candidate with these values at all. Raises ValueError if it is allowed.
        """
        wanted = self._assumptions(outcome)
        if wanted is None:
            return ()
        axioms = self.candidates.axioms
        solver = self.solver(consistent=False)
        for size in range(len(axioms) + 1):
            for names in combinations(axioms, size):
                if solver.find([*wanted, *(axioms[name] for name in names)]) is None:
                    return names
        raise ValueError("the outcome is allowed")

    def solver(self, *, consistent: bool = True, reproducible: bool = False) -> Solver:
        """A new solver of the candidates, or of those among them that satisfy the axioms.

        reproducible: whether which of them it finds must not depend on earlier questions.
        """
        solver = Solver(self._limits, reproducible=reproducible)
        solver.add(*self.candidates.constraints, *self._required)
        if consistent:
            solver.add(*self.candidates.axioms.values())
        return solver

    def _assumptions(self, outcome: Outcome) -> list[Term] | None:
        """What makes a candidate have an outcome; None if none can."""
        candidates = self.candidates
        values = dict(outcome.reads)
        wanted = []
        for index, happens in self._happens.items():
            if index in values:
                wanted += [happens, self._reads[index].get(values[index], FALSE)]
            else:
                wanted.append(~happens)
        wanted += [candidates.final[name].get(value, FALSE) for name, value in outcome.memory]
        return None if FALSE in wanted else wanted


def _place_of(fault: Fault, execution: Execution) -> Event:
    """Where a fault is and what, in an execution that has it."""
    said = fault.said(dict(execution.outcome.reads))
    return Event(fault.thread, fault.span.line, said, "")
