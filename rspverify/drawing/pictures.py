"""Executions of a program under a model as pictures: which execution, and which edges of it."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from itertools import combinations, islice

from msgspec import Struct

from rspverify.axiomatic.execution import Execution, Pair, executions
from rspverify.axiomatic.model import MemoryModel
from rspverify.axiomatic.question import Questions
from rspverify.drawing.evaluated import EvaluatedExecution, arrows, usual
from rspverify.drawing.violation import Violation, violation
from rspverify.limits import Limits
from rspverify.litmus.formula import Formula
from rspverify.litmus.program import Program
from rspverify.picture import Arrow, Picture, PlacedEvent, PlacedThread
from rspverify.records import replace
from rspverify.relation.expression import Name
from rspverify.schedulers import Scheduler
from rspverify.soundness.hang import Hang
from rspverify.soundness.scheduled import SourceProgress
from rspverify.verdict import Outcome


class Drawn(Struct, frozen=True):
    """A picture without words, and what they are about: the execution, and what is drawn bold.

    violations: of the axioms that it breaks. condition: the one that a race violates.
    """

    picture: Picture
    outcome: Outcome
    execution: EvaluatedExecution
    violations: tuple[Violation, ...] = ()
    condition: str = ""


class Pictures:
    """The executions of a program under a model. Every method raises LimitReached.

    edges: the relations that are to be drawn, None for the usual ones.
    """

    def __init__(
        self, program: Program, model: MemoryModel, limits: Limits, edges: Sequence[str] | None
    ) -> None:
        self._program = program
        self._model = model
        self._limits = limits
        self._questions = Questions(program, model, limits)
        self._candidates = self._questions.candidates
        self._edges = usual(model) if edges is None else edges

    def consistent(self, formula: Formula | None) -> Drawn | None:
        """A consistent execution whose final state satisfies a formula; None if there is none."""
        solver = self._questions.solver(reproducible=True)
        found = solver.find([] if formula is None else [self._questions.satisfying(formula)])
        return None if found is None else self._drawn(Execution(self._candidates, found))

    def every(self, most: int) -> Iterator[Drawn]:
        """Every consistent execution, with each memory that it may leave, up to so many."""
        memory = [term for choice in self._candidates.final.values() for term in choice.values()]
        solver = self._questions.solver(reproducible=True)
        found = executions(self._candidates, solver, memory)
        yield from islice(map(self._drawn, found), most)

    def racy(self) -> Drawn | None:
        """A consistent execution with a race, whose two accesses are marked; None if none races.

        Or one with a fault of the program, of which the condition says what it is.
        """
        found = self._questions.racy_execution()
        if found is None:
            return None
        execution, condition = found.execution, found.condition
        drawn = self._drawn(execution)
        if found.fault is not None:
            said = found.fault.said(dict(drawn.outcome.reads))
            where = f"P{found.fault.thread} line {found.fault.span.line}"
            return replace(drawn, condition=f"{condition}: {where}: {said}")
        (expression,) = [it.expression for it in self._model.conditions if it.name == condition]
        name = expression.name if isinstance(expression, Name) else condition
        first, second = found.places
        return replace(
            drawn, picture=_with_race(drawn.picture, name, (first, second)), condition=condition
        )

    def forbidden(self, formula: Formula) -> Drawn | None:
        """A candidate execution that satisfies a formula and breaks as few axioms as any does.

        None if no candidate satisfies it at all. Of those that break one axiom, one that says so
        with the fewest edges. Raises ValueError if a consistent execution satisfies the formula.
        """
        axioms = self._candidates.axioms
        solver = self._questions.solver(consistent=False, reproducible=True)
        wanted = self._questions.satisfying(formula)
        if solver.find([wanted, *axioms.values()]) is not None:
            raise ValueError("a consistent execution satisfies the formula")
        for size in range(1, len(axioms) + 1):
            drawn = []
            for broken in combinations(axioms, size):
                terms = [~term if name in broken else term for name, term in axioms.items()]
                found = solver.find([wanted, *terms])
                if found is not None:
                    drawn.append(self._drawn(Execution(self._candidates, found), broken))
            if drawn:
                return min(drawn, key=lambda each: len(each.violations[0].edges))
        return None

    def hanging(self, scheduler: Scheduler) -> tuple[Drawn, Hang] | str:
        """An execution that hangs under a scheduler, with the reads of loops marked.

        If there is none, why. Raises InputError for what cannot be asked of the program.
        """
        progress = SourceProgress(self._program, self._model, self._limits)
        if progress.undefined is not None:
            return f"undefined behaviour: {progress.undefined}"
        found = progress.hang(scheduler)
        if found is None:
            return f"no execution hangs under {scheduler}"
        hang, execution = found
        reads = [execution.shown.index(each.read) for it in hang.stuck for each in it.reads]
        drawn = self._drawn(execution)
        return replace(drawn, picture=_with_marks(drawn.picture, reads)), hang

    def _drawn(self, execution: Execution, broken: Sequence[str] = ()) -> Drawn:
        evaluated = EvaluatedExecution(execution)
        axioms = [axiom for axiom in self._model.axioms if axiom.name in broken]
        found = [violation(axiom, evaluated) for axiom in axioms]
        assert all(found), "an axiom that is broken and holds"
        violations = tuple(each for each in found if each is not None)
        bold = [edge for each in violations for edge in each.edges]
        involved = frozenset[int]().union(*(each.involved for each in violations))
        columns = sorted(self._program.threads, key=lambda it: (it.device, it.workgroup, it.index))
        column = {thread.index: number for number, thread in enumerate(columns)}
        events = tuple(
            PlacedEvent(
                shown.access,
                None if shown.thread is None else column[shown.thread],
                shown.line,
                place in involved,
            )
            for place, shown in enumerate(execution.shown)
        )
        grouped = self._program.language == "OpenCL"
        threads = tuple(
            PlacedThread(
                thread.name,
                thread.device if grouped else None,
                thread.workgroup if grouped else None,
            )
            for thread in columns
        )
        picture = Picture("", (), threads, events, arrows(evaluated, self._edges, bold))
        return Drawn(picture, execution.outcome, evaluated, violations)


def _with_race(picture: Picture, name: str, pair: Pair) -> Picture:
    """The picture with its two racing events marked, and an edge between them."""
    plain = tuple(each for each in picture.arrows if each.name != name)
    arrows = (*plain, Arrow(name, *pair, True, True))
    return replace(_with_marks(picture, pair), arrows=arrows)


def _with_marks(picture: Picture, marked: Collection[int]) -> Picture:
    """The picture with some of its events marked."""
    events = tuple(
        replace(event, marked=place in marked) for place, event in enumerate(picture.events)
    )
    return replace(picture, events=events)
